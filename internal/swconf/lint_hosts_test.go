package swconf

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

// hat is a place in a host's text.
func hat(line int) Place { return Place{File: "h.sh", Line: line, Col: 1} }

// node is a correct host at the switch of leaf(): DSCP 24 in priority 3, CNPs with 48.
func node() (*Host, *HostNIC) {
	n := &HostNIC{Dev: "eth0", RDMA: "mlx5_0", Kind: "mlx5", At: hat(1), Trust: Say("dscp", hat(2)),
		Class: Say(uint8(98), hat(3)), CNPDSCP: Say(uint8(48), hat(4)), MTU: Say(unit.Bytes(9000), hat(5)),
		PathMTU: Say(4096, hat(6)), ToS: Say(uint8(96), hat(7)), Pause: Say(false, hat(8))}
	for i := range n.PFC {
		n.PFC[i] = Say(i == 3, hat(9))
	}
	n.NP[3], n.RP[3] = Say(true, hat(10)), Say(true, hat(11))
	n.GIDs = []Said[HostGID]{Say(HostGID{Index: 0, Local: true}, hat(20)), Say(HostGID{Index: 1,
		V2: true, Local: true},
		hat(20)), Say(HostGID{Index: 2}, hat(20)), Say(HostGID{Index: 3, V2: true}, hat(20))}
	h := &Host{File: "h.sh", NICs: []*HostNIC{n}, Env: []HostVar{{"NCCL_IB_TC", "96", hat(12)},
		{"NCCL_IB_GID_INDEX", "3", hat(13)}, {"NCCL_IB_QPS_PER_CONNECTION", "4", hat(14)}}}
	return h, n
}

// set changes a variable.
func (h *Host) set(name, value string) {
	for i := range h.Env {
		if h.Env[i].Name == name {
			h.Env[i].Value = value
			return
		}
	}
}

