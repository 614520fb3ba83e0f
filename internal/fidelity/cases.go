package fidelity

import (
	"fmt"
	"slices"

	"railyard/cc"
	"railyard/internal/scenario"
	"railyard/scenarios"
)

// Case is a scenario by which the flow fidelity is measured.
type Case struct {
	Name, Text string
	Sets       []string
}

// Cases lists the measured cases of Accuracies: every kind of traffic, with every congestion control and transport,
// with queue pairs on one path and sprayed, a permutation of 1,024 hosts, shipped scenarios, and scenarios of users
// whose error was larger than that of their class.
func Cases() (all []Case) {
	var settings [][]string
	for _, name := range cc.Names() {
		set := "cc.algorithm=" + name
		settings = append(settings, []string{set})
		for _, lb := range []string{"lb=spray", "lb=spray-least"} {
			settings = append(settings, []string{set, lb, "transport.recovery=selective", "transport.write=only"})
		}
	}
	settings = append(settings, []string{"lb=flowlet"})
	for _, name := range scenario.Presets() {
		settings = append(settings, []string{"transport=" + name})
	}
	for _, of := range workloads {
		for _, sets := range settings {
			all = append(all, Case{of.name, of.text, sets})
		}
	}
	const large = "fattree1024-permutation.yaml"
	for _, sets := range settings {
		all = append(all, Case{large, scenarios.Texts()[large], sets})
	}
	for _, file := range shipped {
		all = append(all, Case{file, scenarios.Texts()[file], nil})
	}
	const jobs = "two-jobs.yaml" // these differ in which flows share a link
	for _, sets := range [][]string{{"seed=2"}, {"seed=3"}, {"seed=4"}, {"placement=packed"}, {"fabric.uplinks=2"}} {
		all = append(all, Case{jobs, scenarios.Texts()[jobs], sets})
	}
	for _, by := range []string{"ring", "tree"} { // over NVLink and a NIC per GPU, by chunks
		of := []string{"workload.traffic.collective.algorithm=" + by, "workload.traffic.collective.channels=" + channels[by]}
		for _, sets := range [][]string{nil, {"lb=spray", "transport.recovery=selective", "transport.write=only"},
			{"lb=spray-least", "transport.recovery=selective", "transport.write=only"}, {"cc.algorithm=none"}} {
			all = append(all, Case{by + " all-reduce of 64 MB, 256 GPUs", pods, slices.Concat(of, sets)})
		}
	}
	for _, seed := range []string{"seed=1", "seed=2", "seed=3"} { // large errors that users found
		for _, sets := range [][]string{{seed}, {seed, "cc.algorithm=none"}} {
			all = append(all, Case{"ring all-reduce of 64 MB, NICs of two ports", ports, sets})
		}
		all = append(all, Case{"ring all-reduce of 64 MB, NICs of two ports, one down", ports +
			"failures: [{link: 'host-1:nic1', at: 0s}]\n", []string{seed}})
		for _, sets := range [][]string{nil, {"cc.algorithm=none"},
			{"lb=spray-least", "transport.recovery=selective", "transport.write=only"}} {
			all = append(all, Case{"all-to-all of 256 MB, 16 GPUs", servers, append([]string{seed}, sets...)})
		}
	}
	return all
}

// channels are a ring's with eight NICs per server, by algorithm; a tree has others.
var channels = map[string]string{"ring": "8", "tree": "0"}

// shipped are shipped scenarios that are also simulated.
var shipped = []string{"three-flows.yaml", "three-flows-bursts.yaml", "lab-2x2.yaml", "victim.yaml", "incast-seed.yaml",
	"two-jobs.yaml", "dragonfly-load.yaml", "lab-planes.yaml", "cc-zoo.yaml", "storage.yaml", "pod64-alltoall.yaml",
	"fattree128-permutation.yaml", "fattree128-incast32.yaml",
	"mixtral-ep8-64.yaml", "pod64-llama2-7b.yaml"}

// Read returns the files that cases name.
func Read(name string) ([]byte, error) {
	if text, ok := caseModels[name]; ok {
		return []byte(text), nil
	}
	return scenarios.File(name)
}

