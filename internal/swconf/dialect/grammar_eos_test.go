package dialect_test

import (
	"testing"

	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
)

const eosPorts = `Ethernet\d+(/\d+){0,2}|Port-Channel\d+|Loopback\d+|Vlan\d+|Vxlan1`

// All EOS output, for every kind of fabric and every feature, consists of commands of the table in their modes,
// token by token. Every command of the table is used.
func TestEOSGrammar(t *testing.T) {
	g := readGrammar(t, "testdata/eos-grammar.txt", eosPorts)
	g.step = 3
	try, tried := g.fabrics(t, swconf.EOS)
	try(plan(channelled(t), spec(), swconf.EOS, design.Numbered, "", ""))
	s := spec()
	s.MTU, s.Watchdog.Forward, s.Queues[3].WRED.ECN, s.Queues[3].WRED.Min = 4200, true, false, 1234
	try(plan(fabric(t, "pod"), s, swconf.EOS, design.Numbered, design.MLAG, ""))
	off, err := plan(fabric(t, "rail"), spec(), swconf.EOS, design.Unnumbered, "", "")
	if err == nil {
		off.Switches[0].Ports[0].Own = true // PFC off
	}
	try(off, err)
	if *tried < 100 {
		t.Errorf("%d texts tried", *tried)
	}
	for _, rules := range g.rules {
		for _, r := range rules {
			if !r.used {
				t.Errorf("%s | %s: nothing is rendered by it", r.mode, r.text)
			}
		}
	}
	for text, want := range map[string]bool{
		"qos map dscp 0-23 25 to traffic-class 3\n":                                     true,
		"qos map dscp to traffic-class 3\n":                                             false,
		"priority-flow-control pause watchdog default timeout 0.001\n":                  false,
		"platform trident mmu queue profile F\n   ingress headroom bytes 5\n":           true,
		"platform trident mmu queue profile F\n   ingress headroom 5 bytes\n":           false,
		"platform trident mmu queue profile F\n   egress unicast queue 1 threshold 3\n": false,
		"interface Ethernet1\n   channel-group 4000 mode active\n":                      false,
	} {
		if err := g.check(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
