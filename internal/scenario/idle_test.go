package scenario

import (
	"strings"
	"testing"
)

// Values of an unselected algorithm are noted. File values are not noted if --set made the selection, nor are
// values of a resolved file, which are there for comparison. Values given by --set itself are always noted.
func TestIdleKeysAreNoted(t *testing.T) {
	const work = "fabric: {kind: rail, hosts: 2, spines: 2}\n" +
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	for _, c := range []struct{ text, set, want string }{
		{"server: {rx_xoff: 1MB}", "", "server.rx_xoff has no effect: no server.pcie"},
		{"server: {rx_xoff: 1MB, pcie: 64GB/s}", "", ""},
		{"server: {rx_xoff: 512KiB}", "", ""},
		{"switch: {watchdog: {on: false, poll: 1ms, restore: 1s}}", "",
			"switch.watchdog.poll, switch.watchdog.restore have no effect: no watchdog is on"},
		{"switch: {watchdog: {on: true, poll: 1ms}}", "", ""},
		{"lb: ecmp\nlb_options: {flowlet_gap: 7us}", "", "lb_options.flowlet_gap has no effect: lb is ecmp"},
		{"lb: flowlet\nlb_options: {flowlet_gap: 7us}", "", ""},
		{"lb: flowlet\nlb_options: {flowlet_gap: 7us}", "lb=ecmp", ""},
		{"cc: {algorithm: none, dcqcn: {cnp_interval: 9us}}", "",
			"cc.dcqcn.cnp_interval has no effect: cc.algorithm is none"},
		{"cc: {algorithm: dcqcn, dcqcn: {cnp_interval: 9us}}", "cc.algorithm=none", ""},
		{"lb: flowlet", "lb=ecmp lb_options.flowlet_gap=7us", "lb_options.flowlet_gap has no effect: lb is ecmp"},
		{"seed: 1", "cc.algorithm=none cc.dcqcn.cnp_interval=9us",
			"cc.dcqcn.cnp_interval has no effect: cc.algorithm is none"},
		{"transport: roce", "transport.tcp.gpudirect=true",
			"transport.tcp.gpudirect has no effect: transport.kind is roce"},
		{"seed: 1", "transport=srd transport.tcp.gpudirect=true",
			"transport.tcp.gpudirect has no effect: transport.kind is srd"},
		{"seed: 1", "transport=tcp transport.tcp.gpudirect=true", ""},
		{"transport: tcp", "transport.tcp.gpudirect=true transport.tcp.copy=40Gbps transport.tcp.stage=100Gbps",
			"transport.tcp.copy, transport.tcp.stage have no effect: transport.tcp.gpudirect is true"},
		{"transport: {kind: tcp, tcp: {copy: 40Gbps}}\nswitch: {pfc: false}\ncc: {algorithm: none}", "transport.tcp.gpudirect=true", ""},
		{"transport: tcp", "transport.tcp.gpudirect=true transport.tcp.stage_latency=1us",
			"transport.tcp.stage_latency has no effect: transport.tcp.gpudirect is true"},
		{"transport: tcp", "transport.tcp.stage_latency=1us", ""},
		{"server: {reorder: {memory: 1MB}}", "", "server.reorder.memory has no effect: go-back-N keeps no packet"},
		{"server: {reorder: {memory: 1MB}}", "transport=srd", ""},
		{"seed: 1", "transport.recovery=selective transport.write=only server.reorder.entries=9",
			"server.reorder.entries has no effect: every packet has its address (transport.write only)"},
		{"seed: 1", "transport=srd server.reorder.memory=1MB",
			"server.reorder.memory has no effect: every packet of SRD has its address"},
		{"transport: {recovery: selective}", "server.reorder.memory=1MB server.reorder.rate=1Gbps",
			"server.reorder.rate has no effect: server.reorder.placement is address, not local"},
	} {
		p, err := resolved(t, work+c.text+"\n", strings.Fields(c.set)...)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(p.Notes, "\n")
		if strings.Contains(notes, "no effect") != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%s --set %s: notes %q, want %q", c.text, c.set, p.Notes, c.want)
		}
	}
}

