package planner

import (
	"math"
	"testing"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/workload"
	"railyard/unit"
)

func site(t *testing.T, gpus int) Site {
	g := gpu(t, "h100")
	return Site{GPU: g, GPUs: gpus, PerServer: 8, NVLink: g.NVLink, NIC: g.NIC, Latency: 3 * unit.Microsecond,
		NVLatency: unit.Microsecond, Ratio: 1, Upper: 1, Segment: 64,
		Uplinks: 64, Uplink: g.NIC, QPs: 1}
}

// searching is a search for a batch of sequences, with kernels of a given efficiency in percent.
func searching(m *model.Config, s Site, batch, seq int64, efficiency float64) SearchInput {
	t := workload.NewTraining()
	t.Model, t.GlobalBatch, t.Seq, t.Efficiency = m, batch, seq, efficiency
	return SearchInput{Training: t, Site: s}
}

// Every candidate uses all GPUs, divides the batch and the model, fits the memory, and its parts add up to its
// step. The list is in order, and omitted layouts are counted.
func TestSearchHolds(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-70b"), site(t, 256), 512, 8192, 60)
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
		if l.GPUs() != 256 || l.Check(in.Training.Model) != nil ||
			in.Training.GlobalBatch%(int64(l.DP)*l.Micro) != 0 || c.Memory > in.Site.GPU.Usable ||
			math.Abs(sum/c.Seconds-1) > 1e-9 ||
			c.Seconds < last || !(c.MFU > 0 && c.MFU <= in.Training.Efficiency/100) || c.Data < 0 {
			t.Fatalf("%+v", c)
		}
		last = c.Seconds
	}
}

// TestTwins checks that below one leaf a search has one of two orders of ranks. It has both if a server has several
// stages, or if servers are below several leaves.
func TestTwins(t *testing.T) {
	for _, c := range []struct{ tp, uplinks, orders int }{{8, 0, 1}, {2, 0, 2}, {8, 8, 2}} {
		s := site(t, 64)
		s.Segment, s.Uplinks = 8, c.uplinks
		in := searching(builtin(t, "llama-2-7b"), s, 64, 4096, 60)
		in.Only = Only{TP: []int{c.tp}, PP: []int{2}, CP: []int{1}, Micro: []int64{1}, ZeRO: []int{1}, VPP: []int{1}}
		r, err := Search(in)
		if err != nil {
			t.Fatal(err)
		}
		orders := map[string]bool{}
		for _, x := range r.Candidates {
			orders[x.Layout.Order] = true
		}
		if len(orders) != c.orders {
			t.Errorf("TP %d, %d uplinks: %v", c.tp, c.uplinks, orders)
		}
	}
}

// The bubble is (p-1)/(v m) of the ideal time (docs/references.md, bubble), without the time of the head, which
// only the last stage has.
func TestBubble(t *testing.T) {
	in := searching(builtin(t, "gpt3-175b"), site(t, 64), 0, 2048, 50)
	in.Training.Model.Vocab = 1
	for _, c := range []struct {
		p, m, v int
		want    float64
	}{{4, 8, 1, 0.375}, {8, 8, 1, 0.875}, {8, 32, 1, 0.219}, {16, 128, 1, 0.117}, {8, 32, 2, 0.109}} {
		l := partition.Layout{TP: 8, PP: c.p, DP: 1, CP: 1, EP: 1, VPP: c.v, Schedule: partition.OneFOneB,
			Recompute: partition.RecomputeNone, Micro: 1, Microbatches: c.m, Seq: 2048}
		e := in.Estimate(l)
		if got := e.Bubble / (e.Compute + e.Tensor); math.Abs(got-c.want) > 0.001 {
			t.Errorf("p %d, m %d, v %d: bubble %.3f, want %.3f", c.p, c.m, c.v, got, c.want)
		}
	}
}

// The fullest bin, with bins taken as independent: one ball fills one. For many balls in few bins the known
// expectations hold (two balls in two bins: 1.5; n in n grows as log n / log log n).
func TestFullest(t *testing.T) {
	for _, c := range []struct {
		balls, bins int
		want, tol   float64
	}{{1, 8, 1, 0}, {5, 1, 5, 0}, {2, 2, 1.5, 0.13}, {64, 64, 4.2, 0.4}, {6400, 64, 124, 3}} {
		if got := fullest(c.balls, c.bins, 1); math.Abs(got-c.want) > c.tol {
			t.Errorf("%d balls in %d bins: %.3f in the fullest, want %.2f", c.balls, c.bins, got, c.want)
		}
	}
}

// Between switch pairs the two queue pairs of a NIC share one of the receiver's links with probability a half. A
// ring of many such hops waits for one that is shared, and a single message for one and a half on average. Sprayed
// packets do not collide, and neither does traffic inside a segment.
func TestSwitchPairs(t *testing.T) {
	s := site(t, 64)
	s.Segment, s.Ports, s.Down, s.Uplinks, s.Uplink, s.QPs = 4, 2, 32, 8, 2*s.NIC, 2
	if got := float64(s.NIC) / float64(s.rate(8, 16)); math.Abs(got-2) > 0.01 {
		t.Errorf("a ring: %.3f times slower, want 2", got)
	}
	if got := float64(s.NIC) / float64(s.rate(8, 1)); got < 1.4 || got > 1.6 {
		t.Errorf("a message: %.3f times slower, want about 1.5", got)
	}
	s.Spread = true
	if got := s.rate(8, 16); got != s.NIC {
		t.Errorf("spread: %v of %v", got, s.NIC)
	}
	s.Spread, s.Uplinks = false, 0
	if got := s.rate(8, 16); got != s.NIC {
		t.Errorf("one segment: %v of %v", got, s.NIC)
	}
}

// 16,384 GPUs are searched, and tensor parallelism stays in the server.
func TestSearchLarge(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-405b"), site(t, 16384), 2048, 8192, 60)
	r, err := Search(in)
	if err != nil || len(r.Candidates) == 0 {
		t.Fatal(err, len(r.Candidates))
	}
	t.Logf("%d layouts; best %s, MFU %.3f", r.Tried, r.Candidates[0].Layout, r.Candidates[0].MFU)
	for _, c := range r.Candidates {
		if c.Layout.TP > 8 {
			t.Fatalf("%+v", c.Layout)
		}
	}
	in.Site.GPUs = 1
	if r, err := Search(in); err != nil || len(r.Candidates) != 0 {
		t.Errorf("405 billion parameters fit one GPU: %v", err)
	}
	in.Training.Efficiency = 200
	if _, err := Search(in); err == nil {
		t.Error("an efficiency of 200 % is taken")
	}
}

// TestSliceCrossesServers checks that the simulated part of a step sends through the network, as the whole does, or
// that there is no part.
func TestSliceCrossesServers(t *testing.T) {
	in := searching(builtin(t, "llama-3.1-70b"), site(t, 256), 1024, 8192, 60)
	r, err := Search(in)
	if err != nil {
		t.Fatal(err)
	}
	parts, none := 0, 0
	for _, c := range r.Candidates[:min(300, len(r.Candidates))] {
		s, err := in.Slice(c, Rails{}, 4096, 1e8)
		switch {
		case err != nil:
			none++
		case s.Layout.GPUs() <= 8:
			t.Errorf("%v: %s", c.Layout, s.About)
		case s.About != "":
			parts++
		}
	}
	if parts == 0 || none == 0 {
		t.Errorf("%d parts, %d without", parts, none)
	}
}
