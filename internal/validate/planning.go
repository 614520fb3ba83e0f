package validate

import (
	"fmt"

	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/unit"
)

const fabricsSeed = `seed "GPU fabrics for GenAI workloads"`

// sizing computes the source's tables and published training times.
func sizing() ([]Row, error) {
	var rows []Row
	for n := 1; n <= planner.SeedTables; n++ {
		table, _ := must2(planner.SeedTable(n))
		for _, r := range table {
			rows = append(rows,
				exact(fmt.Sprintf("GPUs for %s, %g billion parameters, on %s at %g TFLOPS", r.Model, r.Params,
					r.GPU, r.TFLOPs),
					fmt.Sprintf("%s, table %d", fabricsSeed, n), r.Published, r.GPUs))
		}
	}
	gpu := must(model.FindGPU("a100"))
	for _, c := range []struct {
		name            string
		p, tok, x, gpus float64
		days            float64
	}{
		{"GPT-3 on 1,024 A100", 175e9, 300e9, 140e12, 1024, 34},
		{"a trillion parameters on 3,072 A100", 1008e9, 450e9, 163e12, 3072, 84},
	} {
		s := must(planner.SizeInput{Params: c.p, Tokens: c.tok, PerToken: planner.RuleRecomputed, GPU: gpu,
			Peak: c.x, Utilisation: 1, GPUs: int64(c.gpus)}.Solve())
		rows = append(rows, within("days to train "+c.name, "Narayanan et al. SC'21, section 5.1", c.days,
			s.Seconds/86400, 0.01, "%.1f"))
	}
	return rows, nil
}

// fabrics designs the source documents' fabrics from their switches.
func fabrics() ([]Row, error) {
	prices := must(planner.ParsePrices("", nil))
	fixed := planner.SwitchModel{Ports: 128, Rate: 400}
	var rows []Row
	for _, c := range []struct {
		claim, source, name string
		gpus                int
		leaf, top           planner.SwitchModel
		ratio               float64
	}{
		{"GPUs on rail-only 128x400G switches", "figure 8", "rail-only", 1024, fixed, fixed, 1},
		{"GPUs with rails and spines at 1:1", "figure 9", "rail-spine", 1024, fixed, fixed, 1},
		{"GPUs with rails and spines at 1:1", "figure 10", "rail-spine", 2048, fixed, fixed, 1},
		{"GPUs in pods at 7:1", "figure 11 (28K)", "rail-pods", 28672, fixed, fixed, 7},
		{"GPUs in pods at 7:1, 288x400G chassis above", "figure 12 (32K)", "rail-pods", 32768, fixed,
			planner.SwitchModel{Ports: 288, Rate: 400}, 7},
		{"GPUs on one modular chassis", "figure 13", "single-switch", 1152,
			planner.SwitchModel{Ports: 1152, Rate: 400}, fixed, 1},
	} {
		all := must(planner.Fabrics(planner.FabricInput{GPUs: c.gpus, PerServer: 8, NICRate: 400,
			Leaf: c.leaf, Top: c.top, Ratio: c.ratio, Prices: prices}))
		for _, d := range all {
			if d.Name == c.name {
				rows = append(rows, exact(c.claim, fabricsSeed+", "+c.source, c.gpus, d.GPUs))
			}
		}
	}
	pods, err := superPODs()
	return append(rows, pods...), err
}

// planeCounts designs published fabrics of several planes from their switches.
func planeCounts() ([]Row, error) {
	prices := must(planner.ParsePrices("", nil))
	count := func(name string, gpus, nicPorts, ports int) (int, error) {
		s := planner.SwitchModel{Ports: ports, Rate: 400}
		all, err := planner.Fabrics(planner.FabricInput{GPUs: gpus, PerServer: 8, NICRate: 400,
			NICPorts: nicPorts, Leaf: s, Top: s, Ratio: 1, Prices: prices})
		for _, d := range all {
			if d.Name == name {
				return d.Switches(), err
			}
		}
		return 0, err
	}
	deepseek := must(count("rail-planes", 16_384, 1, 64))
	hpn := must(count("port-planes", 15_360, 2, 128))
	rows := []Row{
		exact("switches of a multi-plane fat tree, 16,384 GPUs, 64 ports",
			"DeepSeek-AI, arXiv 2505.09343, table 3", 768, deepseek),
		within("switches of a dual-plane pod, 15,360 GPUs, at 1:1 (theirs 1.07:1)",
			"Qian et al., Alibaba HPN, SIGCOMM 2024", 360, float64(hpn), 0.03, "%.0f"),
	}
	more, err := topologies()
	return append(rows, more...), err
}

