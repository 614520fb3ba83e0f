package workload

import (
	"maps"
	"math"
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/unit"

	"pgregory.net/rapid"
)

// drawCollective draws a way to run a collective over n ranks, which may be impossible.
func drawCollective(t *rapid.T, n int) CollectiveRun {
	kinds := []coll.Kind{coll.AllReduce, coll.AllGather, coll.ReduceScatter, coll.ToAll, coll.Bcast}
	c := CollectiveRun{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
		Bytes:     unit.Bytes(rapid.IntRange(1, 40_000_000).Draw(t, "bytes")),
		Protocol:  rapid.SampledFrom([]string{"", coll.LL, coll.LL128, "simple"}).Draw(t, "protocol"),
		PerServer: rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "per server")}
	c.Algorithm = rapid.SampledFrom(append([]string{""}, Algorithms(c.Kind)...)).Draw(t, "algorithm")
	if c.Algorithm == coll.ByNVLS || c.Algorithm == coll.ByNVLSTree { // data are combined in a switch: TestBySwitch
		c.Algorithm = coll.ByTree
	}
	if usual(c.Kind, c.Algorithm) == coll.ByRing {
		c.Channels = rapid.IntRange(0, 3).Draw(t, "channels")
		if rapid.Bool().Draw(t, "chunks") {
			c.Chunk = unit.Bytes(rapid.IntRange(100_000, 2_000_000).Draw(t, "chunk"))
		}
	}
	return c
}

// heard has by rank the ranks whose data have reached it. A transfer carries its sender's own data, and data that
// reached the sender by transfers on which it depends.
func heard(d *DAG) [][]bool {
	carries := make([][]bool, len(d.Ops))
	out := make([][]bool, d.Ranks)
	for r := range out {
		out[r] = make([]bool, d.Ranks)
		out[r][r] = true
	}
	for i := range d.Ops { // built in an order in which all dependencies come first
		o := &d.Ops[i]
		if carries[i] == nil {
			carries[i] = make([]bool, d.Ranks)
		}
		carries[i][o.Rank] = true
		to := o.Rank
		if !o.Compute() {
			to = o.Peer
		}
		for r, has := range carries[i] {
			out[to][r] = out[to][r] || has
		}
		for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
			if carries[s] == nil {
				carries[s] = make([]bool, d.Ranks)
			}
			if d.Ops[s].Rank != to && d.Ops[s].Rank != o.Rank {
				continue // it waits for another rank and has no data of it
			}
			for r, has := range carries[i] {
				carries[s][r] = carries[s][r] || has && d.Ops[s].Rank == to
			}
		}
	}
	return out
}

