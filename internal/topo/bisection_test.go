package topo

import (
	"math"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// whole is the maximum flow between the halves of the servers, cable by cable.
func whole(g *Graph) unit.Rate {
	half := len(g.Hosts) / 2
	f := newFlowNet(len(g.Nodes) + 2)
	src, dst := len(g.Nodes), len(g.Nodes)+1
	for _, l := range g.Links {
		f.add(l.A, l.B, int64(l.Rate), int64(l.Rate))
	}
	for i, h := range g.Hosts[:2*half] {
		if i < half {
			f.add(src, h, 1<<60, 0)
		} else {
			f.add(h, dst, 1<<60, 0)
		}
	}
	return unit.Rate(f.max(src, dst))
}

// Classes of equivalent vertices have the flow of all vertices, in fabrics of every kind, with halves that divide a
// segment or a group, and with cables of several rates.
func TestBisectionOfClasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind, p := somePods(t)
		switch rapid.IntRange(0, 3).Draw(t, "direct") {
		case 0:
			kind, p.K = "torus", rapid.IntRange(2, 4).Draw(t, "side")
			p.Server.Ports, p.Pods = 1, 0
		case 1:
			kind, p.K, p.Pods = "dragonfly", rapid.IntRange(1, 2).Draw(t, "k")*p.Server.NICs, 0
			p.Groups = rapid.IntRange(2, 3).Draw(t, "groups")
			p.Server.Ports = 1
		}
		g := build(t, kind, p)
		for range rapid.IntRange(0, 3).Draw(t, "slower") {
			g.Links[rapid.IntRange(0, len(g.Links)-1).Draw(t, "cable")].Rate /= 4
		}
		got, share := g.Bisection()
		if len(g.Hosts) < 2 {
			return
		}
		if want := whole(g); got != want {
			t.Fatalf("%s %+v: %v between halves, %v by every cable", kind, p, got, want)
		}
		if !(share >= 0 && share <= 1+1e-9) || math.IsNaN(share) {
			t.Fatalf("%s %+v: %g of the NICs", kind, p, share)
		}
	})
}

// 65,536 GPUs in planes are as few vertices as eight.
func TestBisectionOfLargeFabrics(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps}
	g := build(t, "rail", Params{Server: Server{8, 8, 1}, Hosts: 128, Segments: 64, Spines: 64, Uplinks: 2,
		HostCable: c, Fabric: c})
	began := spent()
	if rate, share := g.Bisection(); share != 1 || rate != 4096*8*400*unit.Gbps {
		t.Errorf("%v, %g of the NICs", rate, share)
	}
	if took := spent() - began; took.Seconds() > 10 {
		t.Errorf("took %v of a processor", took)
	}
}
