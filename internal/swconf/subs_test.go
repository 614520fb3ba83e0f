package swconf

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"railyard/unit"
)

// pair is two switches with a cable that carries two sessions: one of the default VRF, and one of RED on a
// subinterface.
func pair() (a, b *Config) {
	line := 0
	here := func() Place { line++; return Place{File: "x", Line: line, Col: 1} }
	one := func(name, peer, own, far string, as, farAS uint32) *Config {
		addr := func(s string) []Said[netip.Prefix] {
			return []Said[netip.Prefix]{Say(netip.MustParsePrefix(s), here())}
		}
		p := &Port{Name: "Ethernet1", Number: 1, At: here(), Addrs: addr(own + "/31"),
			Desc: Say("to "+peer+" Ethernet1", here())}
		s := &Port{Name: "Ethernet1.10", Parent: "Ethernet1", Tag: Say(10, here()), VRF: Say("RED", here()),
			At: here(), Addrs: addr(own + "/31")}
		n := func(vrf string) *Neighbor {
			return &Neighbor{At: here(), Addr: netip.MustParseAddr(far), VRF: vrf, Active: true,
				Remote: Say(fmt.Sprint(farAS), here())}
		}
		return &Config{OS: EOS, File: name, Hostname: Say(name, here()), Ports: []*Port{p}, Subs: []*Port{s},
			BGP: &BGP{ASN: Say(as, here()), MaxPaths: Say(4, here()), Connected: Say(true, here()),
				Relax: Say(true, here()), Neighbors: []*Neighbor{n(""), n("RED")}}}
	}
	return one("leaf1", "spine1", "10.0.0.0", "10.0.0.1", 65001, 65100),
		one("spine1", "leaf1", "10.0.0.1", "10.0.0.0", 65100, 65001)
}

func ruleIDs(configs ...*Config) (ids []string) {
	for _, f := range Lint(Input{Configs: configs, PathMTU: 1024}) {
		ids = append(ids, f.Rule)
	}
	return ids
}

// Addresses and neighbours come again in another VRF, and a session may run on a subinterface.
func TestVRFsRepeat(t *testing.T) {
	a, b := pair()
	if got := ruleIDs(a, b); len(got) > 0 {
		t.Errorf("two VRFs with the same addresses: %v", got)
	}
	a.Subs[0].VRF = Said[string]{}
	if got := ruleIDs(a, b); !slices.Contains(got, "address-duplicate") {
		t.Errorf("one address twice in the default VRF: %v", got)
	}
	a, b = pair()
	a.BGP.Neighbors, b.BGP.Neighbors = a.BGP.Neighbors[1:], b.BGP.Neighbors[1:]
	a.Ports[0].Addrs, b.Ports[0].Addrs = nil, nil
	if got := ruleIDs(a, b); len(got) > 0 {
		t.Errorf("the session on a subinterface: %v", got)
	}
	a.BGP.Neighbors[0].Remote.V = "65101"
	if got := ruleIDs(a, b); !slices.Contains(got, "bgp-as-mismatch") {
		t.Errorf("another AS in the VRF: %v", got)
	}
	b.BGP.Neighbors[0].Local = Say("65101", Place{Line: 1})
	a.BGP.Neighbors[0].Remote.V = "65101"
	if got := ruleIDs(a, b); len(got) > 0 {
		t.Errorf("the AS that the other tells of: %v", got)
	}
	a.BGP.Neighbors = nil
	if got := ruleIDs(a, b); !slices.Contains(got, "bgp-neighbor-missing") {
		t.Errorf("no session at one end: %v", got)
	}
}

// Two switches with a session may share an AS number. Without a session, a rule reports the shared number.
func TestSharedASNumbers(t *testing.T) {
	a, b := pair()
	b.Hostname.V, a.Ports[0].Desc.V = "leaf2", "to leaf2 Ethernet1"
	a.BGP.ASN.V, b.BGP.ASN.V = 65001, 65001
	for _, c := range []*Config{a, b} {
		for _, n := range c.BGP.Neighbors {
			n.Remote.V = "65001"
		}
	}
	if got := ruleIDs(a, b); len(got) > 0 {
		t.Errorf("a pair in one AS: %v", got)
	}
	a.BGP.Neighbors, b.BGP.Neighbors = nil, nil
	if got := ruleIDs(a, b); !slices.Contains(got, "bgp-duplicate") {
		t.Errorf("two strangers in one AS: %v", got)
	}
}

// Thresholds that are no bytes are shown as they are said; rules that compare bytes say nothing of them, nor
// of a platform that nobody named.
func TestThresholdsAsSaid(t *testing.T) {
	q := &QoS{Input: Say("trust dscp", Place{Line: 1})}
	q.Queues[3] = Queue{Name: "tx-queue 3", At: Place{Line: 2}, Pause: Say(3, Place{Line: 3}),
		WRED: Say(WRED{MinText: "2000 segments", MaxText: "10000 segments", Percent: 20, ECN: true},
			Place{Line: 4})}
	if got := q.Queues[3].ecn(); got != "marks 2000 segments..10000 segments 20%" {
		t.Errorf("shown as %q", got)
	}
	c := &Config{OS: EOS, File: "x", QoS: q, Watchdog: Watchdog{On: Say(true, Place{Line: 1})}}
	for _, f := range Lint(Input{Configs: []*Config{c}}) {
		if f.Rule == "threshold-order" || f.Rule == "threshold-buffer" {
			t.Errorf("%s", f.Message)
		}
	}
	q.Queues[3].WRED.V = WRED{Min: 1, Max: unit.Bytes(1) << 40, Percent: 20, ECN: true}
	for _, f := range Lint(Input{Configs: []*Config{c}}) {
		if f.Rule == "threshold-order" || f.Rule == "threshold-buffer" {
			t.Errorf("of an unknown platform: %s", f.Message)
		}
	}
	q.Queues[3].WRED.V.Min = 1 << 41
	if got := ruleIDs(c); !slices.Contains(got, "threshold-order") {
		t.Errorf("a minimum above the maximum: %v", got)
	}
}
