package validate

import (
	"fmt"

	"railyard/scenarios"
	"railyard/unit"
)

// Two servers of two GPUs, with storage.
const storedScenario = `
name: storage
fabric: {kind: rail, hosts: 2, spines: 2}
server: {gpus: 2, nics: 2}
cc: {algorithm: none}
storage: {nics: 2, nic_rate: 100Gbps, depth: 32, request: 256KiB, network: separate, %s}
workload: {%s}
`

// payload is the share of the wire that a full packet's payload has: headers, preamble and gap are 82 bytes.
const payload = 4096. / (4096 + middleFrame + wireGap)

// storageRows compare reads, batches and checkpoints with bytes over rates.
func storageRows() ([]Row, error) {
	const source = "closed form: bytes over the slowest rate on their path"
	took := func(storage, work string) (float64, error) {
		r := must(finish(fmt.Sprintf(storedScenario, storage, work)))
		return r.Net.Q.Now().Seconds() * 1e3, nil
	}
	const reads = "traffic: {storage: {read: 64MiB}}"
	const all = 4 * 64 * float64(unit.MiB)
	var rows []Row
	for _, c := range []struct {
		claim, storage string
		rate           float64
	}{
		{"4 GPUs read 64 MiB each, ms: media of 4 GB/s in each of two servers",
			"servers: 2, read: 4GB/s", 8e9},
		{"the same: a NIC of 100 Gbit/s for storage in each GPU server", "servers: 2", 2 * 12.5e9 * payload},
		{"the same: one storage server of two such NICs, and two NICs in each GPU server",
			"servers: 1, server_nics: 2", 2 * 12.5e9 * payload},
	} {
		got := must(took(c.storage, reads))
		rows = append(rows, within(c.claim, source, all/c.rate*1e3, got, 0.02, "%.3f"))
	}
	const media = 4e6 // bytes per ms, of one server
	train := func(more string) (float64, error) {
		return took("servers: 1, read: 4GB/s, write: 4GB/s",
			"training: {model: gpt3-125m, dp: 4, global_batch: 4, steps: 4"+more+"}")
	}
	alone := must(train(""))
	step := alone / 4
	late := must(train(fmt.Sprintf(", data: {prefetch: 1, sample: %dB}", int(2*step*media/4))))
	saved := must(train(", checkpoint: {every: 2, bytes: 1}"))
	// GPT-3 125M (Brown et al. 2020, table 2.1): 12 layers of 768, 50,257 words and 2,048 places.
	const params = 12*(12*768*768+13*768) + (50257+2048)*768 + 2*768
	return append(rows,
		within("4 steps whose batches take two steps each to load, one ahead, ms",
			"a step is the longer of both", step+3*2*step, late, 0.02, "%.3f"),
		within("4 steps with two checkpoints that block, ms", "bytes by the media's rate, each time",
			alone+2*params/media, saved, 0.02, "%.3f")), nil
}

// seedRows are the source's life of a training job.
func seedRows() ([]Row, error) {
	const source = "seed, life of a training job, timeline"
	var rows []Row
	for _, c := range []struct {
		claim, file string
		want, tol   float64
	}{
		{"all-reduce of 24 MiB over 32 GPUs in ms", "seed-32-gpus", 2, 0.05},
		{"the same with chunks of 24 MiB: 62 rounds of one at 200 Gbit/s", "seed-32-gpus-chunk",
			62 * 24 * float64(unit.MiB) / (25e9 * payload) * 1e3, 0.01},
	} {
		r := must(startWith(scenarios.Texts()["seed-32-gpus.yaml"], scenarios.File,
			"workload.trace.files[0]=traces/"+c.file+".txt"))
		do(r.Go(nil))
		s, _, _ := r.Outcome("validate")
		got := unit.Time(s.ExposedDP).Seconds() * 1e3
		rows = append(rows, within(c.claim, source, c.want, got, c.tol, "%.3f"))
	}
	return rows, nil
}
