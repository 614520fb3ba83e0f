package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// head is a scenario without its workload.
const head = "fabric: {kind: rail, hosts: 2, spines: 2}\nserver: {gpus: 2, nics: 2}\n"

const twoLeaves = "fabric: {kind: rail, segments: 2, hosts: 4, spines: 4, uplinks: 2, " +
	"host_link: {rate: 100Gbps, cable: 3m}}\n"

const work = "workload: {traffic: {permutation: {bytes: 1MB}}}\n"

// corpusScenarios are texts that are no scenarios or impossible ones.
var corpusScenarios = map[string]string{
	"empty": "", "blank": " \n\n", "binary": "\x7fELF\x01\x02\x00\x00", "utf16": "\xff\xfef\x00a\x00",
	"latin1": "name: caf\xe9\n", "nul": "name: a\x00b\n",
	"list": "- a\n- b\n", "scalar": "hello\n", "null": "~\n", "twice-key": head + work + "seed: 1\nseed: 2\n",
	"unknown-key": head + work + "colour: blue\n",
	"near-key":    strings.Replace(head, "hosts", "host", 1) + work, "tab-indent": "fabric:\n\tkind: rail\n",
	"anchor": "name: &a x\n", "alias": "name: *a\n", "merge": "fabric:\n  <<: {kind: rail}\n",
	"tag": "seed: !!int 1\n", "directive": "%YAML 1.2\n---\nname: x\n", "two-documents": head + work +
		"---\n" + head + work,
	"deep-flow": "a: " + strings.Repeat("[", 100_000), "deep-block": strings.Repeat("- ", 100_000) + "x",
	"many-keys": strings.Repeat("k: 1\n", 80_000), "many-documents": strings.Repeat("---\n", 150_000),
	"many-quotes": strings.Repeat(`"`, 500_000), "many-commas": "[" + strings.Repeat(",", 1_000_000) + "]",
	"many-colons": strings.Repeat("a: ", 150_000), "many-questions": strings.Repeat("? ", 250_000),
	"many-brackets": strings.Repeat("[]", 250_000), "huge": strings.Repeat("# comment\n", 200_000),
	"long-key": strings.Repeat("k", 500_000) + ": 1\n", "long-value": "name: " +
		strings.Repeat("v", 500_000) + "\n",
	"unclosed-quote": "name: \"abc\n", "unclosed-flow": "fabric: {kind: rail\n",
	"bad-escape": "name: \"\\q\"\n", "no-fabric": work, "no-workload": head,
	"two-workloads": head + "workload: {traffic: {permutation: {bytes: 1MB}}, ops: [{id: a, gpu: " +
		"host-1/gpu-1, compute: 1us}]}\n",
	"two-patterns": head + "workload: {traffic: {permutation: {bytes: 1MB}, alltoall: {bytes: 1MB}}}\n",
	"paths":        twoLeaves + "server: {gpus: 1, nics: 1}\n" + work,
	"three-planes": "fabric:\n  types: {a: {gpus: 1, nics: 1, nic_ports: 3, nic_rate: 100Gbps}, s: {role: " +
		"leaf, " +
		"ports: 64x100G}}\n  nodes: {a: {type: a, count: 2}, s: {type: s, per: {plane: 3}}}\n" +
		"  cables: [{from: a, to: s, match: {plane: port}}]\ntransport: mrc\n" + work,
	"far-segments": "fabric: {kind: torus, k: 8, host_link: {rate: 100Gbps, cable: 3m}}\nswitch: {pfc: " +
		"false}\n" +
		"server: {gpus: 1, nics: 1}\ncc: {algorithm: nscc}\ntransport: {kind: mrc, forwarding: " +
		"srv6}\n" + work,
	"cyclic": head + "workload: {ops: [{id: a, gpu: host-1/gpu-1, compute: 1us, after: [b]}, {id: " +
		"b, gpu: host-1/gpu-1, compute: 1us, after: [a]}]}\n",
	"unknown-op": head + "workload: {ops: [{id: a, gpu: host-1/gpu-1, compute: 1us, after: [z]}]}\n",
	"self-flow": head +
		"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-1/gpu-1, bytes: 1MB}]}}\n",
	"no-gpu": head +
		"workload: {traffic: {flows: [{from: host-1/gpu-9, to: host-1/gpu-1, bytes: 1MB}]}}\n",
	"no-host": head +
		"workload: {traffic: {flows: [{from: host-9/gpu-1, to: host-1/gpu-1, bytes: 1MB}]}}\n",
	"flow-nowhere": head + "workload: {traffic: {flows: [{from: host-1/gpu-1, bytes: 1MB}]}}\n",
	"flow-zero": head +
		"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 0B}]}}\n",
	"flow-late": head + "workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: " +
		"1B, start: 1000000s}]}}\n",
	"ops-both": head +
		"workload: {ops: [{id: a, gpu: host-1/gpu-1, compute: 1us, send: 1MB, to: host-2/gpu-1}]}\n",
	"ops-none": head + "workload: {ops: [{id: a, gpu: host-1/gpu-1}]}\n",
	"ops-twice": head + "workload: {ops: [{id: a, gpu: host-1/gpu-1, compute: 1us}, {id: a, gpu: " +
		"host-1/gpu-1, compute: 1us}]}\n",
	"long-chain": head + "workload:\n  ops:\n" + chain(1500), "too-many-packets": strings.Replace(head,
		"hosts: 2", "hosts: 16", 1) +
		"transport: {mtu: 256}\nworkload: {traffic: {alltoall: {bytes: 100000GB}}}\n",
	"too-slow": strings.Replace(head, "spines: 2", "spines: 2, host_link: {rate: 1Mbps}", 1) +
		"cc: {algorithm: none}\nworkload: {traffic: {permutation: {bytes: 1000GB}}}\n",
	"graph-split":   graphOf("{from: h1, to: s1}, {from: h2, to: s2}"),
	"graph-unknown": graphOf("{from: h1, to: s9}"),
	"graph-twice":   strings.Replace(graphOf("{from: h1, to: s1}"), "h2", "h1", 1),
	"graph-loop":    graphOf("{from: s1, to: s1}"),
	"graph-tier": strings.Replace(graphOf("{from: h1, to: s1}"),
		"role: leaf", "role: leaf, tier: 99", 1), "graph-count": graphOf("{from: h1, to: s1, count: 9999}"),
	"collective-kind": head + collective("kind: gossip, bytes: 1MB"), "collective-algorithm": head +
		collective("kind: all-gather, bytes: 1MB, algorithm: tree"), "collective-channels": head +
		collective("bytes: 1MB, channels: 65"),
	"collective-bytes": head + collective("kind: all-reduce"), "collective-chunk": head +
		collective("bytes: 1MB, chunk: 1B"),
	"many-faults": "fabric: {kind: rails, hots: 2}\nlb: spry\nseed: x\n", "incast-many": head +
		"workload: {traffic: {incast: {bytes: 1MB, fan_in: 99}}}\n", "incast-none": head +
		"workload: {traffic: {incast: {bytes: 1MB}}}\n",
	"alltoall-many": strings.Replace(head, "hosts: 2", "hosts: 4000", 1) +
		"workload: {traffic: {alltoall: {bytes: 1MB}}}\n",
	"halving-three": strings.Replace(head, "hosts: 2", "hosts: 3", 1) +
		"workload: {traffic: {halving-doubling: {bytes: 1MB}}}\n",
	"event-nothing": head + work + "events: [{link: 'rail-1:Eth3', at: 1us}]\n",
	"event-fast":    head + work + "events: [{link: 'rail-1:Eth3', at: 1us, rate: 90Tbps}]\n",
	"event-twice": head + work +
		"events: [{link: 'rail-1:Eth3', up: false}, {link: 'spine-1:Eth1', rate: 1Gbps}]\n",
	"event-switch": head + work + "events: [{switch: spine-99, at: 1us, up: false}]\n",
	"event-gone": head + work + "events: [{server: host-1, up: false}, {nic: host-1/nic-1, at: 1us, " +
		"up: false}]\n",
	"failure-nowhere": head + work + "failures: [{link: 'rail-9:Eth1'}]\n",
	"failure-twice":   head + work + "failures: [{link: 'rail-1:Eth3'}, {link: 'rail-1:Eth3'}]\n",
	"failure-late": head + work +
		"failures: [{link: 'rail-1:Eth3', at: 1000000s}]\n",
	"k-odd": "fabric: {kind: fat-tree, k: 5}\n" + work, "k-missing": "fabric: {kind: fat-tree}\n" + work,
	"torus-one":   "fabric: {kind: torus, k: 1}\nserver: {gpus: 1, nics: 1}\n" + work,
	"many-gpus":   strings.Replace(head, "hosts: 2", "hosts: 100000", 1) + work,
	"hosts-none":  strings.Replace(head, "hosts: 2, ", "", 1) + work,
	"rate-none":   strings.Replace(head, "spines: 2", "spines: 2, host_link: {rate: 0bps}", 1) + work,
	"rate-unit":   strings.Replace(head, "spines: 2", "spines: 2, host_link: {rate: 400}", 1) + work,
	"time-unit":   strings.Replace(head, "spines: 2", "spines: 2, pipeline: 5 minutes", 1) + work,
	"size-unit":   head + "workload: {traffic: {permutation: {bytes: 1000000}}}\n",
	"length-unit": strings.Replace(head, "spines: 2", "spines: 2, host_link: {cable: 3 feet}", 1) + work,
	"number-list": strings.Replace(head, "hosts: 2", "hosts: [2]", 1) + work,
	"list-number": head + work + "failures: 3\n", "map-scalar": "fabric: rail\n" + work,
	"bool-word": strings.Replace(head, "spines: 2", "spines: 2, cut_through: perhaps", 1) + work,
	"percent":   head + work + "lb_options: {utilisation: half}\n",
}

