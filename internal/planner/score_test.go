package planner

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/partition"
	"railyard/internal/workload"
)

// TestScore checks that each layout found by a search has an equal score alone, and that impossible layouts are
// rejected with the reason.
func TestScore(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-8b"), site(t, 16), 64, 4096, 50)
	r, err := Search(in)
	if err != nil || len(r.Candidates) < 10 {
		t.Fatalf("%v, %d layouts", err, len(r.Candidates))
	}
	for _, c := range r.Candidates[:10] {
		s, err := in.Score(c.Layout)
		if err != nil || s.Candidate != c || !s.Fits {
			t.Errorf("%v: %v, %+v, searched %+v", c.Layout, err, s, c)
		}
	}
	good := r.Candidates[0].Layout
	for want, spoil := range map[string]func(*partition.Layout){
		"do not divide 16 GPUs": func(l *partition.Layout) { l.TP, l.PP, l.CP = 3, 1, 1 },
		"of an NVLink domain":   func(l *partition.Layout) { l.TP, l.PP, l.CP = 16, 1, 1 },
		"do not divide into dp": func(l *partition.Layout) { l.Micro = 5 },
		"needs replicas":        func(l *partition.Layout) { l.TP, l.PP, l.CP, l.ZeRO = 8, 2, 1, 1 },
		"has no experts":        func(l *partition.Layout) { l.EP = 2 },
	} {
		l := good
		spoil(&l)
		if _, err := in.Score(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", l, err, want)
		}
	}
}

// TestExpertsOverTensor checks expert parallel groups of tensor parallel ranks. The published layouts of Qwen3-235B
// on H100 (EP 32 of TP 2 x DP 16) are estimated, experts are whole, and their memory follows from EP.
func TestExpertsOverTensor(t *testing.T) {
	in := searching(builtin(t, "qwen3-235b-a22b"), site(t, 256), 8192, 4096, 50)
	l := partition.Layout{TP: 2, PP: 8, CP: 1, EP: 32, VPP: 4, ZeRO: 1, Sequence: true, Micro: 1, Seq: 4096,
		Recompute: partition.RecomputeSelective}
	s, err := in.Score(l)
	if err != nil || !s.Layout.OverTP || !strings.Contains(s.Layout.String(), "EP32 over TP") {
		t.Fatalf("%+v, %v", s, err)
	}
	if s.Layout.ExpertRanks() != 32 || s.Layout.ExpertTP() != 1 {
		t.Errorf("experts of %d ranks, each over %d", s.Layout.ExpertRanks(), s.Layout.ExpertTP())
	}
	_, over := in.Step(s.Layout).StageParams(3)
	l.EP = 16 // of DP: experts are divided over TP, with equal weights for each rank
	s, err = in.Score(l)
	if err != nil || s.Layout.OverTP {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, cut := in.Step(s.Layout).StageParams(3); cut != over {
		t.Errorf("%g weights of experts, %g of whole ones", cut, over)
	}
	l.EP = 64
	if _, err := in.Score(l); err == nil || !strings.Contains(err.Error(), "does not divide dp 16") {
		t.Errorf("%v", err)
	}
}

// TestSoftwareScore checks that an estimate has an interval, with a software and without, and a software host time.
func TestSoftwareScore(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-8b"), site(t, 16), 64, 4096, 50)
	l := partition.Layout{TP: 1, PP: 1, CP: 1, EP: 1, VPP: 1, Micro: 1, Seq: 4096,
		Recompute: partition.RecomputeSelective}
	s, err := in.Score(l)
	if err != nil || s.Software != "" || s.Error == nil || s.Host != 0 || !(s.Low < s.Seconds && s.Seconds < s.High) {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, name := range workload.SoftwareNames() {
		if in.Training.Software, err = workload.FindSoftware(name); err != nil {
			t.Fatal(err)
		}
		if l.ZeRO = 0; len(in.Training.Software.ZeRO) > 0 {
			l.ZeRO = in.Training.Software.ZeRO[0]
		}
		s, err := in.Score(l)
		if err != nil || s.Error == nil || !(s.Low < s.Seconds && s.Seconds < s.High) || s.Host <= 0 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// TestIntervalBelowPeak checks that no interval has a step time below that of the GPUs' peak rate, for any
// efficiency and software.
func TestIntervalBelowPeak(t *testing.T) {
	names := append(workload.SoftwareNames(), "")
	m, h100 := builtin(t, "llama-3.1-8b"), site(t, 16)
	rapid.Check(t, func(t *rapid.T) {
		in := searching(m, h100, 64, 4096, rapid.Float64Range(1, 100).Draw(t, "efficiency"))
		name := rapid.SampledFrom(names).Draw(t, "software")
		l := partition.Layout{TP: 1, PP: 1, CP: 1, EP: 1, VPP: 1, Micro: 1, Seq: 4096,
			Recompute: partition.RecomputeSelective}
		if name != "" {
			var err error
			if in.Training.Software, err = workload.FindSoftware(name); err != nil {
				t.Fatal(err)
			}
			if by := in.Training.Software; len(by.ZeRO) > 0 {
				l.ZeRO = by.ZeRO[0]
			}
		}
		s, err := in.Score(l)
		if err != nil {
			t.Fatal(err)
		}
		peak := s.Seconds * s.MFU
		if s.MFU > 1 || s.Low < peak*(1-1e-12) || s.Low > s.Seconds || s.High < s.Seconds {
			t.Fatalf("step %g s, %g s at the peak rate, interval %g to %g s", s.Seconds, peak, s.Low, s.High)
		}
	})
}

// TestContradictoryStack checks that a software rejects the ZeRO stages that it does not combine with pipelines.
func TestContradictoryStack(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-8b"), site(t, 16), 64, 4096, 50)
	for _, name := range workload.SoftwareNames() {
		var err error
		if in.Training.Software, err = workload.FindSoftware(name); err != nil {
			t.Fatal(err)
		}
		for zero := range 4 {
			l := partition.Layout{TP: 1, PP: 2, CP: 1, EP: 1, VPP: 1, Micro: 1, Seq: 4096, ZeRO: zero,
				Recompute: partition.RecomputeSelective}
			_, err := in.Score(l)
			by := in.Training.Software
			refused := by.MaxPP == 1 || zero > by.PipelineZeRO || len(by.ZeRO) > 0 && !slices.Contains(by.ZeRO, zero)
			if refused != (err != nil) {
				t.Errorf("%s, stage %d: %v", name, zero, err)
			}
		}
	}
}

// TestEfficiency checks that a share of 1 is not taken for a percentage.
func TestEfficiency(t *testing.T) {
	for v, want := range map[float64]string{0.67: "out of range", 0: "out of range", 101: "out of range",
		math.NaN(): "out of range", 1: "", 100: ""} {
		err := CheckEfficiency(v)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%g: %v, want %q", v, err, want)
		}
	}
}