// caseModels are small: a step of theirs takes some milliseconds.
var caseModels = map[string]string{
	"dense.json": `{"model_type":"gpt3","n_embd":1024,"n_layer":4,"n_head":16,"n_positions":2048,"vocab_size":8192}`,
	"experts.json": `{"model_type":"mixtral","hidden_size":1024,"intermediate_size":2048,"num_hidden_layers":4,
		"num_attention_heads":16,"num_key_value_heads":8,"num_local_experts":8,"num_experts_per_tok":2,"vocab_size":8192,
		"max_position_embeddings":4096}`,
}

const (
	tree = "name: tree\nfabric: {kind: fat-tree, k: 4, host_link: {rate: 400Gbps, cable: 5m}}\n" +
		"workload: {traffic: {%s}}\n"
	pods = "name: pods\nfabric: {kind: rail, hosts: 32, spines: 4, pipeline: 600ns,\n" +
		"         host_link: {rate: 400Gbps, cable: 10m}, fabric_link: {rate: 800Gbps, cable: 50m}}\n" +
		"server: {gpu: h100, gpus: 8, nics: 8}\ntransport: {mtu: 4096}\n" +
		"workload: {traffic: {collective: {kind: all-reduce, bytes: 64MB, algorithm: tree, protocol: ll128}}}\n"
	ports = "name: ports\nfabric: {kind: pod, segments: 2, hosts: 2, spines: 2,\n" +
		"         host_link: {rate: 200Gbps, cable: 5m}, fabric_link: {rate: 400Gbps, cable: 50m}}\n" +
		"server: {gpu: h100, gpus: 8, nics: 8, nic_ports: 2, bond: affinity}\nlb: spray-least\n" +
		"transport: {qps: 2, recovery: selective, write: only}\n" +
		"workload: {traffic: {collective: {kind: all-reduce, bytes: 64MB, algorithm: ring, channels: 8}}}\n"
	servers = "name: servers\nfabric: {kind: rail, segments: 1, hosts: 2, spines: 2,\n" +
		"         host_link: {rate: 400Gbps, cable: 5m}, fabric_link: {rate: 400Gbps, cable: 30m}}\n" +
		"server: {gpu: h100, gpus: 8, nics: 8}\n" +
		"workload: {traffic: {collective: {kind: all-to-all, bytes: 256MB}}}\n"
	rails = "name: rails\nfabric: {kind: rail, segments: 2, hosts: 4, spines: 2, uplinks: 2,\n" +
		"         host_link: {rate: 400Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}\n" +
		"server: {gpu: h100, gpus: 2, nics: 2}\n" +
		"workload: {training: {model: %s, global_batch: 16, sequence: 2048, efficiency: 50, %s}}\n"
)

// workloads are the cases' scenarios, each simulated by packets in about a second at most.
var workloads = []struct{ name, text string }{
	{"permutation of 256 KB", fmt.Sprintf(tree, "permutation: {bytes: 256KB}")},
	{"permutation of 4 MB", fmt.Sprintf(tree, "permutation: {bytes: 4MB}")},
	{"incast of 8, 128 KB each", fmt.Sprintf(tree, "incast: {bytes: 128KB, fan_in: 8}")},
	{"incast of 15, 2 MB each", fmt.Sprintf(tree, "incast: {bytes: 2MB, fan_in: 15}")},
	{"ring all-reduce of 16 MB", fmt.Sprintf(tree, "ring-allreduce: {bytes: 16MB}")},
	{"tree all-reduce of 16 MB", fmt.Sprintf(tree, "tree-allreduce: {bytes: 16MB}")},
	{"all-to-all of 1 MB", fmt.Sprintf(tree, "alltoall: {bytes: 1MB}")},
	{"all-to-all of 16 MB", fmt.Sprintf(tree, "alltoall: {bytes: 16MB}")},
	{"dp 8, tp 2", fmt.Sprintf(rails, "dense.json", "tp: 2, dp: 8, micro_batch: 1")},
	{"pp 4, dp 2, tp 2", fmt.Sprintf(rails, "dense.json", "tp: 2, dp: 2, pp: 4, micro_batch: 1")},
	{"ep 8, dp 8, tp 2", fmt.Sprintf(rails, "experts.json", "tp: 2, dp: 8, ep: 8, zero: 1, sequence_parallel: true, micro_batch: 1")},
}
