package protocols

import (
	"fmt"
	"slices"
	"testing"

	"railyard/cc"
	"railyard/transport"
	"railyard/unit"
)

// TestAll checks that what scenarios, schema and reports read of each protocol is consistent: defaults have the
// parameter's type and range, controls exist, names are unique, and every kind of packet has a size.
func TestAll(t *testing.T) {
	for i, p := range All {
		if All.Lookup(p.Name) != p || slices.Index(All.Names(), p.Name) != i {
			t.Errorf("%s is not found by its name", p.Name)
		}
		if err := p.Defaults.Fits(p.Params); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		for _, par := range p.Params {
			text := fmt.Sprint(p.Defaults[par.Name])
			if v, err := par.Parse(text); err != nil || v != p.Defaults[par.Name] {
				t.Errorf("%s: the default of %s, %s, is not accepted: %v", p.Name, par.Name, text, err)
			}
		}
		for _, name := range append([]string{p.CC}, p.Controls...) {
			if name != "" && cc.Lookup(name) == nil {
				t.Errorf("%s runs %q, which there is not", p.Name, name)
			}
		}
		common := transport.Common{MTU: 4096, Planes: 4}
		if name, fault := p.Check(p.Defaults, common); name != "" || fault != "" {
			t.Errorf("%s: with its defaults and four planes %s %s", p.Name, name, fault)
		}
		m := p.New(p.Defaults, common)
		for k := transport.Data; k <= transport.Control; k++ {
			n := m.Wire(&transport.Packet{Kind: k, Payload: 100})
			if n < 64 || k == transport.Data && n <= 100 {
				t.Errorf("%s: %v has a frame of %d bytes", p.Name, k, n)
			}
		}
		r := m.Receiver(cc.Path{Line: 100 * unit.Gbps, MTU: 4096, RTT: 10 * unit.Microsecond}, 1)
		for _, name := range []string{transport.CounterReordered, transport.CounterDuplicates,
			transport.CounterPlaced} {
			if n, ok := r.Counter(name); !ok || n != 0 {
				t.Errorf("%s: a receiver that got nothing counts %d %s, %v", p.Name, n, name, ok)
			}
		}
	}
}
