package workload

import (
	"fmt"
	"math"
	"testing"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/long"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Properties are drawn 40 times, or 400 when long tests run.
var _ = long.Draws(40, 400)

// pipeline is a model without a head on p stages.
func pipeline(t testing.TB, schedule string, p, m, v int) *Training {
	c,
		err := model.Parse("tiny vocabulary",
		[]byte(`{"model_type":"llama","hidden_size":4096,"num_hidden_layers":48,"num_attention_heads":32,
		"intermediate_size":11008,"vocab_size":1}`))
	if err != nil {
		t.Fatal(err)
	}
	return &Training{Layout: partition.Layout{TP: 1, PP: p, DP: 1, CP: 1, EP: 1, VPP: v,
		Recompute: partition.RecomputeSelective, Schedule: schedule, Micro: 1, Microbatches: m, Seq: 2048},
		Model: c, GPU: model.GPUs["h100"], Bucket: unit.GB, Efficiency: 50, Channels: 1}
}

// idle returns how long the first rank does not compute, and how long it does.
func idle(d *DAG) (waits, works unit.Time) {
	optimizer := unit.Time(0)
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Rank == 0 && o.Compute() {
			if works += o.Dur; o.Class == Optimizer {
				optimizer = o.Dur
			}
		}
	}
	return d.Critical() - works, works - optimizer
}

// The bubble is (p-1)/m of the ideal time with GPipe and 1F1B, (p-1)/(v m) with v
// interleaved chunks (docs/references.md, bubble).
func TestPipelineBubble(t *testing.T) {
	for _, c := range []struct {
		schedule string
		p, m, v  int
		want     float64
	}{{partition.OneFOneB, 4, 8, 1, 0.375}, {partition.OneFOneB, 8, 8, 1, 0.875},
		{partition.OneFOneB, 8, 32, 1, 0.21875}, {partition.OneFOneB, 16, 128, 1, 0.1171875},
		{partition.GPipe, 4, 8, 1, 0.375}, {partition.GPipe, 8, 32, 1, 0.21875},
		{partition.Interleaved, 8, 32, 2, 0.109375}, {partition.Interleaved, 4, 8, 3, 0.125},
		{partition.Interleaved, 8, 8, 6, 7.0 / 48}, {partition.Interleaved, 2, 2, 8, 1.0 / 16}} {
		d, err := pipeline(t, c.schedule, c.p, c.m, c.v).Build()
		if err != nil {
			t.Fatal(err)
		}
		waits, works := idle(d)
		if got := float64(waits) / float64(works); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("%s, p %d, m %d, v %d: bubble %.5f, want %.5f", c.schedule, c.p, c.m, c.v, got, c.want)
		}
	}
}

// ZB-H1's bubble is (p-1)(F+B-W), 1F1B's (p-1)(F+B+W) (Qi et al. 2023, table 2).
func TestZeroBubble(t *testing.T) {
	for _, c := range []struct{ p, m int }{{4, 8}, {8, 8}, {8, 32}, {2, 16}} {
		tr := pipeline(t, partition.ZeroBubble, c.p, c.m, 1)
		d, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		k := tr.kernels()
		layers := unit.Time(48 / c.p)
		f := layers * (k.proj.forward + k.core.forward + k.mlp.forward)
		b := layers * (k.proj.inputs + k.core.inputs + k.mlp.inputs)
		w := layers * (k.proj.weights + k.mlp.weights)
		waits, _ := idle(d)
		if want := unit.Time(c.p-1) * (f + b - w); math.Abs(float64(waits)/float64(want)-1) > 1e-3 {
			t.Errorf("p %d, m %d: bubble %v, want %v", c.p, c.m, waits, want)
		}
	}
}