// switchCounts compares designs of 28,672 GPUs on switches of 128 ports.
func switchCounts() ([]Row, error) {
	prices := must(planner.ParsePrices("", nil))
	s := planner.SwitchModel{Ports: 128, Rate: 400}
	all := must(planner.Fabrics(planner.FabricInput{GPUs: 28_672, PerServer: 8, NICRate: 400, Leaf: s, Top: s,
		Ratio: 1, Prices: prices}))
	n := map[string]int{}
	for _, d := range all {
		n[d.Name] = d.Switches()
	}
	return []Row{
		{Claim: "switches of a dragonfly, 28,672 GPUs", Source: fabricsSeed +
			", figure 14: fewer than leaf and spine",
			Expected: fmt.Sprintf("< %d", n["fat-tree"]), Ours: fmt.Sprint(n["dragonfly"]), Diff: "-",
			OK: n["dragonfly"] < n["fat-tree"]},
		exact("the same, a = 2p = 2h = 64, 14 groups", "Kim et al. 2008: a g switches", 14*64, n["dragonfly"]),
		exact("switches of seven pods of a 128-ary fat tree",
			"Al-Fares et al. 2008: k per pod, four cores per group", 7*128+4*64, n["fat-tree"]),
	}, nil
}

// traffic is the matrix of a GPT-3 step on 1,024 GPUs. Tensor and pipeline traffic grow with the number of
// microbatches, and data parallel traffic does not. The function builds one microbatch and multiplies its traffic
// for the published batch of 1,536 sequences.
func traffic() ([]Row, error) {
	const replicas, batch = 16, 1536
	r := must(start(fmt.Sprintf(`
fabric: {kind: rail, hosts: 64, segments: 2, spines: 8, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
workload: {training: {model: gpt3-175b, tp: 8, pp: 8, dp: %d, micro_batch: 1, global_batch: %d,
  sequence: 2048}}
`, replicas, replicas)))
	t := must(planner.Matrix(r.Exec.DAG, r.Graph))
	model := float64(t.Kinds[planner.KindTensor]+t.Kinds[planner.KindPipeline]) * batch / replicas
	share := model / (model + float64(t.Kinds[planner.KindData]))
	const source = fabricsSeed + ", rail-only topologies (GPT-3; its setting has 256 GPUs per NVLink domain, the simulated one 8)"
	atLeast := func(claim string, want, got float64) Row {
		return Row{Claim: claim, Source: source, Expected: fmt.Sprintf("at least %.0f %%", 100*want),
			Ours: fmt.Sprintf("%.2f %%", 100*got), Diff: "bound", OK: got >= want}
	}
	return []Row{atLeast("GPU pairs that carry nothing in a step of GPT-3 on 1,024 GPUs", 0.99, t.Silent()),
		atLeast("bytes of that step that are tensor or pipeline parallel, batch 1,536", 0.90, share)}, nil
}

// memory computes published memory figures.
func memory() ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		name       string
		params     float64
		efficiency float64
		want       int64
	}{
		{"states of GPT-3", 175e9, 1, 35}, {"states of GPT-4", 1500e9, 1, 300},
		{"GPT-4 at 75 % efficiency", 1500e9, 0.75, 400},
	} {
		rows = append(rows, exact("80 GB GPUs that hold the "+c.name, fabricsSeed, c.want,
			partition.Fits(c.params, partition.StateBytes, 80*unit.GB, c.efficiency)))
	}
	m := must(model.Builtin("gpt3-175b"))
	for _, c := range []struct {
		tp        int
		sequence  bool
		recompute string
		gb        float64
	}{{1, false, partition.RecomputeNone, 2.87}, {8, false, partition.RecomputeNone, 0.579},
		{8, true, partition.RecomputeNone, 0.359},
		{8, true, partition.RecomputeSelective, 0.107}, {8, false, partition.RecomputeFull, 0.050}} {
		l := partition.Layout{TP: c.tp, PP: 1, DP: 1, CP: 1, EP: 1, VPP: 1, Sequence: c.sequence,
			Recompute: c.recompute, Schedule: partition.OneFOneB, Micro: 1, Microbatches: 1, Seq: 2048,
			Unfused: true}
		rows = append(rows,
			within(fmt.Sprintf("GB of activations per layer of GPT-3, tp %d, sequence parallel %v, recompute %s", c.tp, c.sequence, c.recompute),
				"Korthikanti et al. 2022, table 2 (docs/references.md, activations)", c.gb, l.LayerActivations(m)/1e9,
				0.01, "%.3f"))
	}
	for stage, want := range []float64{120, 31.4, 16.6, 1.9} {
		got := partition.ZeROBytes(7.5e9, 64, stage) / 1e9
		rows = append(rows,
			within(fmt.Sprintf("GB of states per GPU, 7.5 billion parameters on 64 GPUs, ZeRO %d", stage),
				"Rajbhandari et al. SC'20, figure 1", want, got, 0.015, "%.1f"))
	}
	return append(rows, zeroTable()...), nil
}
