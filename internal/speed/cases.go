package speed

import (
	"railyard/scenarios"
	"railyard/unit"
)

// Sources of peers' figures.
const (
	measured = "measured by this project on a VM with two cores, one thread, best of several runs; commits in docs/references.md"
	wormhole = "Wormhole, NSDI 2026, arXiv 2602.10615, on its authors' computer"
)

// largeTree is a permutation of 8,192 hosts on a non-blocking fat tree.
const largeTree = `name: fattree8192-permutation
fabric: {kind: fat-tree, k: 32, host_link: {rate: 400Gbps, delay: 1us}}
server: {nic_latency: 0s}
workload: {traffic: {permutation: {bytes: 1MB}}}
`

// leafSpine is the fabric of uet-htsim's published results: 128 leaves with 64 hosts and 64 spines.
const leafSpine = `name: leafspine8192-permutation
fabric: {kind: rail, segments: 128, hosts: 64, spines: 64, uplinks: 1,
         host_link: {rate: 400Gbps, delay: 1us}, fabric_link: {rate: 400Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
workload: {traffic: {permutation: {bytes: 1MB}}}
`

// manyHosts is a small permutation whose set-up and report take longer than its events.
const manyHosts = `name: fattree16000-permutation
fabric: {kind: fat-tree, k: 40, host_link: {rate: 400Gbps, delay: 1us}}
server: {nic_latency: 0s}
workload: {traffic: {permutation: {bytes: 64KB}}}
`

// Cases lists what is measured, in the order of the table.
func Cases() []Case {
	shipped := scenarios.Texts()
	return []Case{
		{Name: "RoCE permutation, 128 hosts", Text: shipped["fattree128-permutation.yaml"], About: 0.4,
			Peers: []Peer{
				{Name: "htsim, RoCE with PFC", Wall: 0.34, Memory: 16 * unit.MB, Rate: 2.2e6, Source: measured},
				{Name: "HPCC's ns-3.17, DCQCN", Wall: 1.3, Memory: 331 * unit.MB, Rate: 0.8e6, Source: measured}}},
		{Name: "RoCE permutation, 1,024 hosts", Text: shipped["fattree1024-permutation.yaml"], About: 2.5,
			Peers: []Peer{
				{Name: "htsim, RoCE with PFC", Wall: 6.9, Memory: 132 * unit.MB, Rate: 0.87e6, Source: measured},
				{Name: "HPCC's ns-3.17, DCQCN", Wall: 68.6, Memory: 4045 * unit.MB, Rate: 0.25e6, Source: measured}}},
		{Name: "RoCE permutation, 8,192 hosts", Text: largeTree, Large: true, About: 25},
		{Name: "UEC permutation, 1,024 hosts", Text: shipped["fattree1024-permutation.yaml"],
			Sets: []string{"transport=uec"}, About: 3, Peers: []Peer{
				{Name: "uet-htsim, NSCC", Wall: 8.6, Memory: 80 * unit.MB, Rate: 0.44e6, Source: measured}}},
		{Name: "UEC permutation, 8,192 hosts", Text: leafSpine, Sets: []string{"transport=uec"}, Large: true, About: 25,
			Peers: []Peer{{Name: "uet-htsim, NSCC", Wall: 50.8, Memory: 933 * unit.MB, Source: measured}}},
		{Name: "16,000 hosts, 64 KB permutation", Text: manyHosts, Large: true, About: 15},
		{Name: "Llama 2 7B step, 64 GPUs", Text: shipped["pod64-llama2-7b.yaml"], Large: true, About: 50},
		{Name: "Llama 2 7B step, as flows", Text: shipped["pod64-llama2-7b.yaml"], Sets: []string{"fidelity=flow"},
			About: 1},
		{Name: "Mixtral step, 64 GPUs, as flows", Text: shipped["mixtral-ep8-64.yaml"], Sets: []string{"fidelity=flow"},
			About: 2},
		{Name: "Mixtral step, 64 GPUs, with reuse", Text: shipped["mixtral-ep8-64.yaml"], Sets: []string{"fidelity=reuse"},
			About: 3},
		{Name: "GPT-3 13B step, 128 GPUs", Text: shipped["gpt13b-128.yaml"], Large: true, About: 70, Peers: []Peer{
			{Name: "ns-3, every packet", Wall: 9 * 3600, Source: wormhole},
			{Name: "Wormhole, skips steady states", Wall: 300, Source: wormhole}}},
		{Name: "GPT-3 13B step, with reuse", Text: shipped["gpt13b-128.yaml"], Sets: []string{"fidelity=reuse"},
			About: 6, Peers: []Peer{{Name: "Wormhole", Wall: 300, Source: wormhole}}},
		{Name: "GPT-3 13B step, as flows", Text: shipped["gpt13b-128.yaml"], Sets: []string{"fidelity=flow"},
			Large: true, About: 15},
	}
}