// TestIdleBond checks the note about server.bond of NICs with one port: those of the graph count, by whichever key they
// have their ports, and a bond apart is itself the effect.
func TestIdleBond(t *testing.T) {
	const work = "workload: {traffic: {permutation: {bytes: 1MB}}}\n"
	kind := func(kind, ports string) string {
		return "fabric: {kind: " + kind + ", hosts: 2, spines: 2}\nserver: {gpus: 2, nics: 2, nic_ports: " + ports + "}\n" + work
	}
	types := func(ports string) string {
		return "fabric:\n  types: {host: {gpus: 2, nics: 2, nic_ports: " + ports + ", nic_rate: 400Gbps}, leaf: {ports: 64x400Gbps}}\n" +
			"  nodes: {host: {type: host, count: 2}, leaf: {type: leaf, per: {plane: " + ports + "}}}\n" +
			"  cables: [{from: host, to: leaf, match: {plane: port}}]\n" + work
	}
	for _, c := range []struct{ text, set, want string }{
		{kind("pod", "2"), "server.bond=apart", ""},
		{kind("pod", "2"), "server.bond=spray", ""},
		{kind("rail", "1"), "server.bond=spray", "every NIC has one port (server.nic_ports)"},
		{types("2"), "server.bond=apart", ""},
		{types("2"), "server.bond=spray", ""},
		{types("1"), "server.bond=spray", "every NIC has one port (nic_ports of the types in fabric.types)"},
	} {
		p, err := resolved(t, c.text, c.set)
		if err != nil {
			t.Fatal(c.text, err)
		}
		if notes := strings.Join(p.Idle, "\n"); (notes != "") != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%s--set %s: notes %q, want %q", c.text, c.set, p.Idle, c.want)
		}
	}
}

// A scenario's placement has no effect, however it is given, if every job has its own.
func TestIdlePlacementIsNoted(t *testing.T) {
	const site = "fabric: {kind: rail, hosts: 4, spines: 2}\n"
	const work = "traffic: {permutation: {bytes: 1MB}}"
	for _, c := range []struct {
		jobs string
		sets []string
		note bool
	}{
		{"a: {gpus: 2, placement: rack, " + work + "}", []string{"placement=spread"}, true},
		{"a: {on: [host-1, host-2], " + work + "}", []string{"placement=spread"}, true},
		{"a: {gpus: 2, placement: rack, " + work + "}", nil, false},
		{"a: {gpus: 2, placement: rack, " + work + "}, b: {gpus: 2, " + work + "}",
			[]string{"placement=spread"}, false},
	} {
		p, err := resolved(t, site+"jobs: {"+c.jobs+"}\n", c.sets...)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(p.Notes, "\n")
		if strings.Contains(notes, "placement has no effect: each job sets its GPUs") != c.note {
			t.Errorf("%s --set %s: notes %q", c.jobs, c.sets, p.Notes)
		}
	}
}

// TestPlacementOfAllGPUs checks the note about a placement without a choice: of a job on all GPUs, of a workload.
func TestPlacementOfAllGPUs(t *testing.T) {
	const site = "fabric: {kind: rail, hosts: 4, spines: 2}\nserver: {gpus: 2, nics: 2}\n"
	const work = "traffic: {permutation: {bytes: 1MB}}"
	for _, c := range []struct{ text, set, want string }{
		{"jobs: {a: {gpus: 8, " + work + "}}", "placement=random", "placement random has no effect: job a has all GPUs"},
		{"jobs: {a: {gpus: 8, placement: spread, " + work + "}}", "seed=2", "placement spread has no effect: job a"},
		{"jobs: {a: {gpus: 8, " + work + "}}", "placement=packed", ""},
		{"jobs: {a: {gpus: 8, " + work + "}}", "placement=rail", ""}, // another order
		{"jobs: {a: {gpus: 6, " + work + "}}", "placement=random", ""},
		{"workload: {" + work + "}", "placement=random", "placement has no effect: the scenario has no jobs"},
	} {
		p, err := resolved(t, site+c.text+"\n", c.set)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(p.Idle, "\n")
		if (notes != "") != (c.want != "") || !strings.Contains(notes, c.want) || c.want != "" &&
			(!strings.Contains(notes, "order of hosts") || !strings.Contains(notes, "on: [host-2, host-1]")) {
			t.Errorf("%s --set %s: notes %q", c.text, c.set, p.Idle)
		}
	}
}