// Each rule about hosts has a host that breaks it, with its line, and one that breaks none.
func TestHostRules(t *testing.T) {
	check := func(name string, want []string, change func(h *Host, n *HostNIC, c *Config)) {
		h, n := node()
		c := leaf()
		c.BGP = &BGP{MaxPaths: Say(64, at(80)), Relax: Say(true, at(80)), Connected: Say(true, at(80))}
		change(h, n, c)
		var got []string
		for _, f := range Lint(Input{Configs: []*Config{c}, Hosts: []*Host{h}, DataDSCP: 24, CNPDSCP: 48,
			PathMTU: 4096, Pipeline: unit.Microsecond / 2, Base: queue.Default()}) {
			if f.File == "h.sh" {
				got = append(got, fmt.Sprintf("%s:%d", f.Rule, f.Line))
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: found %v, want %v", name, got, want)
		}
	}
	type change = func(*Host, *HostNIC, *Config)
	check("the good host", nil, func(*Host, *HostNIC, *Config) {})
	for _, c := range []struct {
		want string
		change
	}{
		{"host-trust:2", func(_ *Host, n *HostNIC, _ *Config) { n.Trust.V = "pcp" }},
		{"host-data-class:3 host-class-differs:12",
			func(_ *Host, n *HostNIC, _ *Config) { n.Class.V = 160 }},
		{"host-data-class:3", func(h *Host, n *HostNIC, _ *Config) {
			n.Class.V, n.ToS.V = 104, 104
			h.set("NCCL_IB_TC", "104")
			n.DSCP[26] = Say(uint8(3), hat(15))
		}},
		{"host-pfc:9 host-pfc-differs:9", func(_ *Host, n *HostNIC, _ *Config) {
			n.PFC[3].V, n.PFC[4].V = false, true
		}},
		{"host-pfc-differs:9", func(_ *Host, n *HostNIC, _ *Config) { n.PFC[4].V = true }},
		{"host-priority:15", func(_ *Host, n *HostNIC, c *Config) {
			n.PFC[4].V, n.DSCP[24] = true, Say(uint8(4), hat(15))
			n.NP[4], n.RP[4] = n.NP[3], n.RP[3]
			c.QoS.Queues[4].Pause = Say(4, at(44))
		}},
		{"host-cnp-class:4", func(_ *Host, n *HostNIC, _ *Config) { n.CNPDSCP.V = 0 }},
		{"host-cnp-class:4", func(_ *Host, n *HostNIC, c *Config) {
			c.QoS.DSCP[47] = Say(uint8(3), at(47))
			n.CNPDSCP.V = 47
		}},
		{"host-cnp-class:4", func(_ *Host, _ *HostNIC, c *Config) { c.QoS.Queues[7] = Queue{} }},
		{"", func(_ *Host, _ *HostNIC, c *Config) { // strict there by default
			c.OS, c.QoS.Queues[7] = EOS, Queue{}
		}},
		{"host-ecn:10", func(_ *Host, n *HostNIC, _ *Config) { n.NP[3].V = false }},
		{"host-ecn:11", func(_ *Host, n *HostNIC, _ *Config) { n.RP[3].V = false }},
		{"host-ecn:16", func(_ *Host, n *HostNIC, _ *Config) { n.CC = Say(false, hat(16)) }},
		{"host-mtu:5", func(_ *Host, n *HostNIC, _ *Config) { n.MTU.V = 9217 }},
		{"host-path-mtu:5", func(_ *Host, n *HostNIC, _ *Config) { n.MTU.V = 4096 + 95 }},
		{"", func(_ *Host, n *HostNIC, _ *Config) { n.MTU.V = 4096 + 96 }},
		{"host-path-mtu:6", func(_ *Host, n *HostNIC, _ *Config) { n.PathMTU.V = 1024 }},
		{"host-class-differs:12", func(h *Host, _ *HostNIC, _ *Config) { h.set("NCCL_IB_TC", "0") }},
		{"host-class-unset:13", func(h *Host, n *HostNIC, _ *Config) {
			n.Class, h.Env = Said[uint8]{}, h.Env[1:]
		}},
		{"host-gid:13", func(h *Host, _ *HostNIC, _ *Config) { h.set("NCCL_IB_GID_INDEX", "2") }},
		{"host-gid:13", func(h *Host, _ *HostNIC, _ *Config) { h.set("NCCL_IB_GID_INDEX", "1") }},
		{"host-gid:13", func(h *Host, _ *HostNIC, _ *Config) { h.set("NCCL_IB_GID_INDEX", "7") }},
		{"host-gid-even:13", func(h *Host, n *HostNIC, _ *Config) {
			n.GIDs = nil
			h.set("NCCL_IB_GID_INDEX", "0")
		}},
		{"host-qps:14", func(h *Host, _ *HostNIC, _ *Config) { h.set("NCCL_IB_QPS_PER_CONNECTION", "1") }},
		{"", func(h *Host, _ *HostNIC, c *Config) {
			h.set("NCCL_IB_QPS_PER_CONNECTION", "1")
			c.DLB = &DLB{At: at(50), Mode: Say("flowlet", at(50)), All: true}
		}},
		{"host-pause:8", func(_ *Host, n *HostNIC, _ *Config) { n.Pause.V = true }},
		{"host-cnp-class:31 host-differs:31", func(h *Host, n *HostNIC, _ *Config) {
			for range 2 {
				m := *n
				h.NICs = append(h.NICs, &m)
			}
			h.NICs[1].CNPDSCP = Say(uint8(49), hat(31))
			h.NICs[1].DSCP[49] = Say(uint8(6), hat(31))
		}},
		{"unknown-line:40", func(h *Host, _ *HostNIC, _ *Config) {
			h.Unknown = []Unknown{{At: hat(40), Text: "x", Why: "y"}}
		}},
	} {
		check(c.want, strings.Fields(c.want), c.change)
	}
}

// A rule's message describes both ends, and NICs with one fault on one line are one finding. A host of the fabric
// is compared only with the ports of its cables.
func TestHostWords(t *testing.T) {
	h, n := node()
	m := *n
	m.Dev, m.RDMA = "eth1", "mlx5_1"
	h.NICs = append(h.NICs, &m)
	for _, n := range h.NICs {
		n.PFC[3].V, n.PFC[4].V = false, true
	}
	other := leaf()
	other.Hostname.V = "leaf-2"
	var got []Finding
	for _, f := range Lint(Input{Configs: []*Config{leaf(), other}, Hosts: []*Host{h}, DataDSCP: 24,
		CNPDSCP: 48,
		PathMTU: 4096, Base: queue.Default()}) {
		if f.Rule == "host-pfc-differs" {
			got = append(got, f)
		}
	}
	want := "eth0 (mlx5_0), eth1 (mlx5_1): pauses priority 4, and leaf and one more 3"
	if len(got) != 1 || got[0].Message != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

// A host without a known switch is wrong if it is wrong at all of them. If it suits one, that may be its own, and
// the others belong to another fabric.
func TestHostOfAnotherSwitch(t *testing.T) {
	h, _ := node()
	own, other := leaf(), leaf()
	other.File, other.Hostname = "y.cfg", Say("other", Place{File: "y.cfg", Line: 1})
	other.QoS.Queues[4], other.QoS.Queues[3] = other.QoS.Queues[3], Queue{}
	other.QoS.Queues[4].Pause = Say(4, at(33))
	worst := func(cs ...*Config) (worst Severity) {
		for _, f := range Lint(Input{Configs: cs, Hosts: []*Host{h}, DataDSCP: 24, CNPDSCP: 48, PathMTU: 4096,
			Pipeline: unit.Microsecond / 2, Base: queue.Default()}) {
			if f.Rule == "host-pfc-differs" && worst != Error {
				worst = f.Severity
			}
		}
		return worst
	}
	if s := worst(own); s != "" {
		t.Errorf("its own switch: %q", s)
	}
	if s := worst(other); s != Error {
		t.Errorf("the only switch there is pauses another priority: %q", s)
	}
	for _, cs := range [][]*Config{{own, other}, {other, own}} {
		if s := worst(cs...); s != Warning {
			t.Errorf("one of two suits it: %q", s)
		}
	}
}
