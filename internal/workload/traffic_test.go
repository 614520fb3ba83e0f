package workload

import (
	"math"
	"testing"

	"railyard/internal/field"
	"railyard/internal/partition"
	"railyard/unit"

	"pgregory.net/rapid"
)

// A permutation is one cycle through each group: each sender receives from another, and following the sends visits
// the whole group. Only the seed determines the cycle.
func TestPermutationIsACycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 4).Draw(t, "sizes")
		seed := rapid.Uint64().Draw(t, "seed")
		var groups [][]int
		ranks := 0
		for _, n := range sizes {
			g := seq(n)
			for i := range g {
				g[i] += ranks
			}
			groups, ranks = append(groups, g), ranks+n
		}
		d, err := Permutation(ranks, groups, 1000, seed)
		if ranks == len(groups) { // no rank has another one
			if err == nil || field.All(err)[0].Path != "permutation" {
				t.Fatal(err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		to := map[int32]int32{}
		for _, o := range d.Ops {
			if _, twice := to[o.Rank]; twice || o.Bytes != 1000 || o.Deps != 0 {
				t.Fatalf("%+v", o)
			}
			to[o.Rank] = o.Peer
		}
		for _, g := range groups {
			at, steps := int32(g[0]), 0
			for len(g) > 1 && (steps == 0 || at != int32(g[0])) && steps <= len(g) {
				at, steps = to[at], steps+1
			}
			if len(g) > 1 && steps != len(g) {
				t.Fatalf("from %d back in %d steps of %d", g[0], steps, len(g))
			}
		}
		again, _ := Permutation(ranks, groups, 1000, seed)
		for i := range d.Ops {
			if d.Ops[i] != again.Ops[i] {
				t.Fatalf("%+v, then %+v", d.Ops[i], again.Ops[i])
			}
		}
	})
}

// An incast comes from the ranks after its target, wrapping at the end. Flows begin at their times.
func TestIncastAndFlows(t *testing.T) {
	d, err := Incast(4, 3, 2, 10)
	if err != nil || len(d.Ops) != 3 || d.Colls[0].Bytes != 10 {
		t.Fatalf("%+v, %v", d, err)
	}
	for i, from := range []int32{3, 0, 1} {
		if o := d.Ops[i]; o.Rank != from || o.Peer != 2 || o.Bytes != 10 {
			t.Errorf("%+v", o)
		}
	}
	for _, fan := range []int{0, 4} {
		if _, err := Incast(4, fan, 0, 10); err == nil || field.All(err)[0].Path != "incast.fan_in" {
			t.Errorf("fan-in %d: %v", fan, err)
		}
	}
	d, err = Flows(3, []Flow{{0, 1, 10, 0}, {1, 2, 30, 500}, {2, 0, 20, 700}})
	if err != nil || d.Colls[0].Bytes != 30 || d.Critical() != 700 {
		t.Fatalf("%+v, %v", d, err)
	}
	if got := d.Computing(math.Inf(1)); got != 1200 {
		t.Errorf("all computing is %g, want 1200", got)
	}
	if got := d.Computing(0); got != 700 {
		t.Errorf("the longest chain computes %g, want 700", got)
	}
}

// A global batch is cut into microbatches of replicas, or refused.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		batch, micro int64
		dp, want     int
	}{{0, 3, 4, 1}, {24, 3, 4, 2}, {4, 1, 4, 1}, {25, 3, 4, 0}, {3, 1, 4, 0}} {
		tr := NewTraining()
		tr.GlobalBatch, tr.Micro, tr.DP = c.batch, c.micro, c.dp
		err := tr.Divide()
		if c.want == 0 {
			if err == nil || field.All(err)[0].Path != "global_batch" {
				t.Errorf("%+v: %v", c, err)
			}
		} else if err != nil || tr.Microbatches != c.want || tr.Global() != int64(c.want*c.dp)*c.micro {
			t.Errorf("%+v: %d microbatches, %d in all, %v", c, tr.Microbatches, tr.Global(), err)
		}
	}
}