// Every schedule runs each microbatch through each chunk once forward, once backward, and then its postponed weight
// gradients, if any. No stage keeps more microbatches than its memory estimate has.
func TestSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := partition.Layout{PP: rapid.IntRange(1, 9).Draw(t, "p"),
			Microbatches: rapid.IntRange(1, 30).Draw(t, "m"), VPP: 1,
			Schedule: rapid.SampledFrom([]string{partition.GPipe, partition.OneFOneB, partition.Interleaved,
				partition.ZeroBubble}).Draw(t, "schedule")}
		if l.Schedule == partition.Interleaved {
			l.VPP = rapid.IntRange(1, 4).Draw(t, "v")
			l.Microbatches *= l.PP
		}
		for p := range l.PP {
			state := map[[2]int]passKind{}
			held, most := 0, 0
			list := passes(l, p)
			for _, x := range list {
				key := [2]int{x.micro, x.chunk}
				before, seen := state[key]
				ok := x.kind == forwardPass && !seen || x.kind == backwardPass && seen &&
					before == forwardPass || x.kind == weightPass && before == backwardPass
				if !ok {
					t.Fatalf("%+v stage %d: %+v comes after %v, seen %v", l, p, x, before, seen)
				}
				state[key] = x.kind
				switch {
				case x.kind == forwardPass:
					held++
				case x.kind == weightPass || l.Schedule != partition.ZeroBubble:
					held--
				}
				most = max(most, held)
			}
			if len(state) != l.Microbatches*l.VPP || held != 0 {
				t.Fatalf("%+v stage %d: %d of %d done, %d held", l, p, len(state), l.Microbatches*l.VPP, held)
			}
			if bound := l.InFlight(p) * float64(l.VPP); float64(most) > bound+1e-9 {
				t.Fatalf("%+v stage %d: %d chunks are held, reckoned %.2f", l, p, most, bound)
			}
		}
	})
}

// volume sums the bytes that a class sends.
func volume(d *DAG, c Class) (b float64) {
	for i := range d.Ops {
		if o := &d.Ops[i]; o.Class == c && !o.Compute() {
			b += float64(o.Bytes)
		}
	}
	return b
}

// ZeRO 1 and 2 transfer as much as plain data parallelism, and ZeRO 3 half as much again (docs/references.md,
// zero). ZeRO 2 and 3 reduce after every microbatch.
func TestShardedVolume(t *testing.T) {
	for _, c := range []struct {
		zero, pp, microbatches int
		want                   float64 // bytes of parameters, per rank
	}{{0, 1, 1, 2}, {1, 1, 1, 2}, {1, 2, 4, 2}, {2, 1, 1, 2}, {2, 1, 4, 5}, {3, 1, 1, 3}, {3, 2, 4, 12}} {
		tr := training(t, "llama-2-7b", 2, c.pp, 4)
		tr.ZeRO, tr.Microbatches, tr.Prefetch = c.zero, c.microbatches, 2
		d, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		want := c.want * 3 * 2 * float64(tr.Model.Params()) // four replicas together
		if got := volume(d, DataParallel); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%+v: %.4g bytes, want %.4g", c, got, want)
		}
	}
}

// Prefetched gathering transfers equal bytes, and every first forward pass waits for them.
func TestGatherAhead(t *testing.T) {
	for _, c := range []struct{ zero, pp, vpp int }{{1, 1, 1}, {2, 2, 1}, {1, 2, 2}} {
		tr := training(t, "llama-2-7b", 2, c.pp, 4)
		tr.ZeRO, tr.VPP = c.zero, c.vpp
		if c.vpp > 1 {
			tr.Schedule = partition.Interleaved
		}
		after, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		tr.GatherAhead = true
		ahead, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		if a, b := volume(after, DataParallel), volume(ahead, DataParallel); math.Abs(a/b-1) > 1e-9 {
			t.Errorf("%+v: %g bytes behind, %g ahead", c, a, b)
		}
		last := func(d *DAG) Class {
			o := d.Ops[len(d.Ops)-1]
			return o.Class
		}
		if last(after) != DataParallel || last(ahead) != Optimizer {
			t.Errorf("%+v: the step ends with %v, ahead with %v", c, last(after), last(ahead))
		}
		for i := range ahead.Ops {
			if o := &ahead.Ops[i]; o.Class == Forward && o.Deps == 0 {
				t.Fatalf("%+v: a forward pass of rank %d waits for no parameters", c, o.Rank)
			}
		}
	}
}

