package cabling

import (
	"strings"
	"testing"
)

// malformed is a text per fault and format, and its complete error.
var malformed = []struct{ format, file, text, want string }{
	{"csv", "x.csv", "from,to,count\na,b,2x\n",
		`x.csv:2:5: "2x" is not a number of cables; accepted: 1 to 1024`},
	{"csv", "x.csv", "from,to,count\na,b,1.5\n",
		`x.csv:2:5: "1.5" is not a number of cables; accepted: 1 to 1024`},
	{"csv", "x.csv", "from,to,count\na,b,0\n",
		`x.csv:2:5: "0" is not a number of cables; accepted: 1 to 1024`},
	{"csv", "x.csv", "from,to,length,unit\na,b,5,parsec\n",
		`x.csv:2:5: "parsec" is not a unit of length; accepted: mm, cm, m, km, in, ft, mi`},
	{"csv", "x.csv", "from,to,length_ft\na,b,9999999\n",
		`x.csv:2:5: "9999999" is not a length of a cable: at most 1000km`},
	{"csv", "x.csv", "# ours\n\nfrom;to;rate\na;b;0.5M\n",
		`x.csv:4:5: "0.5M" is not a rate of a cable: 1Mbps to 100Tbps`},
	{"csv", "x.csv", "from,to\n,b\n", `x.csv:2:1: a cable from "" to "b": one end has no device`},
	{"csv", "x.csv", "from,to,Rate,,rate,\na,b,1G,,2G,\n", `x.csv:1:15: the header has "rate" twice`},
	{"hpcc", "x", "3 1\n", "x:1:1: 2 numbers, expected 3"},
	{"hpcc", "x", "3 1 2", "x: ends before the line of switches"},
	{"hpcc", "x", "3  one 2\n", `x:1:4: word 2: "one" is not a number from 0 to 10000000`},
	{"hpcc", "x", "3 1 2\n3\n", `x:2:1: word 1: "3" is not a number from 0 to 2`},
	{"hpcc", "x", "3 1 2\n2\n0 2 0 1us 0\n", `x:3:5: "0" is not a rate of a cable: 1Mbps to 100Tbps`},
	{"hpcc", "x", "13 1 2\n2\n\t10 13 1Gbps 1us 0\n", `x:3:5: word 2: "13" is not a number from 0 to 12`},
	{"hpcc", "x", "3 1 2\n2\n0 2\n",
		`x:3:1: "0 2" is not a cable; expected two ids, rate, delay, error rate`},
	{"simai", "x", "4 2 0 1 2 H100\n3\n0 1 1Gbps 0ms 0\n",
		"x:3:1: 0 and 1 are both GPUs; a cable needs a switch"},
	{"simai", "x", "2 0 0 1 1 H100\n1\n",
		"x:1:1: 2 nodes of which 1 are switches, 0 of them NVSwitches, " +
			"do not fit together"},
	{"htsim", "x", "Nodes 4\nTiers 2\nPodsize s\n", `x:3:9: "s" is not a number`},
	{"htsim", "x", "Nodes\n", `x:1:1: "Nodes" has no value`},
	{"htsim", "x", "Tier 3\n", "x:1:1: tier 3: a fat tree of htsim has tiers 0 to 2"},
	{"htsim", "x", "Nodes 0\nTiers 2\n",
		"x:1:1: nodes 0, tiers 2, podsize 0: expected 2 or 3 tiers and at least one node"},
	{"htsim", "x", "Nodes 4\nTiers 2\nPodsize 4\n",
		"x:1:1: tier 0: radix_down 0, radix_up 0, bundle 0, " +
			"downlink_speed_gbps 0 do not fit together"},
	{"htsim", "x", "Nodes 5\nTiers 2\nPodsize 5\nTier 0\ndownlink_speed_gbps 1\nradix_down 2\nradix_up 2\n" +
		"Tier 1\ndownlink_speed_gbps 1\nradix_down 2\n",
		"x:1:1: 5 nodes in pods of 5, 2 to a switch, do not divide"},
	{"slurm", "x", "SwitchName=a Nodes=h1, h2\n", `x:1:24: "h2" is not a key=value`},
	{"slurm", "x", "SwitchName=a  Nodes=h[3-1]\n",
		`x:1:15: nodes: "h[3-1]": "3-1" is not a range of numbers`},
	{"slurm", "x", "SwitchName=a Switches=b]\n",
		`x:1:14: switches: "b]" has a bracket without its other half`},
	{"dot", "x", "{ a -- b }",
		`x:1:1: "{" is found where the graph should begin, expected graph { a -- b; }`},
	{"dot", "x", "digraph", `x:1:1: "" is found where the graph should begin, expected graph { a -- b; }`},
	{"dot", "x", "graph a b { a -- b }",
		`x:1:9: "b" is found where the graph should begin, expected graph { a -- b; }`},
	{"dot", "x", "graf { a -- b }",
		`x:1:1: "graf" is found where the graph should begin, expected graph { a -- b; }`},
	{"dot", "x", "graph { a -- b }\n}",
		`x:2:1: "}" follows the graph's }; expected one graph in a file`},
	{"dot", "x", "graph { a -- b } // all\n\n  graph more { b -- c }",
		`x:3:3: "graph" follows the graph's }; expected one graph in a file`},
	{"dot", "x", "graph {\n a -- \"b", "x:2:7: a string is not closed"},
	{"dot", "x", "graph {\n a [label=<b>]; <c<d>", "x:2:17: a string is not closed"},
	{"dot", "x", "graph { /* a -- b }", "x:1:9: a comment is not closed"},
	{"dot", "x", "graph { a: -- b }", `x:1:12: "--" is not a port`},
	{"dot", "x", "graph { \"a\" + ; }", `x:1:15: ";" cannot be appended to a name`},
	{"dot", "x", "graph { \"\" -- b }", "x:1:9: a node without a name"},
	{"dot", "x", "graph { a -- b [label=x", "x:1:23: a ] is missing"},
	{"dot", "x", "graph { a -- b [-- }", `x:1:17: "--" is not accepted among attributes`},
	{"dot", "x", "graph { a -- b [label=\"2000 x 1G\"] }",
		`x:1:9: "2000" is not a number of cables; accepted: 1 to 1024`},
	{"dot", "x", "graph " + strings.Repeat("{", 70), "x:1:73: nests deeper than 64 levels"},
	{"containerlab", "x", "topology: 3\n",
		"x:1:11: topology is a value, expected a mapping with nodes and links"},
	{"containerlab", "x", "topology:\n  nodes:\n    a: {}\n  links:\n    - endpoints: [\"a:e1\", a]\n",
		`x:5:27: "a" is not an endpoint, expected node:interface like "leaf-1:eth3"`},
	{"containerlab", "x", "topology: &x\n",
		"x:1:11: anchors, aliases, tags and directives are not accepted: " +
			"write the value out"},
	{"containerlab", "x", "a: [b, c\n", "x:1:8: a ] is missing at the end"},
	{"containerlab", "x", "a: {b: c\n", "x:1:8: a } is missing at the end"},
	{"containerlab", "x", "a: {b}\n", `x:1:5: "b" has no value`},
	{"containerlab", "x", "a: [b}\n", "x:1:5: a ] is missing at the end"},
	{"containerlab", "x", "topology:\n  nodes:\n    a: {}\n    b: {}\n    a: {kind: linux}\n",
		`x:5:5: "a" is repeated here; the first is at 3:5`},
	{"containerlab", "x", "topology: {nodes: {a: {kind: linux, \"kind\": srl}}}\n",
		`x:1:37: "kind" is repeated here; the first is at 1:24`},
	{"astra-sim", "x", "topology: [Ring, Switch]\nnpus_count: [2]\n",
		"x:2:13: 1 value for 2 dimensions; expected as many, at most 8"},
	{"astra-sim", "x", "topology: [Switch]\nnpus_count: [2]\nbandwidth: [fast]\n",
		`x:3:12: value 1: "fast" is not a number`},
	{"astra-sim", "x", "topology: [Switch]\nnpus_count: [2.5]\nbandwidth: [1]\nlatency: [1]\n",
		"x:2:13: 2.5 NPUs: 1 to 131072 whole ones are possible"},
	{"astra-sim", "x", "topology: [Switch]\nnpus_count: [2]\nbandwidth: [0]\nlatency: [1]\n",
		`x:3:12: "0 GB/s" is not a rate of a cable: 1Mbps to 100Tbps`},
	{"infragraph", "x", "instances:\n- {name: h, count: 0}\n",
		`x:2:3: instance "h" with count "0"; expected a name and 1 to 200000`},
	{"infragraph", "x", "links:\n- name: l\n  physical: {bandwidth: {gigabits_per_second: fast}}\n",
		`x:3:47: "fast" is not a rate of a cable: 1Mbps to 100Tbps`},
	{"infragraph", "x", "links:\n- name: l\n  physical: {latency: {ns: -1}}\n",
		`x:3:28: "-1" is not a delay of a cable: at most 5.05ms, which light takes for 1000km`},
	{"infragraph", "x", "links:\n- name: l\n  physical: {latency: {ms: 5.06}}\n",
		`x:3:28: "5.06" is not a delay of a cable: at most 5.05ms, which light takes for 1000km`},
	{"infragraph", "x", "links:\n- name: l\n  physical: {latency: {us: soon}}\n",
		`x:3:28: "soon" is not a delay of a cable: at most 5.05ms, which light takes for 1000km`},
	{"infragraph", "x", "links:\n- name: l\n  physical: {bandwidth: {gigabit_per_second: 100}}\n",
		`x:3:26: "gigabit_per_second" is not a unit of a bandwidth (did you mean "gigabits_per_second"?); ` +
			"accepted: giga_bits_per_second, giga_bytes_per_second, gigabits_per_second, " +
			"gigabytes_per_second"},
	{"infragraph", "x", "links:\n- {name: l}\n- {name: m}\n- {name: l}\n",
		`x:4:3: a second link is called "l"`},
	{"infragraph", "x", "devices:\n- {name: d}\n- {name: d}\n", `x:3:3: a second device is called "d"`},
	{"infragraph", "x", "instances:\n- {name: h, count: 2}\n- {name: h, count: 3}\n",
		`x:3:3: a second instance is called "h"`},
	{"infragraph", "x", "devices:\n- {name: d, components: [{choice: nic, name: n, count: many}]}\n",
		`x:2:56: "many" is not a number of components; accepted: 0 to 4096`},
	{"infragraph", "x", "devices:\n- {name: d, components: [{choice: nic, name: n, count: 5000}]}\n",
		`x:2:56: "5000" is not a number of components; accepted: 0 to 4096`},
	{"infragraph", "x", infraEdge("h[0]", "nic[0:1]", "one2one, link: ether"),
		`x:4:121: unknown link "ether"`},
	{"infragraph", "x", "links:\n- {name: ether}\n- {name: ib}\n" + infraEdge("h[0]", "nic[0:1]",
		"one2one, link: eth"),
		`x:7:121: unknown link "eth"; accepted: ether, ib`},
	{"infragraph", "x", "links:\n- {name: ether}\nconnections:\n- s.0.nic.0.ib.l.0.port.1\n",
		`x:4:3: unknown link "ib"; accepted: ether`},
	{"hpcc", "x", "3 1 1\n2\n0 2 1Gbps 6ms 0\n",
		`x:3:11: "6ms" is not a delay of a cable: at most 5.05ms, which light takes for 1000km`},
	{"htsim", "x", "Tier 0\nDownlink_latency_ns 9999999\n",
		`x:2:21: "9999999ns" is not a delay of a cable: at most 5.05ms, which light takes for 1000km`},
	{"astra-sim", "x", "topology: [Switch]\nnpus_count: [2]\nbandwidth: [1]\nlatency: [1e8]\n",
		`x:4:10: "1e+08" is not a delay of a cable: at most 5.05ms, which light takes for 1000km`},
	{"infragraph", "x", "connections:\n- server.0.nic.1\n", `x:2:3: "server.0.nic.1" is not a connection; ` +
		"expected instance.0.component.0.link.instance.0.component.0"},
	{"infragraph", "x", "connections:\n- s.0.nic.x.eth.l.0.port.1\n",
		`x:2:3: "s.0.nic.x.eth.l.0.port.1": "x" is not a number`},
	{"infragraph", "x", "instances:\n- {name: h, count: 2}\nconnections:\n- h.2.nic.0.eth.l.0.port.1\n",
		`x:4:3: "h.2.nic.0.eth.l.0.port.1": there are 2 of h`},
	{"infragraph", "x", infraEdge("h[x]", "nic", ""), `x:4:20: "h[x]" is not a name with a slice; ` +
		"accepted: host, host[3], host[0:4]"},
	{"infragraph", "x", infraEdge("h[1:1]", "nic", ""), `x:4:20: "h[1:1]": there are 2 of h`},
	{"infragraph", "x", infraEdge("h[0]", "nic[0:1]", "ring"),
		`x:4:106: "ring" is not a scheme; accepted: one2one, many2many`},
	{"netbox-csv", "x", "name,colour\n",
		"x:1:1: the header is not that of devices (name, role, device_type), " +
			"interfaces (device, name, type) or cables (side_a_device, side_a_name, " +
			"side_b_device, side_b_name)"},
	{"netbox-json", "x", "{\"a\": 1}", "x:1:1: expected results, or devices, interfaces and cables"},
	{"netbox-json", "x", `{"results": [{"name": "a", "name": "b", "device_type": {}}]}`,
		`x:1:28: "name" is repeated here; the first is at 1:15`},
	{"netbox-csv", "x", "device,name,type,speed\na,e1,400gbase-x-osfp,\na,e2,1000base-t,fast\n",
		`x:3:17: "fast" is not a speed; accepted: 400000000 in kb/s, 400 Gbps`},
	{"netbox-csv", "x", "device,name,type,speed\na,e1,other,-1\n",
		`x:2:12: "-1 kb/s" is not a rate of a cable: 1Mbps to 100Tbps`},
	{"netbox-json", "x", `[{"device": "a", "name": "e1", "speed": "fast"}, {"device": "a", ` +
		`"name": "e2", "speed": 10}]`, `x:1:41: "fast" is not a speed; accepted: 400000000 in kb/s, 400 Gbps`},
	{"netbox-json", "x", `[{"device": "a", "name": "e2", "speed": 10}]`,
		`x:1:41: "10 kb/s" is not a rate of a cable: 1Mbps to 100Tbps`},
	{"netbox-json", "x", netboxLength("far", "m"),
		`x:3:11: "far" is not a length; accepted: 5, 5m, 300cm, 2km, 10ft`},
	{"netbox-json", "x", netboxLength("5", "parsec"),
		`x:3:11: "parsec" is not a unit of length; accepted: mm, cm, m, km, in, ft, mi`},
	{"lldpcli", "x", "{\"lldp\": [}", "x:1:11: } closes what was not opened"},
	{"lldp-eos", "x", "Port  Neighbor Device ID  Neighbor Port ID  TTL\n Et1 leaf\n",
		`x:2:2: "Et1 leaf" is not a neighbour; expected port, device, its port, time to live`},
	{"lldp-nxos", "x", "Device ID  Local Intf  Hold-time  Capability  Port ID\nleaf-1\n  Eth1\n",
		`x:3:3: "Eth1" is not a neighbour; expected device, local interface, hold-time, capability, port`},
	{"lldp-sonic", "x", "LocalPort  RemoteDevice  RemotePortID\nEthernet0  leaf  Eth1\n",
		"x:2:1: the line of dashes below the header is missing"},
	{"lldp-sonic", "x", "LocalPort  RemoteDevice  RemotePortID\n---------  ------------  ------------\n" +
		"Ethernet0\n", `x:3:1: "Ethernet0" has no port or no device`},
}

func infraEdge(instance, component, scheme string) string {
	return "instances:\n- {name: h, count: 2}\nedges:\n- {ep1: {instance: \"" + instance +
		"\", component: \"" +
		component + "\"}, ep2: {instance: \"h[1]\", component: \"nic[0]\"}, scheme: " + scheme + "}\n"
}

func netboxLength(length, unit string) string {
	end := func(dev string) string {
		return `[{"object": {"device": {"name": "` + dev + `"}, "name": "e1"}}]`
	}
	return "[{\"a_terminations\": " + end("a") + ",\n\"b_terminations\": " + end("b") + ",\n\"length\": \"" +
		length + "\", \"length_unit\": \"" + unit + "\"}]"
}

// Malformed input is rejected with its file, line and column, in each format.
func TestMalformed(t *testing.T) {
	met := map[string]bool{}
	for _, c := range malformed {
		met[c.format] = true
		_, err := Read([]File{{c.file, []byte(c.text)}}, c.format)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %q:\n     %v\nwant %s", c.format, c.text, err, c.want)
		}
	}
	for _, name := range Names() {
		if !met[name] {
			t.Errorf("nothing malformed is given to %s", name)
		}
	}
}