// sent sums the bytes that the collectives of a name send.
func sent(d *DAG, name string) (b float64) {
	for i := range d.Ops {
		if o := &d.Ops[i]; o.Coll >= 0 && d.Colls[o.Coll].Name == name {
			b += float64(o.Bytes)
		}
	}
	return b
}

// For P parameters in D replicas a ring's gather or reduction sends D-1 times their bytes. ZeRO 0 reduces and
// gathers gradients once a step; 1 reduces them and gathers parameters; 2 reduces after each microbatch; 3 also
// gathers for each forward and each backward pass (Rajbhandari et al. 2020, 7.2). A pipeline of c chunks sends an
// activation forward and its gradient back across c-1 boundaries. Each rank ends with one optimizer step.
func TestBytesAndPasses(t *testing.T) {
	plain := pipeline(t, partition.OneFOneB, 1, 1, 1)
	rapid.Check(t, func(t *rapid.T) {
		tr := *plain
		draw := func(name string, v ...int) int { return rapid.SampledFrom(v).Draw(t, name) }
		tr.DP, tr.PP, tr.ZeRO = draw("dp", 1, 2, 3), draw("pp", 1, 2, 4), draw("zero", 0, 1, 2, 3)
		tr.Microbatches = tr.PP * draw("m", 1, 2)
		tr.GradBytes, tr.Channels, tr.Prefetch = int64(draw("gradient", 2, 4)), draw("channels", 1, 2),
			draw("p", 0, 2)
		tr.Overlap, tr.Bucket = rapid.Bool().Draw(t, "overlap"), unit.Bytes(draw("bucket", 30, 1000))*unit.MB
		tr.Schedule = rapid.SampledFrom([]string{partition.GPipe, partition.OneFOneB, partition.ZeroBubble,
			partition.Interleaved}).Draw(t, "schedule")
		if tr.Schedule == partition.Interleaved && tr.PP > 1 {
			tr.VPP = 2
		} else if tr.PP == 1 {
			tr.Schedule = partition.OneFOneB
		}
		d, err := tr.Build()
		if err != nil {
			if len(field.All(err)) > 0 {
				t.Skip(err)
			}
			t.Fatal(err)
		}
		m, params := float64(tr.Microbatches), float64(tr.Model.Params())
		once := float64(tr.DP-1) * params
		grads := once * float64(tr.GradBytes)
		want := map[string]float64{}
		switch tr.ZeRO {
		case 0:
			want["dp all-reduce"] = 2 * grads
		case 1:
			want["dp reduce-scatter"], want["dp all-gather"] = grads, 2*once
		case 2:
			want["dp reduce-scatter"], want["dp all-gather"] = m*grads, 2*once
		case 3:
			want["dp reduce-scatter"], want["dp all-gather"] = m*grads, 2*m*2*once
		}
		for _, name := range []string{"dp all-reduce", "dp reduce-scatter", "dp all-gather"} {
			if got := sent(d, name); math.Abs(got-want[name]) > 1e-3*want[name] {
				t.Fatalf("%s: %.6g bytes, want %.6g", name, got, want[name])
			}
		}
		activation := float64(tr.Micro * tr.Seq * tr.Model.Hidden * 2)
		borders := 2 * m * float64(tr.PP*tr.VPP-1) * float64(tr.DP)
		if tr.PP == 1 {
			borders = 0
		}
		if got := volume(d, PipelineParallel); got != borders*activation {
			t.Fatalf("pipeline: %g bytes, want %g", got, borders*activation)
		}
		ends(t, d)
	})
}

// ends checks that each rank of a step has one optimizer operation, and computes nothing after it.
func ends(t *rapid.T, d *DAG) {
	done := make([]int, d.Ranks)
	for i := range d.Ops {
		o := &d.Ops[i]
		if !o.Compute() {
			continue
		}
		if done[o.Rank] > 0 {
			t.Fatalf("rank %d does %v behind its optimizer", o.Rank, o.Class)
		}
		if o.Class == Optimizer {
			done[o.Rank]++
		}
	}
	for r, n := range done {
		if n != 1 {
			t.Fatalf("rank %d ends %d times", r, n)
		}
	}
}
