package diagnose

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters"
	"railyard/internal/swconf"
)

// told returns what a host's text says of its NIC, by lines of host-2.sh.
func told(set func(h *swconf.Host, n *swconf.HostNIC)) []*swconf.Host {
	h := &swconf.Host{File: "host-2.sh", NICs: []*swconf.HostNIC{{Dev: "eth0", RDMA: "mlx5_0", Kind: "mlx5"}}}
	set(h, h.NICs[0])
	return []*swconf.Host{h}
}

func at(line int) swconf.Place { return swconf.Place{File: "host-2.sh", Line: line} }

func classZero(l *lab) {
	p := l.now("host-2", "eth0")
	p.Queues[0].TxPackets.V, p.Queues[0].TxBytes.V = often, 4200*often
	p.Queues[data].TxPackets.V, p.Queues[data].TxBytes.V = 7, 7
}

// TestHostTexts: what hosts are told explains what they do, line by line.
func TestHostTexts(t *testing.T) {
	for _, c := range []struct {
		name, cause, says, cites string
		line                     int
		plant                    func(*lab)
		set                      func(h *swconf.Host, n *swconf.HostNIC)
	}{
		{"trust pcp", "wrong-class", "has trust pcp", "trust pcp", 4, classZero,
			func(_ *swconf.Host, n *swconf.HostNIC) { n.Trust = swconf.Say("pcp", at(4)) }},
		{"no DSCP", "wrong-class", "its configuration sets no DSCP", "the DSCP of RoCE is 0", 0, classZero,
			func(_ *swconf.Host, n *swconf.HostNIC) { n.Trust = swconf.Say("dscp", at(4)) }},
		{"NCCL's class", "wrong-class", "NCCL_IB_TC sets DSCP 1, priority 0",
			"data has DSCP 1", 7,
			classZero, func(h *swconf.Host, n *swconf.HostNIC) {
				n.Trust = swconf.Say("dscp", at(4))
				h.Env = []swconf.HostVar{{Name: "NCCL_IB_TC", Value: "4", At: at(7)}}
			}},
		{"cnp_dscp", "cnp-class", "cnp_dscp is 26", "CNPs have DSCP 26", 9, func(l *lab) {
			l.now("host-2", "eth0").Queues[cnps].TxPackets.V = 7
			l.now("host-2", "eth0").Queues[data].TxPackets.V += 50
		}, func(_ *swconf.Host, n *swconf.HostNIC) { n.CNPDSCP = swconf.Say[uint8](26, at(9)) }},
		{"no PFC", "pfc-off", "PFC of priority 3 is off at host-2 eth0", "PFC of eth0 (mlx5_0) is on for no",
			5,
			func(l *lab) { l.pause("leaf1", "Ethernet1/2", 4_000) },
			func(_ *swconf.Host, n *swconf.HostNIC) { n.PFC[data] = swconf.Say(false, at(5)) }},
		{"no reaction", "incast", "congestion control is off on sending hosts", "CNPs are ignored", 6,
			func(l *lab) {
				l.pause("leaf1", "Ethernet1/2", 4_000)
				l.now("leaf1", "Ethernet1/9").Queues[data].Marked.V += 90_000
			}, func(_ *swconf.Host, n *swconf.HostNIC) { n.RP[data] = swconf.Say(false, at(6)) }},
	} {
		l := healthy()
		c.plant(l)
		in := l.input()
		in.Hosts = told(c.set)
		f, err := Gather(in)
		if err != nil {
			t.Fatal(err)
		}
		all := f.Find()
		if len(all) == 0 || all[0].Cause != c.cause || !strings.Contains(all[0].Says, c.says) {
			t.Errorf("%s: found %+v", c.name, all)
			continue
		}
		cited := false
		for _, e := range all[0].Evidence {
			cited = cited || strings.Contains(e.Says, c.cites) && e.Line == c.line && e.File == "host-2.sh"
		}
		if !cited {
			t.Errorf("%s: host-2.sh:%d is not cited: %v", c.name, c.line, all[0].Evidence)
		}
	}
}

// TestHostTextsOfAll: variables in a text of no host are those of all; a host that nobody saw is noted.
func TestHostTextsOfAll(t *testing.T) {
	l := healthy()
	classZero(l)
	in := l.input()
	in.Hosts = []*swconf.Host{
		{File: "nccl.conf", Env: []swconf.HostVar{{Name: "NCCL_IB_TC", Value: "106",
			At: swconf.Place{File: "nccl.conf", Line: 2}}}},
		{File: "host-77.sh", NICs: []*swconf.HostNIC{{Dev: "eth0"}}}}
	f, err := Gather(in)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(f.Notes, "\n"), "host-77.sh is of host host-77") {
		t.Error(f.Notes)
	}
	cited := false
	for _, x := range f.Find() {
		for _, e := range x.Evidence {
			cited = cited || e.File == "nccl.conf" && strings.Contains(e.Says, "DSCP 26 (NCCL_IB_TC)")
		}
	}
	if !cited {
		t.Error("nccl.conf is not cited")
	}
}

// TestOthersBefore names the devices of both moments where none is in both.
func TestOthersBefore(t *testing.T) {
	l := healthy()
	in := l.input()
	in.Before = slices.Clone(in.Before)
	for i := range in.Before {
		in.Before[i].Device = "old-" + in.Before[i].Device
	}
	_, err := Gather(in)
	if err == nil || !strings.Contains(err.Error(), "old-host-4, old-leaf1, old-leaf2 and 1 more") ||
		!strings.Contains(err.Error(), " leaf1, leaf2, spine1") {
		t.Error(err)
	}
}

// TestSelfCabled remarks a switch that receives its own LLDP, and does not take it for a cable.
func TestSelfCabled(t *testing.T) {
	l := healthy()
	for _, m := range []map[string]*counters.Snapshot{l.before, l.after} {
		m["leaf1"].Ports[2].Peer = counters.Peer{Device: "leaf1", Port: "Ethernet1/8", Line: 40}
		m["spine1"].Ports[0].Peer = counters.Peer{}
	}
	f, err := Gather(l.input())
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(f.Notes, "\n"); !strings.Contains(all,
		"leaf1.txt:40: leaf1 Ethernet1/9 receives LLDP of leaf1 itself (port Ethernet1/8)") {
		t.Error(all)
	}
	if f.Device("leaf1").Port("Ethernet1/9").Peer != nil {
		t.Error("it is taken for a cable")
	}
}

// TestShort: three digits, whatever rounding makes of them.
func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 999.9: "1 k", 1000: "1 k", 999_999: "1 M",
		1234: "1.23 k", 5e13: "50 T"} {
		if got := Short(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
