package planner

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/partition"
	"railyard/internal/workload"
)

// TestOnly checks that a search respects its limits, and finds there what it finds without limits.
func TestOnly(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-70b"), site(t, 64), 128, 8192, 60)
	all, err := Search(in)
	if err != nil {
		t.Fatal(err)
	}
	in.Only = Only{TP: []int{4, 8}, ZeRO: []int{1}, CP: []int{1, 2}, Schedule: []string{partition.Interleaved}}
	some, err := Search(in)
	if err != nil || len(some.Candidates) == 0 {
		t.Fatalf("%+v, %v", some, err)
	}
	var want []string
	for _, c := range all.Candidates {
		if l := c.Layout; (l.TP == 4 || l.TP == 8) && l.ZeRO == 1 && l.CP <= 2 && l.Schedule == partition.Interleaved {
			want = append(want, l.String())
		}
	}
	var got []string
	for _, c := range some.Candidates {
		got = append(got, c.Layout.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d candidates, want %d", len(got), len(want))
	}
	for text, o := range map[string]Only{"tp: 0 is out of range": {TP: []int{0}}, "zero: 4 is out": {ZeRO: []int{4}},
		"micro_batch: -1 is": {Micro: []int64{-1}}, `schedule: "gpipe" is not`: {Schedule: []string{"gpipe"}}} {
		in.Only = o
		if _, err := Search(in); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %s", o, err, text)
		}
	}
}

// TestSearchKeepsToSoftware checks that all candidates are layouts that the software can run.
func TestSearchKeepsToSoftware(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-70b"), site(t, 64), 128, 8192, 60)
	for _, name := range workload.SoftwareNames() {
		var err error
		if in.Training.Software, err = workload.FindSoftware(name); err != nil {
			t.Fatal(err)
		}
		r, err := Search(in)
		if err != nil || len(r.Candidates) == 0 {
			t.Errorf("%s: %d candidates, %v", name, len(r.Candidates), err)
			continue
		}
		for _, c := range r.Candidates {
			if err := in.Training.Software.Permits(c.Layout); err != nil {
				t.Errorf("%s: %s: %v", name, c.Layout, err)
			}
		}
	}
}

// TestSearchTriesUnevenStages checks that a search has the pipelines that a score takes of 61 layers, which no number
// of stages divides, and that each reason of a size that no layout has is true.
func TestSearchTriesUnevenStages(t *testing.T) {
	in := searching(builtin(t, "deepseek-v3"), site(t, 1024), 8192, 4096, 60)
	in.Only = Only{TP: []int{2}, PP: []int{8}, EP: []int{64}, VPP: []int{4}, Micro: []int64{1}, ZeRO: []int{1}}
	r, err := Search(in)
	if err != nil || len(r.Candidates) == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	best := r.Candidates[0]
	s, err := in.Score(best.Layout)
	if err != nil || s.Seconds != best.Seconds || !best.Layout.Uneven {
		t.Errorf("%v: %v, scored %+v, %v", best.Layout, best.Seconds, s, err)
	}
	for reason, o := range map[string]Only{
		"PP × VPP above the number of layers":        {PP: []int{8}, VPP: []int{16}},
		"EP does not divide the experts, or DP × CP": {EP: []int{3}},
		"TP beyond the NVLink domain":                {TP: []int{128}},
	} {
		in.Only = o
		r, err := Search(in)
		if err != nil || !slices.ContainsFunc(r.Rejected, func(x Rejected) bool { return x.Reason == reason }) {
			t.Errorf("%+v: %+v, %v, want %s", o, r, err, reason)
		}
	}
}
