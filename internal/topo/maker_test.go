package topo

import (
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// With different servers, each GPU is in its server and domain at its position. It uses NICs of its server: as many
// as there are per GPU, or one that a block of GPUs shares.
func TestServersThatDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := NewMaker("site")
		sw, err := m.Switch("sw", Leaf, 1)
		if err != nil {
			t.Fatal(err)
		}
		type server struct{ gpus, nics, first int }
		var servers []server
		var domain []int
		for i := range rapid.IntRange(1, 6).Draw(t, "servers") {
			per := rapid.IntRange(1, 3).Draw(t, "per")
			s := server{gpus: per, nics: per}
			switch rapid.IntRange(0, 2).Draw(t, "shape") {
			case 0:
				s.gpus *= rapid.IntRange(1, 4).Draw(t, "gpus")
			case 1:
				s.nics *= rapid.IntRange(1, 4).Draw(t, "nics")
			}
			if _, s.first, err = m.Server("h"+string(rune('a'+i)), s.gpus, s.nics); err != nil {
				t.Fatal(err)
			}
			for n := range s.nics {
				if err := m.CableNIC(s.first+n, 0, 1, sw, -1, Cable{Rate: unit.Gbps}); err != nil {
					t.Fatal(err)
				}
			}
			servers = append(servers, s)
			last := 0
			if i > 0 {
				last = domain[i-1] + rapid.IntRange(0, 1).Draw(t, "next domain")
			}
			domain = append(domain, last)
		}
		if err := m.Share(domain); err != nil {
			t.Fatal(err)
		}
		g, err := m.Graph()
		if err != nil {
			t.Fatal(err)
		}
		if g.Domains() != domain[len(domain)-1]+1 {
			t.Fatalf("%d domains of %v", g.Domains(), domain)
		}
		gpu, most, place := 0, 0, 0
		for h, s := range servers {
			if h > 0 && domain[h] != domain[h-1] {
				place = 0
			}
			for k := range s.gpus {
				var uses []int
				for p := range g.Ways(gpu) {
					uses = append(uses, g.WayOf(gpu, p)-s.first)
				}
				var want []int
				for n := range max(1, s.nics/s.gpus) {
					want = append(want, k*s.nics/s.gpus+n)
				}
				if !slices.Equal(uses, want) || g.WayOf(gpu, len(uses)) != g.WayOf(gpu, 0) {
					t.Fatalf("%+v: GPU %d uses %v, want %v", s, k, uses, want)
				}
				first, last := g.GPUsIn(domain[h])
				if g.HostOf(gpu) != h || g.LocalOf(gpu) != k || g.DomainOf(h) != domain[h] ||
					g.PlaceOf(gpu) != place || gpu < first || gpu >= last {
					t.Fatalf("GPU %d of server %d in %v is at %d", gpu, h, domain, g.PlaceOf(gpu))
				}
				if other := gpu - place; !g.Together(gpu, other) || g.DomainOf(g.ServerIn(domain[h])) !=
					domain[h] || other > 0 && g.Together(gpu, other-1) {
					t.Fatalf("GPU %d and %d", gpu, other)
				}
				gpu, place = gpu+1, place+1
				most = max(most, place)
			}
			a, b := g.ServersIn(domain[h])
			if h < a || h >= b || b-a == 1 && g.DomainName(domain[h]) != g.Nodes[g.Hosts[h]].Name {
				t.Fatalf("server %d is in domain %d of servers %d to %d, %s", h, domain[h], a, b,
					g.DomainName(domain[h]))
			}
		}
		if g.PerDomain() != most || g.TotalGPUs() != gpu {
			t.Fatalf("%d GPUs in a domain, want %d", g.PerDomain(), most)
		}
	})
}

// Impossible graphs are rejected: duplicate names, domains with a gap, missing NICs, empty graphs.
func TestMakerRefuses(t *testing.T) {
	want := func(err error, text string) {
		t.Helper()
		if err == nil || err.Error() != text {
			t.Errorf("%v, want %s", err, text)
		}
	}
	m := NewMaker("site")
	_, err := m.Graph()
	want(err, "the fabric has no servers")
	_, _, err = m.Server("store", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Graph()
	want(err, "no server has a GPU")
	for _, name := range []string{"a", "b", "c"} {
		if _, _, err := m.Server(name, 2, 2); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = m.Server("a", 1, 1)
	want(err, `"a" is repeated`)
	_, err = m.Switch("a", Leaf, 1)
	want(err, `"a" is repeated`)
	_, _, err = m.Server("huge", MaxGPUs, 1)
	if err == nil {
		t.Error("more GPUs than packet fidelity takes are taken")
	}
	want(m.Share([]int{0, 1, 2, 1}), "servers that share NVLink do not follow one another")
	want(m.Uses([][]int{{0}}), "2 NICs of the server, and 1 GPU set")
	want(m.Uses([][]int{{0}, {}}), "GPU 2 has no NIC")
	want(m.Uses([][]int{{0}, {2}}), "GPU 2 has NIC 3 of 2")
	if err := m.Uses([][]int{{1, 0}, {0}}); err != nil {
		t.Fatal(err)
	}
	g, err := m.Graph()
	if err != nil || g.Ways(4) != 2 || g.WayOf(4, 0) != 6 || g.WayOf(4, 1) != 5 || g.WayOf(5, 7) != 5 {
		t.Error(err, g.Ways(4), g.WayOf(4, 0), g.WayOf(4, 1), g.WayOf(5, 7))
	}
}

// A link is slower than its kind if most of the kind are faster. A faster one makes no others slow, nor do half of
// them.
func TestKindRates(t *testing.T) {
	for _, c := range []struct{ rates, want []unit.Rate }{
		{[]unit.Rate{100, 100, 25}, []unit.Rate{100, 100, 100}},
		{[]unit.Rate{25, 25, 25, 100}, []unit.Rate{25, 25, 25, 100}},
		{[]unit.Rate{100, 25, 25, 100}, []unit.Rate{100, 25, 25, 100}},
		{[]unit.Rate{25, 100}, []unit.Rate{100, 100}},
		{[]unit.Rate{200, 200, 200, 100, 400}, []unit.Rate{200, 200, 200, 200, 400}},
	} {
		g := &Graph{Nodes: []Node{{Role: Host}, {Role: Leaf}}}
		for _, rate := range c.rates {
			g.Links = append(g.Links, Link{B: 1, Rate: rate})
		}
		if got := g.KindRates(); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.rates, got, c.want)
		}
	}
}

// NICs of storage servers, and those of GPU servers for storage alone, are kinds of their own.
func TestKindRatesOfStorage(t *testing.T) {
	for _, separate := range []bool{false, true} {
		server := Server{GPUs: 2, NICs: 2, Ports: 1}
		g, err := Build("rail", Params{Server: server, Hosts: 4, Segments: 1, Spines: 2,
			Uplinks: 1, HostCable: Cable{Rate: 400 * unit.Gbps}, Fabric: Cable{Rate: 400 * unit.Gbps}})
		if err != nil {
			t.Fatal(err)
		}
		s := Storage{Servers: 2, NICs: 2, Cable: Cable{Rate: 200 * unit.Gbps}, Separate: separate, Front: 1,
			Switches: 1}
		if err := g.AddStorage(s); err != nil {
			t.Fatal(err)
		}
		for l, rate := range g.KindRates() {
			if rate != g.Links[l].Rate {
				t.Errorf("separate %v: a link of %v, its kind %v", separate, g.Links[l].Rate, rate)
			}
		}
	}
}