// NVSwitch reduces for ranks of one server, if it can, with protocol simple or none.
func TestBySwitch(t *testing.T) {
	c := CollectiveRun{Kind: coll.AllReduce, Bytes: 8 * unit.MiB, Algorithm: coll.ByNVLS, PerServer: 4,
		Switch: 0.85}
	if d, err := RunCollective(8, c, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}); err != nil || len(d.Ops) != 8 {
		t.Error(err)
	}
	for want, change := range map[string]func(*CollectiveRun){
		"algorithm: nvls takes GPUs that share": func(c *CollectiveRun) { c.PerServer = 2 },
		"algorithm: nvls takes an NVSwitch":     func(c *CollectiveRun) { c.Switch = 0 },
		"protocol: nvls runs with protocol":     func(c *CollectiveRun) { c.Protocol = coll.LL },
		"algorithm: channels and chunks are a":  func(c *CollectiveRun) { c.Channels = 2 },
		`algorithm: "nvls" runs no all-gather`:  func(c *CollectiveRun) { c.Kind = coll.AllGather },
	} {
		run := c
		change(&run)
		if _, err := RunCollective(8, run, [][]int{{0, 1, 2, 3}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// NVLSTree sends only sums of a share between servers, and requires servers with equal numbers of GPUs. In one
// server it is NVLS.
func TestByTreeOfSwitches(t *testing.T) {
	c := CollectiveRun{Kind: coll.AllReduce, Bytes: 8 * unit.MiB, Algorithm: coll.ByNVLSTree, PerServer: 4,
		Switch: 0.85}
	d, err := RunCollective(16, c, All(16))
	if err != nil {
		t.Fatal(err)
	}
	out := make([]unit.Bytes, 16)
	for i := range d.Ops {
		if o := &d.Ops[i]; o.Rank/4 != o.Peer/4 {
			if out[o.Rank] += o.Bytes; o.Rank%4 != o.Peer%4 {
				t.Fatalf("rank %d sends to rank %d, which has another share", o.Rank, o.Peer)
			}
		}
	}
	var all unit.Bytes
	for _, b := range out {
		all += b
	}
	if want := c.Bytes * 2 * 3; all != want { // up and down each of the trees of four servers
		t.Errorf("%v cross between servers, want %v", all, want)
	}
	if one, err := RunCollective(4, c, All(4)); err != nil || len(one.Ops) != 4 {
		t.Errorf("in one server: %v, %v", one, err)
	}
	c.Protocol = coll.LL
	_, err = RunCollective(16, c, All(16))
	if err == nil || !strings.Contains(err.Error(), "nvls-tree runs") {
		t.Error(err)
	}
	c.Protocol, c.Servers = "", coll.Placed([]int32{0, 0, 1}, []int32{0, 1, 0})
	if _, err := RunCollective(3, c, All(3)); err == nil || !strings.Contains(err.Error(), "as many GPUs") {
		t.Error(err)
	}
}

// The estimate of operations is from above for sizes of thousands of pieces too, with trees of several channels.
func TestTransfersOfManyPieces(t *testing.T) {
	for _, algorithm := range []string{coll.ByTree, coll.ByNVLSTree, coll.ByRing, coll.ByRails} {
		for _, protocol := range []string{"", coll.Simple} {
			if protocol != "" && algorithm == coll.ByRails {
				continue
			}
			c := CollectiveRun{Kind: coll.AllReduce, Bytes: 2 * unit.GiB, Algorithm: algorithm, PerServer: 8,
				Switch: 370e9, Protocol: protocol}
			d, err := RunCollective(32, c, All(32))
			if err != nil {
				t.Fatalf("%s: %v", algorithm, err)
			}
			if most := c.Transfers(32); float64(len(d.Ops)) > most || float64(len(d.Ops)) < most/4 {
				t.Errorf("%s %s: %d operations, %.0f estimated", algorithm, protocol, len(d.Ops), most)
			}
		}
	}
}

// Sums of a collective are what each rank sends to which, for any size.
func TestSumCollective(t *testing.T) {
	pairs := func(d *DAG) map[[2]int32]unit.Bytes {
		sent := map[[2]int32]unit.Bytes{}
		for i := range d.Ops {
			if o := &d.Ops[i]; !o.Compute() {
				sent[[2]int32{o.Rank, o.Peer}] += o.Bytes
			}
		}
		return sent
	}
	c := CollectiveRun{Kind: coll.AllReduce, Bytes: 64 * unit.MiB, Algorithm: coll.ByTree, PerServer: 4}
	groups := [][]int{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}}
	whole, err := RunCollective(12, c, groups)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := SumCollective(12, c, groups)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := pairs(whole), pairs(sums); !maps.Equal(want, got) || len(got) == 0 || len(sums.Ops) != len(got)+12 {
		t.Errorf("%d operations, %v for %v", len(sums.Ops), got, want)
	}
	c.Bytes, c.Algorithm, c.PerServer, c.Channels = 8*unit.GiB, coll.ByRing, 8, 24
	if _, err := RunCollective(1024, c, All(1024)); err == nil || !strings.Contains(err.Error(), "transfers are more") {
		t.Error(err)
	}
	if _, err := SumCollective(2, c, [][]int{{1}}); err == nil {
		t.Error("a collective of one rank")
	}
}

// For every collective and algorithm, all required data reach their ranks. No rank sends or receives less than the
// minimum, and a ring exactly that. The number of transfers does not exceed the estimate.
func TestCollectivesReachEverybody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "ranks")
		c := drawCollective(t, n)
		d, err := RunCollective(n, c, All(n))
		if err != nil {
			if strings.Contains(err.Error(), "power of two") {
				return
			}
			t.Fatalf("%+v over %d: %v", c, n, err)
		}
		if most := c.Transfers(n); float64(len(d.Ops)) > most {
			t.Fatalf("%+v over %d: %d operations, %.0f transfers were estimated", c, n, len(d.Ops), most)
		}
		for r, from := range heard(d) {
			for k, has := range from {
				if want := c.Kind != coll.Bcast || k == 0; want && !has {
					t.Fatalf("%+v over %d: nothing of rank %d reaches rank %d", c, n, k, r)
				}
			}
		}
		sent, got := make([]float64, n), make([]float64, n)
		for i := range d.Ops {
			if o := &d.Ops[i]; !o.Compute() {
				_, wire := 0.0, 1.0
				if c.Protocol != "" {
					_, wire = coll.ProtocolCost(c.Protocol, c.on().Of(int(o.Rank)) == c.on().Of(int(o.Peer)))
				}
				sent[o.Rank] += float64(o.Bytes) / wire
				got[o.Peer] += float64(o.Bytes) / wire
			}
		}
		share := float64(n-1) / float64(n) * float64(c.Bytes)
		least := map[coll.Kind]float64{coll.AllReduce: float64(c.Bytes), coll.AllGather: share,
			coll.ReduceScatter: float64(c.Bytes) / float64(n), coll.ToAll: share,
			coll.Bcast: float64(c.Bytes)}[c.Kind]
		ring := usual(c.Kind, c.Algorithm) == coll.ByRing
		exact := map[coll.Kind]float64{coll.AllReduce: 2 * share}[c.Kind]
		if exact == 0 {
			exact = share
		}
		slack := float64(len(d.Ops)) + 0.001*float64(c.Bytes) // each is rounded to bytes
		for r := range n {
			if c.Kind == coll.Bcast && r == 0 || least == 0 {
				continue
			}
			if got[r] < least-slack {
				t.Fatalf("%+v over %d: rank %d receives %.0f bytes, at least %.0f must", c, n, r,
					got[r], least)
			}
			if ring && (math.Abs(got[r]-exact) > slack || math.Abs(sent[r]-exact) > slack) {
				t.Fatalf("%+v over %d: rank %d of a ring sends %.0f and receives %.0f bytes, not %.0f", c, n,
					r, sent[r], got[r], exact)
			}
		}
	})
}

