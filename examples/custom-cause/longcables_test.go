package longcables

import (
	"testing"

	"railyard/extend"
	"railyard/extend/extendtest"
	"railyard/unit"
)

// TestConformance tests the cause as Railyard tests what extensions add.
func TestConformance(t *testing.T) { extendtest.All(t) }

// TestClaim checks that only the part of a cable beyond 300 m counts, with the share of packets that take it, at the
// longest one; and that a run without the cause has none of it.
func TestClaim(t *testing.T) {
	cable := func(metres int64, share float64) extend.Hop {
		return extend.Hop{From: "router-1", To: "router-2", Share: share,
			Cable: extend.Cable{LengthMM: metres * 1000, Delay: unit.Time(metres) * 5 * unit.Nanosecond}}
	}
	m := extend.Message{Done: unit.Millisecond,
		Hops: []extend.Hop{cable(10, 1), cable(1300, 0.5), cable(10_300, 1), cable(300, 1)}}
	if lost, hop := claim(nil, &m); lost != 52_500*unit.Nanosecond || hop != 2 {
		t.Errorf("%s at hop %d", lost.Show(), hop)
	}
	if text := evidence(&m, 2); text != "10300 m from router-1 to router-2" {
		t.Error(text)
	}
	for i := range m.Hops {
		shorten(&m.Hops[i].Cable)
	}
	if lost, hop := claim(nil, &m); lost != 0 || hop != -1 || m.Hops[2].Delay != 1500*unit.Nanosecond {
		t.Errorf("%s at hop %d without it: %+v", lost.Show(), hop, m.Hops)
	}
}
