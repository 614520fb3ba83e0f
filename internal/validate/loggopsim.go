package validate

import "railyard/unit"

// logScenario is a network as LogGOPSim's LogGP model has it: 8 GPUs, each with a NIC, on one switch, 1 us
// and 400 Gbit/s between any two, and nothing else that takes time.
const logScenario = `
name: loggp
fabric: {kind: rail, hosts: 8, spines: 1, pipeline: 0s, host_link: {rate: 400Gbps, delay: 500ns}}
server: {gpus: 1, nics: 1, nic_latency: 0s, gpu: h100}
cc: {algorithm: none}
workload: `

// logRows hold executing and exporting to LogGOPSim of spcl/atlahs, which was built and run on what
// "railyard export --as goal-binary" writes of these scenarios: -L 1000 -o 0 -g 0 -G 0.020400391 -S 65535.
// G is a byte of payload at 400 Gbit/s with its share of headers, preamble and gap (4,178 bytes for 4,096).
// What is left is the switch, which takes a packet whole before it passes it on.
func logRows() ([]Row, error) {
	const source = "LogGOPSim (spcl/atlahs), run on our export"
	var rows []Row
	for _, c := range []struct {
		claim, work string
		want        float64 // us
	}{
		{"ring all-reduce of 8 MB over 8 ranks, us", "{traffic: {ring-allreduce: {bytes: 8MB}}}", 299.600},
		{"the same by halving and doubling, us",
			"{traffic: {collective: {kind: all-reduce, algorithm: halving-doubling, bytes: 8MB}}}", 291.602},
		{"step of a GPT-3 125M, tp 2, pp 2, us", "{training: {model: gpt3-125m, tp: 2, pp: 2, global_batch: 8}}",
			25_923.586},
	} {
		r := must(finish(logScenario + c.work))
		s, _, _ := r.Outcome("")
		rows = append(rows, within("GOAL: "+c.claim, source, c.want, unit.Time(s.Step.StepTime).Micros(),
			0.01, "%.1f"))
	}
	return rows, nil
}