// An unsuitable algorithm is rejected by name, and the error lists suitable ones.
func TestCollectivesThatCannotRun(t *testing.T) {
	for want, c := range map[string]CollectiveRun{
		`algorithm: "tree" runs no all-gather; accepted: auto, ring, hierarchical`: {Kind: coll.AllGather,
			Algorithm: "tree"},
		`algorithm: "ring" runs no all-to-all; accepted: auto, direct, pairwise, pxn`: {Kind: coll.ToAll,
			Algorithm: "ring"},
		`algorithm: "rings" runs no broadcast; accepted: auto, chain, tree`: {Kind: coll.Bcast,
			Algorithm: "rings"},
		`algorithm: channels and chunks are a ring's; found "tree"`: {Kind: coll.AllReduce, Algorithm: "tree",
			Channels: 2},
		`algorithm: channels and chunks are a ring's; found "chain"`: {Kind: coll.Bcast, Channels: 2, Chunk: unit.MB},
		`algorithm: channels and chunks are a ring's; found "pxn"`: {Kind: coll.ToAll, Algorithm: "pxn",
			Chunk: unit.MB},
		"bytes: about 1.31e+08 transfers are more than the 20000000 that are taken; use larger chunks": {
			Kind: coll.AllReduce, Chunk: 1000, Channels: 1000, PerServer: 1},
	} {
		c.Bytes = unit.GB
		if _, err := RunCollective(8, c, All(8)); err == nil || err.Error() != want {
			t.Errorf("%+v: %v\nwant %s", c, err, want)
		}
	}
	if _, err := RunCollective(8, CollectiveRun{Bytes: 1}, [][]int{{3}}); err == nil ||
		err.Error() != "a collective needs two ranks, found 1" {
		t.Error(err)
	}
}