// Recomputation that gathers again transfers the layers, not the head, once more. The number of pieces of a
// gathered layer does not change the bytes.
func TestRegather(t *testing.T) {
	tr := training(t, "llama-2-7b", 2, 1, 4)
	tr.ZeRO, tr.Microbatches, tr.Prefetch, tr.Recompute, tr.Regather = 3, 1, 1, partition.RecomputeFull, true
	ops := 0
	for _, tr.Gathers = range []int{1, 4} {
		d, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		m := tr.Model
		want := 3 * 2 * float64(4*m.Params()-m.Vocab*m.Hidden)
		if got := volume(d, DataParallel); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%d pieces: %.5g bytes, want %.5g", tr.Gathers, got, want)
		}
		if len(d.Ops) <= ops {
			t.Errorf("%d operations in %d pieces", len(d.Ops), tr.Gathers)
		}
		ops = len(d.Ops)
	}
	for path, spoil := range map[string]func(*Training){
		"regather":     func(x *Training) { x.ZeRO = 2 },
		"gathers":      func(x *Training) { x.Gathers = 65 },
		"gather_ahead": func(x *Training) { x.GatherAhead = true },
	} {
		bad := *tr
		spoil(&bad)
		if _, err := bad.Build(); err == nil || field.All(err)[0].Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Sequence parallelism transfers as much as plain tensor parallelism forward, and the gathered tokens once more
// backward (Korthikanti et al. 2022).
func TestSequenceVolume(t *testing.T) {
	plain, sequence := training(t, "llama-2-7b", 8, 1, 1), training(t, "llama-2-7b", 8, 1, 1)
	sequence.Sequence = true
	a, err := plain.Build()
	if err != nil {
		t.Fatal(err)
	}
	b, err := sequence.Build()
	if err != nil {
		t.Fatal(err)
	}
	if got := volume(b, TensorParallel) / volume(a, TensorParallel); math.Abs(got-1.25) > 1e-3 {
		t.Errorf("%.3f times the volume of plain tensor parallelism, want 1.25", got)
	}
}

// A context parallel rank sends its keys and values around the ring once forward, and with their gradients
// backward. An expert parallel rank sends all tokens except those of its own experts, to the experts and back, in
// both passes.
func TestContextAndExpertVolume(t *testing.T) {
	tr := training(t, "llama-3.1-70b", 8, 1, 2)
	tr.CP, tr.Microbatches = 4, 1
	d, err := tr.Build()
	if err != nil {
		t.Fatal(err)
	}
	kv := 2 * 2 * float64(tr.Seq/4*tr.Model.KVHeads*tr.Model.HeadDim/8)
	if got, want := volume(d, ContextParallel), 64*80*kv*(3+2*3+1); math.Abs(got/want-1) > 1e-6 {
		t.Errorf("context: %g bytes, want %g", got, want)
	}
	m, err := model.Parse("moe", []byte(`{"model_type":"mixtral",
		"hidden_size":4096,"num_hidden_layers":4,"num_attention_heads":32,
		"num_key_value_heads":8,
		"intermediate_size":14336,"vocab_size":32000,"max_position_embeddings":32768,
		"num_local_experts":8,"num_experts_per_tok":2}`))
	if err != nil {
		t.Fatal(err)
	}
	tr = training(t, "llama-2-7b", 2, 1, 8)
	tr.Model, tr.EP, tr.Sequence, tr.Microbatches, tr.Experts = m, 4, true, 1, "pairwise"
	if d, err = tr.Build(); err != nil {
		t.Fatal(err)
	}
	each := float64(tr.Seq*m.Hidden*2*2) / 2 // a rank's tokens, for two experts each
	if got, want := volume(d, ExpertParallel), 16*4*4*each*3/4; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("experts: %g bytes, want %g", got, want)
	}
	// Gradients: dense ones are reduced among eight replicas, and experts among the two with equal experts.
	shared, experts := float64(m.Params()-4*m.ExpertParams()), float64(4*m.ExpertParams())
	if got, want := volume(d, DataParallel), 2*2*(7*shared+experts); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("gradients: %g bytes, want %g", got, want)
	}
}

