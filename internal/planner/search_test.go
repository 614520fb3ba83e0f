package planner

import (
	"math"
	"testing"
	"time"

	"railyard/unit"
)

func site(t *testing.T, gpus int) Site {
	g := gpu(t, "h100")
	return Site{GPU: g, GPUs: gpus, PerServer: 8, NVLink: g.NVLink, NIC: g.NIC, Latency: 3 * unit.Microsecond, NVLatency: unit.Microsecond, Ratio: 1, Segment: 64}
}

// Every candidate uses all GPUs, divides the batch and the model, fits the memory,
// and its parts add up to its step; the list is in order, and what is left out
// is counted.
func TestSearchHolds(t *testing.T) {
	in := SearchInput{Model: builtin(t, "llama-3.1-70b"), Site: site(t, 256), Global: 512, Seq: 8192, Efficiency: 0.6}
	r, err := Search(in)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, x := range r.Rejected {
		left += x.Count
	}
	if len(r.Candidates) == 0 || r.Tried != left+len(r.Candidates) {
		t.Fatalf("%d tried, %d feasible, %d rejected", r.Tried, len(r.Candidates), left)
	}
	last := 0.0
	for _, c := range r.Candidates {
		l := c.Layout
		sum := c.Compute + c.Bubble + c.Tensor + c.Pipeline + c.Data + c.Experts + c.Context + c.Optimizer
		if l.GPUs() != 256 || l.Check(in.Model) != nil || in.Global%(int64(l.DP)*l.Micro) != 0 || c.Memory > in.Site.GPU.Memory || math.Abs(sum/c.Seconds-1) > 1e-9 ||
			c.Seconds < last || !(c.MFU > 0 && c.MFU <= in.Efficiency) || c.Data < 0 {
			t.Fatalf("%+v", c)
		}
		last = c.Seconds
	}
}

// The bubble is (p-1)/(v m) of the ideal time (HANDBOOK.md 10.2).
func TestBubble(t *testing.T) {
	in := SearchInput{Model: builtin(t, "gpt3-175b"), Site: site(t, 64), Global: 512, Seq: 2048, Efficiency: 0.5}
	for _, c := range []struct {
		p, m, v int
		want    float64
	}{{4, 8, 1, 0.375}, {8, 8, 1, 0.875}, {8, 32, 1, 0.219}, {16, 128, 1, 0.117}, {8, 32, 2, 0.109}} {
		l := Layout{TP: 8, PP: c.p, DP: 1, CP: 1, EP: 1, VPP: c.v, Schedule: OneFOneB, Recompute: RecomputeNone, Micro: 1, Microbatches: c.m, Seq: 2048}
		e := in.estimate(l)
		head := float64(c.m) * 3 * in.Model.HeadFLOPs(2048) / (in.Site.GPU.BF16 * in.Efficiency * 8) / float64(c.p)
		if got := e.Bubble / (e.Compute - head + e.Tensor); math.Abs(got-c.want) > 0.001 {
			t.Errorf("p %d, m %d, v %d: bubble %.3f, want %.3f", c.p, c.m, c.v, got, c.want)
		}
	}
}

// 16,384 GPUs are searched in seconds, and tensor parallelism stays in the server.
func TestSearchLarge(t *testing.T) {
	in := SearchInput{Model: builtin(t, "llama-3.1-405b"), Site: site(t, 16384), Global: 2048, Seq: 8192, Efficiency: 0.6}
	began := time.Now()
	r, err := Search(in)
	if err != nil || len(r.Candidates) == 0 {
		t.Fatal(err, len(r.Candidates))
	}
	t.Logf("%d layouts in %v; best %s, MFU %.3f", r.Tried, time.Since(began), r.Candidates[0].Layout, r.Candidates[0].MFU)
	for _, c := range r.Candidates {
		if c.Layout.TP > 8 {
			t.Fatalf("%+v", c.Layout)
		}
	}
	in.Site.GPUs = 1
	if r, err := Search(in); err != nil || len(r.Candidates) != 0 {
		t.Errorf("405 billion parameters fit one GPU: %v", err)
	}
	in.Efficiency = 2
	if _, err := Search(in); err == nil {
		t.Error("an efficiency of 200 % is taken")
	}
}
