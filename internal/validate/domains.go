package validate

import (
	"fmt"

	"railyard/internal/planner"
	"railyard/unit"
)

// figure7 is GPT-3 on 1,024 GPUs in NVLink domains of 256. GPUs at the same place of their domains share a rail
// switch.
const figure7 = `
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: h100, gpus: 256, nics: 256}
workload: {training: {model: gpt3-175b, tp: 8, pp: 8, dp: %d, order: tp-cp-pp-dp, micro_batch: 1,
  global_batch: %[1]d, sequence: 2048}}
`

// domainRows are NVLink domains larger than a server, or equal to it.
func domainRows(large bool) ([]Row, error) {
	rows := must(figure7Rows())
	if large {
		rows = append(rows, must(spinesForRails())...)
	}
	for _, d := range []struct {
		gpu, source string
		each, of    int // GPUs of a server, and of a domain
		want        float64
	}{{"h100", "NVIDIA, DGX GH200: 256 GPUs on NVLink; 18 x 20.6 GB/s for kernels (nccl, topo.h)", 1, 256, 370.8},
		{"gb200", "NVIDIA, GB200 NVL72; 18 x 40.1 GB/s for kernels (nccl, topo.h)", 4, 72, 721.8},
		{"gb300", "NVIDIA: up to 576 GPUs on NVLink; 18 x 40.1 GB/s for kernels (nccl, topo.h)", 4, 576, 721.8}} {
		got := must(acrossDomain(d.gpu, d.each, d.of))
		rows = append(rows, within(fmt.Sprintf("%s: from the first to the last GPU of a domain of %d", d.gpu, d.of),
			d.source, d.want, got, 0.002, "%.1f GB/s"))
	}
	for _, c := range []struct {
		choice string
		nics   float64
	}{{"own", 1}, {"any", 8}} {
		got := must(byNICs(c.choice))
		rows = append(rows,
			within(fmt.Sprintf("a GPU to one at its place in another server, 8 x 400G, nic_choice %s",
				c.choice), "line rate less headers", c.nics*50*4096/4178, got, 0.005, "%.1f GB/s"))
	}
	return rows, nil
}

// byNICs returns the rate from a GPU to one in another server, by a choice of NICs, in GB/s.
func byNICs(choice string) (float64, error) {
	const bytes = 1 * unit.GiB
	r := must(finish(fmt.Sprintf(`
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: h100, nic_choice: %s}
workload: {traffic: {flows: [{from: host-1/gpu-3, to: host-2/gpu-3, bytes: %v}]}}
`, choice, bytes)))
	return float64(bytes) / r.Exec.End[0].Seconds() / 1e9, nil
}

// figure7Rows counts the transfers of figure 7. Tensor and pipeline traffic grow with the number of microbatches,
// and data parallel traffic does not. The function builds one microbatch and multiplies its traffic for a batch of
// 1,536 sequences.
func figure7Rows() ([]Row, error) {
	const replicas, batch = 16, 1536
	const source = fabricsSeed + ", rail-only topologies and figure 7: GPT-3, NVLink domains of 256"
	r := must(start(fmt.Sprintf(figure7, replicas)))
	t := must(planner.Matrix(r.Exec.DAG, r.Graph))
	const more = batch / replicas
	model := float64(t.Kinds[planner.KindTensor]+t.Kinds[planner.KindPipeline]) * more
	data, inside := float64(t.Kinds[planner.KindData]), float64(t.ByTier[planner.InServer][planner.KindData])
	share := (model + inside) / (model + data)
	return []Row{
		{Claim: "GPU pairs that carry nothing in a step on 1,024 GPUs, domains of 256", Source: source,
			Expected: "at least 99 %", Ours: fmt.Sprintf("%.2f %%", 100*t.Silent()), Diff: "bound",
			OK: t.Silent() >= 0.99},
		{Claim: "bytes of that step that are tensor or pipeline parallel, or data parallel in a domain",
			Source: source, Expected: "over 90 %", Ours: fmt.Sprintf("%.2f %%", 100*share), Diff: "bound",
			OK: share > 0.9},
	}, nil
}

// spinesForRails compares GPT-3 on rail switches alone with GPT-3 on the same switches under spines.
func spinesForRails() ([]Row, error) {
	const text = `
fabric: {%s, host_link: {rate: 400Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpu: h100, gpus: %d, nics: %[2]d}
workload: {training: {%s, micro_batch: 1, global_batch: 8, sequence: 2048}}
output: {sample: 10ms}
`
	step := func(fabric string, gpus int, training string) (float64, error) {
		r := must(finish(fmt.Sprintf(text, fabric, gpus, training)))
		s, _, _ := r.Outcome("")
		return unit.Time(s.StepTime).Seconds() * 1e3, nil
	}
	const source = "Wang et al., Rail-only, arXiv 2307.12169: the same iteration time without spines"
	var rows []Row
	for _, c := range []struct {
		name     string
		gpus     int
		training string
	}{{"GPT-3 175B, tp 8, pp 8, 64 GPUs", 8, "model: gpt3-175b, tp: 8, pp: 8, dp: 1"},
		{"GPT-3 125M, tp 4, dp 8, 32 GPUs", 4, "model: gpt3-125m, tp: 4, pp: 1, dp: 8"}} {
		only := must(step("kind: rail-only, hosts: 8", c.gpus, c.training))
		for _, with := range []struct{ claim, fabric string }{
			{"with spines", "kind: rail, hosts: 8, spines: 8"},
			{"in two segments connected by spines", "kind: rail, hosts: 4, segments: 2, spines: 8"}} {
			spines := must(step(with.fabric, c.gpus, c.training))
			rows = append(rows, within(c.name+": step on rail switches alone, ms; next to it "+with.claim,
				source,
				spines, only, 0.01, "%.3f"))
		}
	}
	return rows, nil
}

// acrossDomain returns the rate from the first GPU of an NVLink domain to the last, in GB/s.
func acrossDomain(gpu string, each, of int) (float64, error) {
	const bytes = 512 * unit.MiB
	r := must(finish(fmt.Sprintf(`
fabric: {kind: rail-only, hosts: %d, host_link: {rate: 400Gbps, cable: 3m}}
server: {gpu: %s, gpus: %d, nics: %[3]d, nvlink_domain: %d}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-%[1]d/gpu-%[3]d, bytes: %[5]v}]}}
`, of/each, gpu, each, of, bytes)))
	return float64(bytes) / r.Exec.End[0].Seconds() / 1e9, nil
}