// A step's computation does not depend on its layout, except for recomputation.
func TestComputeIsKept(t *testing.T) {
	want := -1.0
	for i, change := range []func(*Training){
		func(*Training) {}, func(x *Training) { x.CP, x.DP, x.Microbatches = 2, 1, 4 },
		func(x *Training) {
			x.Schedule, x.VPP, x.PP, x.DP = partition.Interleaved, 2, 2,
				1
			x.Microbatches = 4
		},
		func(x *Training) { x.Schedule, x.PP, x.DP = partition.ZeroBubble, 2, 1; x.Microbatches = 4 },
		func(x *Training) { x.TensorOverlap = true }, func(x *Training) { x.ZeRO = 3 },
		func(x *Training) { x.Sequence, x.TP, x.DP = true, 8, 1; x.Microbatches = 4 },
	} {
		tr := training(t, "gpt3-13b", 4, 1, 2)
		tr.Microbatches = 2
		change(tr)
		d, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for j := range d.Ops {
			if o := &d.Ops[j]; o.Class == Forward || o.Class == Backward {
				sum += o.Dur.Seconds()
			}
		}
		if want < 0 {
			want = sum
		}
		if math.Abs(sum/want-1) > 1e-4 {
			t.Errorf("case %d: %.4f GPU seconds, want %.4f", i, sum, want)
		}
	}
}

// Every combination of layout fields builds, or the error names the field.
func TestAnyLayoutBuilds(t *testing.T) {
	m,
		err := model.Parse("small",
		[]byte(`{"model_type":"llama","hidden_size":1024,"num_hidden_layers":8,"num_attention_heads":8,
		"intermediate_size":4096,"vocab_size":1000}`))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		tr := training(t, "llama-3.1-8b", 1, 1, 1)
		tr.Model = m
		pick := func(name string, v ...int) int { return rapid.SampledFrom(v).Draw(rt, name) }
		tr.TP, tr.PP, tr.DP, tr.CP = pick("tp", 1, 2, 8), pick("pp", 1, 2, 4, 5, 10), pick("dp", 1, 2, 4),
			pick("cp", 1, 2, 4)
		tr.Microbatches, tr.VPP, tr.ZeRO, tr.Prefetch, tr.Channels = pick("m", 1, 2, 4),
			pick("vpp", 1, 1, 2, 5), pick("zero", 0, 1, 2, 3), pick("prefetch", 0, 1, 3),
			pick("channels", 1, 2)
		tr.Schedule = rapid.SampledFrom([]string{partition.GPipe, partition.OneFOneB, partition.Interleaved,
			partition.ZeroBubble}).Draw(rt, "schedule")
		tr.Recompute = rapid.SampledFrom([]string{partition.RecomputeNone, partition.RecomputeSelective,
			partition.RecomputeFull}).Draw(rt, "recompute")
		tr.Kernels = rapid.SampledFrom([]string{Flat, Fused, Unfused}).Draw(rt, "kernels")
		tr.Order = rapid.SampledFrom([]string{"", partition.PipelineInside}).Draw(rt, "order")
		tr.Algorithm = rapid.SampledFrom([]string{"",
			coll.ByRing, coll.ByTree, coll.ByHalving, coll.ByRails}).Draw(rt, "algorithm")
		tr.Sequence, tr.Overlap, tr.TensorOverlap, tr.PerServer = rapid.Bool().Draw(rt, "sequence"),
			rapid.Bool().Draw(rt, "overlap"), rapid.Bool().Draw(rt, "tensor overlap"), 8
		tr.Fold = rapid.Bool().Draw(rt, "fold")
		tr.Gathers = pick("gathers", 1, 1, 4)
		tr.GatherAhead = (tr.ZeRO == 1 || tr.ZeRO == 2) && rapid.Bool().Draw(rt, "gather ahead")
		tr.Regather = tr.ZeRO == 3 && tr.Recompute == partition.RecomputeFull &&
			rapid.Bool().Draw(rt, "regather")
		tr.NVLink, tr.NVLatency = 3600*unit.Gbps, unit.Microsecond
		d, err := tr.Build()
		if err != nil {
			if field.All(err) == nil {
				rt.Fatal(err)
			}
			return
		}
		if got := float64(len(d.Ops)); got > 1.3*tr.size()+1e5 {
			rt.Fatalf("%g operations, estimated %g", got, tr.size())
		}
		for i := range d.Ops {
			if o := &d.Ops[i]; int(o.Rank) >= d.Ranks || int(o.Peer) >= d.Ranks || o.Dur < 0 || o.Bytes < 0 {
				rt.Fatalf("%+v", o)
			}
		}
	})
}