// TestProtocolStart measures all-reduces of a byte per rank. Their time is the hops' latencies plus the protocol's
// start, which bare transfers and NVLS do not have (baseLat of nccl src/graph/tuning.cc).
func TestProtocolStart(t *testing.T) {
	for _, c := range []struct {
		algorithm, protocol string
		want                unit.Time // of all computations of a rank
	}{
		{coll.ByRing, "", 0},
		{coll.ByRing, coll.LL, 6600 * unit.Nanosecond},
		{coll.ByTree, coll.LL, 6800 * unit.Nanosecond},
		{coll.ByRing, coll.Simple, 8400*unit.Nanosecond + 14*2800*unit.Nanosecond},
		{coll.ByNVLS, coll.Simple, 25 * unit.Microsecond},
	} {
		run := CollectiveRun{Kind: coll.AllReduce, Bytes: 8, Algorithm: c.algorithm, Protocol: c.protocol,
			PerServer: 8, Switch: 0.85}
		d, err := RunCollective(8, run, [][]int{{0, 1, 2, 3, 4, 5, 6, 7}})
		if err != nil {
			t.Fatal(err)
		}
		spent := unit.Time(0)
		for i := range d.Ops {
			if o := &d.Ops[i]; o.Compute() && o.Rank == 0 {
				spent += o.Dur
			}
		}
		if spent != c.want {
			t.Errorf("%s %q: rank 0 spends %v beside transfers, want %v", c.algorithm, c.protocol, spent, c.want)
		}
	}
}

// TestRepeat runs a collective three times. Each rank begins the next run when its previous one is done, and the
// number of transfers and collectives is that of three.
func TestRepeat(t *testing.T) {
	for _, protocol := range []string{"", coll.LL128} {
		c := CollectiveRun{Kind: coll.AllReduce, Bytes: unit.MB, Channels: 2, PerServer: 2, Protocol: protocol}
		once, err := RunCollective(4, c, All(4))
		if err != nil {
			t.Fatal(err)
		}
		c.Repeat = 3
		d, err := RunCollective(4, c, All(4))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(d.Ops), 3*len(once.Ops)+2*4; len(d.Colls) != 3 || got != want {
			t.Fatalf("%q: %d collectives, %d operations, want %d", protocol, len(d.Colls), got, want)
		}
		if got, want := d.Critical(), 3*once.Critical(); got != want {
			t.Errorf("%q: %v of computing, want %v", protocol, got, want)
		}
		waits := make([]int, 3) // transfers of each run that depend on another's end, directly or not
		for i := range d.Ops {
			for _, s := range d.After(int32(i)) {
				if a, b := d.Ops[i].Coll, d.Ops[s].Coll; a >= 0 && b >= 0 && a != b {
					t.Errorf("%q: transfer %d of run %d waits for %d of run %d", protocol, s, b, i, a)
				}
			}
			if c := d.Ops[i].Coll; c >= 0 && d.Ops[i].Deps > 0 {
				waits[c]++
			}
		}
		if n := waits[1]; n == 0 || waits[2] != n {
			t.Errorf("%q: transfers that wait, by run: %v", protocol, waits)
		}
	}
}
