package validate

import (
	"fmt"
	"math"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/workload"
	"railyard/unit"
)

// gpt is a GPT of Megatron's papers: sequences of 2,048 tokens, 51,200 words.
type gpt struct{ heads, hidden, layers int64 }

func (g gpt) config() (*model.Config, error) {
	return model.Parse("gpt",
		fmt.Appendf(nil,
			`{"model_type":"gpt2","n_embd":%d,"n_layer":%d,"n_head":%d,"n_positions":2048,
			  "vocab_size":51200}`, g.hidden, g.layers, g.heads))
}

// flops returns the papers' count of a step's operations, with recomputation (Narayanan et al., SC'21, equation 3).
func (g gpt) flops(batch int64) float64 {
	h, l := float64(g.hidden), float64(g.layers)
	return 96 * float64(batch) * 2048 * l * h * h * (1 + 2048/(6*h) + 51200/(16*l*h))
}

// selene is the cluster of the papers. Each server has eight A100 GPUs with a 200G NIC each, on adaptively routed
// InfiniBand without oversubscription. Latencies are NCCL's for a hop with protocol Simple (docs/references.md,
// nccl-tuning).
func selene(gpus int) planner.Site {
	g := model.GPUs["a100"]
	return planner.Site{GPU: g, GPUs: gpus, PerServer: 8, NVLink: g.NVLink, NIC: g.NIC,
		Latency: 14 * unit.Microsecond, NVLatency: 3400 * unit.Nanosecond,
		Ratio: 1, Upper: 1, Segment: 20, Uplinks: 20, Uplink: g.NIC, Spread: true, QPs: 1}
}

// megatron estimates a published step with the kernels and the full recomputation of 2021. Gradients are reduced
// after the last microbatch. The table gives neither microbatch nor interleaving, so megatron takes the fastest
// that fit the memory.
func megatron(g gpt, base partition.Layout, batch int64, efficiency float64, micros []int64) (tflops float64,
	best planner.Candidate, err error) {
	m := must(g.config())
	best.Seconds = math.Inf(1)
	base.CP, base.EP = 1, 1
	gpus := base.GPUs()
	t := workload.NewTraining()
	t.Model, t.GlobalBatch, t.Seq = m, batch, 2048
	t.Efficiency, t.Kernels = 100*efficiency, workload.Unfused
	if base.ZeRO < 3 {
		t.Overlap = false
	} else {
		t.Gathers, t.Regather, t.Channels = 4, true, 1
	}
	in := planner.SearchInput{Training: t, Site: selene(gpus)}
	for _, vpp := range []int{1, 2, 3, 4, 5, 6, 8} {
		for _, micro := range micros {
			l := base
			l.VPP, l.Recompute, l.Schedule, l.Micro, l.Seq = vpp, partition.RecomputeFull,
				partition.OneFOneB, micro, 2048
			if vpp > 1 {
				l.Schedule = partition.Interleaved
			}
			if l.Microbatches = int(batch / int64(l.DP) / micro); l.Check(m) != nil || l.Global() != batch {
				continue
			}
			if w, err := l.Worst(m); err != nil || w.Total() > in.Site.GPU.Usable {
				continue
			}
			if c := in.Estimate(l); c.Seconds < best.Seconds {
				best = c
			}
		}
	}
	if math.IsInf(best.Seconds, 1) {
		return 0, best, fmt.Errorf("no layout of %v fits", base)
	}
	return g.flops(batch) / best.Seconds / float64(gpus) / 1e12, best, nil
}

