package topo

import (
	"strings"
	"testing"

	"railyard/unit"
)

// Rails are found by cables, however they were built.
func TestRailsOfBuilders(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	p := Params{Server: Server{GPUs: 4, NICs: 4, Ports: 1}, Hosts: 3, Segments: 2, Spines: 4, Uplinks: 2,
		HostCable: c, Fabric: c}
	alone, pods := p, p
	alone.Segments = 1
	pods.Pods, pods.Supers, pods.SuperUp, pods.Planes = 3, 4, 4, 1 // 16 cables down from a spine, 16 up
	for name, x := range map[string]struct {
		kind string
		p    Params
		want Rails
	}{
		"rail":      {"rail", p, Rails{4, 3, 2, 4, 2, c, c}},
		"rail-only": {"rail-only", alone, Rails{4, 3, 1, 0, 0, c, Cable{}}},
		"pods":      {"rail", pods, Rails{4, 3, 6, 4, 2, c, c}},
		"fat tree": {"fat-tree", Params{K: 4, Tiers: 3, HostCable: c, Fabric: c},
			Rails{1, 2, 8, 2, 1, c, c}},
	} {
		g, err := Build(x.kind, x.p)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := g.Rails(); err != nil || got != x.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, x.want)
		}
	}
}

// The reason why one rail cannot represent all is reported.
func TestNoRails(t *testing.T) {
	c := Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
	p := Params{Server: Server{GPUs: 4, NICs: 4, Ports: 1}, Hosts: 3, Segments: 2, Spines: 4, Uplinks: 2,
		HostCable: c, Fabric: c}
	pods := p
	pods.Pods, pods.Supers, pods.SuperUp, pods.Planes = 3, 4, 1, 1
	pair := p
	pair.Server.Ports = 2
	for _, x := range []struct {
		kind  string
		p     Params
		spoil func(g *Graph)
		want  string
	}{
		{"rail", p, func(g *Graph) { g.Links[len(g.Links)-1].Rate /= 2 },
			"seg-2-rail-4 has another cable up"},
		{"rail", p, func(g *Graph) { g.Links[0].LengthMM++ }, "has another cable than others"},
		{"rail", p, func(g *Graph) { g.Connect(g.Node("seg-1-rail-1"), g.Node("seg-1-rail-2"), c) },
			"are cabled to each other"},
		{"rail", p, func(g *Graph) { g.Connect(g.Node("seg-1-rail-1"), g.Node("spine-1"), c) },
			"has not as many cables to each of its spines"},
		{"rail", p, func(g *Graph) { g.Links = g.Links[:len(g.Links)-2] },
			"seg-2-rail-4 has 2 cables to each of 3"},
		{"rail", pods, nil, "is oversubscribed 4 : 1"},
		{"pod", pair, nil, "host-1/nic-1, on rail 1, has 2 cables"},
		{"single-rail", p, nil, "rails 1 and 2 meet at rail-1"},
		{"rail", p, func(g *Graph) { g.Links[g.NICs[0].Links[0]].B = g.Node("seg-2-rail-1") },
			"two segments meet at seg-1-rail-2"},
	} {
		if x.kind == "single-rail" {
			x.p.Segments = 1
		}
		g, err := Build(x.kind, x.p)
		if err != nil {
			t.Fatal(x.kind, err)
		}
		if x.spoil != nil {
			x.spoil(g)
		}
		if r, err := g.Rails(); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %+v, %v; want %q", x.kind, r, err, x.want)
		}
	}
}