// A channel's ring visits every rank once, and leaves each server where it enters the next.
func TestChannelOrder(t *testing.T) {
	ranks := make([]int, 32)
	for i := range ranks {
		ranks[i] = i
	}
	for c := range 8 {
		order := coll.ChannelOrder(ranks, coll.Even(8), c)
		seen := map[int]bool{}
		for i, at := range order {
			seen[at] = true
			next := order[(i+1)%len(order)]
			if at/8 != next/8 && at%8 != next%8 {
				t.Errorf("channel %d crosses from place %d to place %d", c, at%8, next%8)
			}
		}
		if len(seen) != 32 {
			t.Errorf("channel %d: %v", c, order)
		}
	}
	if got := fmt.Sprint(coll.ChannelOrder([]int{0, 8, 16}, coll.Even(8), 3)); got != "[0 1 2]" {
		t.Errorf("one rank per server: %s", got)
	}
}

// Two versions of the weights: over n steps the pipeline fills and drains once. The bubble is (p-1)/m of one step's
// work and (p-1)/(n m) of all steps, and computation is n times that of a step.
func TestTwoVersions(t *testing.T) {
	for _, c := range []struct{ p, m, n int }{{4, 4, 2}, {4, 8, 3}, {8, 8, 4}, {2, 16, 2}, {1, 1, 2}} {
		tr := pipeline(t, partition.TwoVersions, c.p, c.m, 1)
		tr.Steps = c.n
		d, err := tr.Build()
		if err != nil {
			t.Fatal(err)
		}
		updates := 0
		for i := range d.Ops {
			if d.Ops[i].Class == Optimizer && d.Ops[i].Rank == 0 {
				updates++
			}
		}
		// the last stage's updates are also between its passes, so each costs the pipeline its time once
		works := unit.Time(0)
		for i := range d.Ops {
			if o := &d.Ops[i]; o.Rank == 0 && o.Compute() {
				works += o.Dur
			}
		}
		if updates != c.n {
			t.Errorf("%+v: %d updates", c, updates)
		}
		flushed := pipeline(t, partition.OneFOneB, c.p, c.m, 1)
		flushed.Steps = c.n
		f, err := flushed.Build()
		if err != nil {
			t.Fatal(err)
		}
		k := tr.kernels()
		layers := unit.Time(48 / c.p)
		pass := layers * (k.proj.forward + k.core.forward + k.mlp.forward + k.proj.backward() +
			k.core.backward() + k.mlp.backward())
		fill := unit.Time(c.p-1) * pass
		got, want := f.Critical()-works, unit.Time(c.n)*fill
		if math.Abs(float64(got-want)) > 1e-3*float64(want) {
			t.Errorf("%+v: steps that flush wait %v, want %v", c, got, want)
		}
		// an update in the middle may be on the critical path of others, at most one each
		update := tr.OptimizerTime(func() float64 { d, s := tr.StageParams(0); return d + s }())
		if got := d.Critical() - works; got < fill-unit.Microsecond ||
			got > fill+unit.Time(c.n*c.p)*update+unit.Microsecond {
			t.Errorf("%+v: steps that do not wait %v, want %v", c, got, fill)
		}
	}
}

// A step's first forward pass on a stage follows the update by the step before the last, and precedes the update by
// the last step. That is the purpose of the second version.
func TestTwoVersionsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.IntRange(1, 8).Draw(t, "p")
		l := partition.Layout{PP: p, VPP: 1, Microbatches: p + rapid.IntRange(0, 8).Draw(t, "more"),
			Steps: rapid.IntRange(2, 6).Draw(t, "steps"), Schedule: partition.TwoVersions}
		for stage := range p {
			updated, held, back := 0, 0, 0
			for _, x := range passes(l, stage) {
				switch x.kind {
				case updatePass:
					if x.micro != updated || back < (x.micro+1)*l.Microbatches {
						t.Fatalf("%+v stage %d: update %d comes behind %d others and %d backward passes", l,
							stage, x.micro, updated, back)
					}
					updated++
				case forwardPass:
					if held++; updated != max(0, x.micro/l.Microbatches-1) {
						t.Fatalf("%+v stage %d: microbatch %d finds %d updates", l, stage, x.micro, updated)
					}
				case backwardPass:
					held--
					back++
				}
				if float64(held) > l.InFlight(stage) {
					t.Fatalf("%+v stage %d keeps %d microbatches", l, stage, held)
				}
			}
			if updated != l.Steps || back != l.Steps*l.Microbatches {
				t.Fatalf("%+v stage %d: %d updates, %d backward passes", l, stage, updated, back)
			}
		}
	})
}