func collective(s string) string { return "workload: {traffic: {collective: {" + s + "}}}\n" }

func graphOf(links string) string {
	return "fabric:\n  kind: graph\n  graph:\n    hosts: [h1, h2]\n" +
		"    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}]\n    links: [" + links +
		"]\nserver: {gpus: 1, nics: 1}\n" + work
}

// chain is a computation of several months, in consecutive hours.
func chain(n int) string {
	b, after := strings.Builder{}, ""
	for i := range n {
		fmt.Fprintf(&b, "  - {id: x%d, gpu: host-1/gpu-1, compute: 3600s, after: [%s]}\n", i, after)
		after = fmt.Sprint("x", i)
	}
	return b.String()
}

// llama is a config.json that can be, to be spoilt.
const llama = `{"model_type":"llama","hidden_size":4096,"num_hidden_layers":32,
  "num_attention_heads":32,"intermediate_size":11008,"vocab_size":32000}`

// corpusFiles writes the corpus's files.
func corpusFiles(t *testing.T, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	files := map[string]string{"file": "text\n", "import-ok.csv": "from,to\nhost-1,leaf-1\n",
		"import-twice.csv": "from,from_port,to,to_port\na,1,b,1\na,1,c,1\n",
		"import-rate.csv":  "from,to,rate\nhost-1,leaf-1,fast\n", "import-loop.dot": "graph { a -- ",
		"import-ok.dot": "graph { host1 -- leaf1 }\n", "import-no-server.dot": "graph { leaf1 -- spine1 }\n",
		"import-servers.csv": "from,to\nhost-1,host-2\n",
		"import-clab.yml":    "topology:\n  nodes:\n    a: {}\n  links:\n    - endpoints: [a:1, b:1]\n",
		"import-many.topo": "Nodes 99999\nTiers 2\nPodsize 99999\nTier 0\nDownlink_speed_Gbps " +
			"1\nRadix_Down 9\n" +
			"Radix_Up 1\nTier 1\nDownlink_speed_Gbps 1\nRadix_Down 1\n",
		"import-slurm.conf": "SwitchName=a Nodes=b\n", "empty.cfg": "", "binary.cfg": "\x00\x01\x02",
		"long-line.cfg": "hostname " + strings.Repeat("a", 10_000) + "\n",
		"include.cfg":   "hostname a\ninclude b.cfg\n",
		"cut.cfg": "feature lldp\npolicy-map type queuing q\n  class type queuing c-out-8q-q3\n" +
			"    random-detect minimum-threshold 150",
		"vrp.cfg": "sysname leaf\ninterface 100GE1/0/1\n dcb pfc enable mode manual\n" +
			" undo portswitch\nquit\n",
		"sonic-broken.json": `{"PORT": {"Ethernet0": `, "sonic-deep.json": strings.Repeat(`{"a":`, 50_000),
		"leaf.cfg": "feature lldp\nhostname leaf\ninterface Ethernet1/1\n" +
			"  priority-flow-control mode on\n",
		"frr.conf":         "frr defaults datacenter\nhostname a\nrouter bgp 65000\n",
		"empty-dir/readme": "nothing\n", "run-broken/summary.json": "{", "run-empty/summary.json": "",
		"cut.pcap": "\xd4\xc3\xb2\xa1\x02\x00", "cut.pcapng": "\x0a\x0d\x0d\x0a\x1c\x00",
		"m-text.json": "hello", "m-list.json": "[1,2]", "m-none.json": "{}",
		"m-type.json": strings.Replace(llama, "llama", "tree", 1),
		"m-zero.json": strings.Replace(llama, "4096", "0", 1), "m-negative.json": strings.Replace(llama,
			"4096", "-4096", 1),
		"m-huge.json": strings.Replace(llama, "4096", "9223372036854775807", 1),
		"m-overflow.json": strings.NewReplacer("llama", "mixtral", "4096", "1048576", "11008", "16777216",
			`s":32,`, `s":4096,`).Replace(strings.Replace(llama, "{",
			`{"num_local_experts":16384,"num_experts_per_tok":2,`, 1)),
		"m-head.json":    strings.Replace(llama, "{", `{"head_dim":9223372036854775807,`, 1),
		"m-context.json": strings.Replace(llama, "{", `{"max_position_embeddings":-5,`, 1),
		"m-experts.json": strings.Replace(llama, "{", `{"num_local_experts":8,`, 1),
		"m-float.json":   strings.Replace(llama, "4096", "4096.5", 1), "m-string.json": strings.Replace(llama,
			"4096", `"4096"`, 1), "m-twice.json": llama + llama, "m-deep.json": strings.Repeat("[", 200_000),
		"p-garbage.json": prices(`"price":1`) + "x", "p-negative.json": prices(`"price":-1`),
		"p-huge.json": prices(`"price":1e300`), "p-key.json": prices(`"cost":1`),
		"p-empty.json": `{"switches":[],"cables":[]}`}
	for name, text := range corpusScenarios {
		files[name+".yaml"] = text
	}
	for name, text := range files {
		os.MkdirAll(filepath.Dir(at(name)), 0o755)
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	corpusRuns(t, at)
	os.Mkdir(at("run-pipe"), 0o755)
	os.Mkdir(at("unreadable"), 0o755)
	for _, name := range []string{"pipe", "pipe.json", "run-pipe/summary.json"} {
		if err := syscall.Mkfifo(at(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { l.Close() })
}

func prices(more string) string {
	return `{"switches":[{"ports":64,"rate_gbps":400,` + more + `}],"cables":[{"upto_m":1}]}`
}