// solve finds the efficiency at which a rising function reaches a value.
func solve(want float64, f func(efficiency float64) (float64, error)) (float64, error) {
	low, high := 0.05, 1.0
	for range 40 {
		mid := (low + high) / 2
		got, err := f(mid)
		if err != nil {
			return 0, err
		}
		if got < want {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2, nil
}

var anyMicro = []int64{1, 2, 4, 8, 16}

// throughput estimates Megatron's table 1 and its comparison with ZeRO-3. One number is the paper's: the share of
// the peak that matrix products reach. It is from the first row, which uses only data parallelism. The others
// follow.
func throughput(large bool) ([]Row, error) {
	table := []struct {
		billions   float64
		g          gpt
		tp, pp, dp int
		batch      int64
		tflops     float64
	}{{1.7, gpt{24, 2304, 24}, 1, 1, 32, 512, 137}, {3.6, gpt{32, 3072, 30}, 2, 1, 32, 512, 138},
		{7.5, gpt{32, 4096, 36}, 4, 1, 32, 512, 142},
		{18.4, gpt{48, 6144, 40}, 8, 1, 32, 1024, 135}, {39.1, gpt{64, 8192, 48}, 8, 2, 32, 1536, 138},
		{76.1, gpt{80, 10240, 60}, 8, 4, 32, 1792, 140},
		{145.6, gpt{96, 12288, 80}, 8, 8, 24, 2304, 148}, {310.1, gpt{128, 16384, 96}, 8, 16, 15, 2160, 155},
		{529.6, gpt{128, 20480, 105}, 8, 35, 9, 2520, 163},
		{1008, gpt{160, 25600, 128}, 8, 64, 6, 3072, 163}}
	first := table[0]
	efficiency := must(solve(first.tflops, func(e float64) (float64, error) {
		t, _, err := megatron(first.g, partition.Layout{TP: first.tp, PP: first.pp, DP: first.dp},
			first.batch, e, anyMicro)
		return t, err
	}))
	var rows []Row
	for _, r := range table[1:] {
		got, _ := must2(megatron(r.g, partition.Layout{TP: r.tp, PP: r.pp, DP: r.dp}, r.batch, efficiency, anyMicro))
		rows = append(rows, within(fmt.Sprintf("TFLOP/s per GPU, GPT of %g billion on %d A100, tp %d, pp %d",
			r.billions, r.tp*r.pp*r.dp, r.tp, r.pp),
			fmt.Sprintf("Narayanan et al. SC'21, table 1; efficiency %.0f %% from its first row",
				100*efficiency), r.tflops, got, 0.1, "%.0f"))
	}
	if large { // 140 million packet-hops
		rows = append(rows, must(simulatedStep(table[3].g, efficiency, table[3].tflops)))
	}
	zero, err := againstZeRO(efficiency)
	return append(rows, zero...), err
}

// simulatedStep runs the 18.4 billion row packet by packet: one rail of 32 servers.
func simulatedStep(g gpt, efficiency, want float64) (Row, error) {
	const batch = 1024
	text := fmt.Sprintf(`
fabric: {kind: rail, hosts: 32, spines: 1, uplinks: 1, host_link: {rate: 200Gbps, cable: 10m}}
server: {gpu: a100, gpus: 1, nics: 1, nvlink_latency: 3400ns}
workload: {training: {model: gpt.json, tp: 8, dp: 32, micro_batch: 16, global_batch: %d, efficiency: %.4f,
  kernels: unfused, recompute: full, overlap: false, fold: true}}
`, batch, 100*efficiency)
	m := fmt.Appendf(nil,
		`{"model_type":"gpt2","n_embd":%d,"n_layer":%d,"n_head":%d,"n_positions":2048,"vocab_size":51200}`,
		g.hidden, g.layers, g.heads)
	r := must(startWith(text, func(string) ([]byte, error) { return m, nil }))
	do(r.Go(nil))
	s, _, _ := r.Outcome("")
	return within("the same of 18.4 billion, one rail of it simulated packet by packet",
		"Narayanan et al. SC'21, table 1", want, g.flops(batch)/unit.Time(s.StepTime).Seconds()/256/1e12,
		0.1, "%.0f"), nil
}

// deepspeed estimates ZeRO-3 as DeepSpeed ran it: with one ring and one gather per weight matrix. Recomputation and
// gradients each gather the layers again, because layers hold more than the 10^9 parameters of
// stage3_max_reuse_distance.
func deepspeed(g gpt, gpus int, micro, batch int64, efficiency float64) (float64, error) {
	t, _, err := megatron(g, partition.Layout{TP: 1, PP: 1, DP: gpus, ZeRO: 3}, batch, efficiency, []int64{micro})
	return t, err
}

// againstZeRO compares partitioning with ZeRO-3 on as many GPUs. ZeRO-3's kernels are DeepSpeed's, so their
// efficiency is taken from the first row of the column of ZeRO-3. The other five rows follow from it.
func againstZeRO(efficiency float64) ([]Row, error) {
	const source = "Narayanan et al. SC'21, table 2"
	small, large := gpt{96, 12288, 96}, gpt{128, 20480, 105}
	table := []struct {
		name          string
		g             gpt
		pp, dp        int
		batch         int64
		want          float64
		zGPUs         int
		zMicro, zSize int64
		zWant         float64
	}{
		{"175 billion", small, 12, 4, 1536, 153, 384, 4, 1536, 144},
		{"175 billion", small, 12, 8, 1536, 149, 768, 2, 1536, 88},
		{"175 billion", small, 12, 16, 1536, 141, 1536, 1, 1536, 44},
		{"530 billion", large, 35, 2, 2240, 171, 640, 4, 2560, 138},
		{"530 billion", large, 35, 4, 2240, 167, 1120, 2, 2240, 98},
		{"530 billion", large, 35, 8, 2240, 159, 2240, 1, 2240, 48},
	}
	first := table[0]
	theirs := must(solve(first.zWant, func(e float64) (float64, error) {
		return deepspeed(first.g, first.zGPUs, first.zMicro, first.zSize, e)
	}))
	var rows []Row
	for i, r := range table {
		ours, _ := must2(megatron(r.g, partition.Layout{TP: 8, PP: r.pp, DP: r.dp}, r.batch, efficiency, []int64{1}))
		rows = append(rows, within(fmt.Sprintf("TFLOP/s per GPU, GPT of %s on %d A100, tp 8, pp %d", r.name,
			8*r.pp*r.dp, r.pp), source, r.want, ours, 0.1, "%.0f"))
		if i == 0 {
			continue // theirs is derived from it
		}
		zero := must(deepspeed(r.g, r.zGPUs, r.zMicro, r.zSize, theirs))
		rows = append(rows,
			within(fmt.Sprintf("TFLOP/s per GPU, GPT of %s on %d A100, ZeRO 3, one ring", r.name, r.zGPUs),
				fmt.Sprintf("%s; efficiency %.0f %% from its first row", source, 100*theirs), r.zWant, zero,
				0.1, "%.0f"),
			Row{Claim: fmt.Sprintf("partitioning beats ZeRO 3 for %s on %d GPUs", r.name, r.zGPUs),
				Source: source, Expected: fmt.Sprintf("%.0f > %.0f", r.want, r.zWant),
				Ours: fmt.Sprintf("%.0f, %.0f", ours, zero), Diff: "order", OK: ours > zero})
	}
	return rows, nil
}

// llama3 estimates Llama 3 405B's utilisation. The efficiency is again that of the first row. The other rows follow
// from its pipeline, context ring and replicas.
func llama3() ([]Row, error) {
	m := must(model.Builtin("llama-3.1-405b"))
	h := model.GPUs["h100"]
	mfu := func(cp, dp, microbatches int, seq int64, efficiency float64) (float64, error) {
		l := partition.Layout{TP: 8, PP: 16, DP: dp, CP: cp, EP: 1, VPP: 8,
			Recompute: partition.RecomputeSelective, Schedule: partition.Interleaved, Sequence: true,
			Order: partition.PipelineInside, ZeRO: 2, Micro: 1, Microbatches: microbatches, Seq: seq}
		t := workload.NewTraining()
		t.Model, t.Seq = m, seq
		t.Efficiency, t.Kernels = 100*efficiency, workload.Fused
		in := planner.SearchInput{Training: t,
			Site: planner.Site{GPU: h, GPUs: l.GPUs(), PerServer: 8, NVLink: h.NVLink, NIC: h.NIC,
				Latency: 5 * unit.Microsecond, NVLatency: unit.Microsecond,
				Ratio: 1, Upper: 7, Pod: 384, Segment: 2, Uplinks: 2, Uplink: h.NIC, Spread: true, QPs: 16}}
		return in.Estimate(l).MFU, l.Check(m)
	}
	efficiency := must(solve(0.43, func(e float64) (float64, error) { return mfu(1, 64, 32, 8192, e) }))
	var rows []Row
	for _, r := range []struct {
		gpus, cp, dp int
		seq          int64
		want         float64
	}{{16384, 1, 128, 8192, 0.41}, {16384, 16, 8, 131072, 0.38}} {
		got := must(mfu(r.cp, r.dp, 16, r.seq, efficiency))
		rows = append(rows,
			Row{Claim: fmt.Sprintf("MFU of Llama 3 405B on %d H100, tp 8, cp %d, pp 16, dp %d, %d tokens",
				r.gpus, r.cp, r.dp, r.seq),
				Source:   fmt.Sprintf("Llama 3 paper, table 4 (dp 4 there is a misprint); one layer per model chunk; efficiency %.0f %% from its first row", 100*efficiency),
				Expected: fmt.Sprintf("%.0f %%", 100*r.want), Ours: fmt.Sprintf("%.1f %%", 100*got),
				Diff: fmt.Sprintf("%+.1f points", 100*(got-r.want)), OK: math.Abs(got-r.want) <= 0.03})
	}
	return rows, nil
}

// bubbles builds pipelines whose transfers take no time.
func bubbles() ([]Row, error) {
	m := must(model.Parse("pipeline",
		[]byte(
			`{"model_type":"llama","hidden_size":4096,"num_hidden_layers":48,"num_attention_heads":32,
			  "intermediate_size":11008,"vocab_size":1}`)))
	var rows []Row
	for _, c := range []struct {
		schedule string
		p, m, v  int
		want     float64
		source   string
	}{{partition.OneFOneB, 4, 8, 1, 0.375, "(p-1)/m"}, {partition.OneFOneB, 8, 8, 1, 0.875, "(p-1)/m"},
		{partition.OneFOneB, 8, 32, 1, 0.219, "(p-1)/m"}, {partition.OneFOneB, 16, 128, 1, 0.117, "(p-1)/m"},
		{partition.GPipe, 8, 32, 1, 0.219, "(p-1)/m"}, {partition.Interleaved, 8, 32, 2, 0.109,
			"(p-1)/(v m)"}, {partition.ZeroBubble, 8, 32, 1, 0, "(p-1)(F+B-W), Qi et al. 2023, ZB-H1"}} {
		t := workload.Training{Layout: partition.Layout{TP: 1, PP: c.p, DP: 1, CP: 1, EP: 1, VPP: c.v,
			Recompute: partition.RecomputeSelective, Schedule: c.schedule, Micro: 1,
			Microbatches: c.m, Seq: 2048},
			Model: m, GPU: model.GPUs["h100"], Bucket: unit.GB, Efficiency: 50, Channels: 1}
		d := must(t.Build())
		f, b, _ := t.LayerTimes()
		work := unit.Time(48/c.p*c.m) * (f + b)
		want := c.want
		if c.schedule == partition.ZeroBubble {
			want = float64(c.p-1) * float64(f+b-2*t.WeightTime()) / float64(unit.Time(c.m)*(f+b))
		}
		dense, _ := t.StageParams(0)
		got := float64(d.Critical()-t.OptimizerTime(dense)-work) / float64(work)
		rows = append(rows,
			Row{Claim: fmt.Sprintf("bubble of %s over ideal time, %d stages, %d microbatches, %d chunks",
				c.schedule, c.p, c.m, c.v), Source: c.source + " (docs/references.md, bubble)",
				Expected: fmt.Sprintf("%.3f", want), Ours: fmt.Sprintf("%.3f", got),
				Diff: fmt.Sprintf("%+.4f", got-want), OK: math.Abs(got-want) < 6e-4})
	}
	return rows, nil
}
