package recognise

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/topo"
	"railyard/unit"
)

var (
	hostCable   = topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 5_000}
	fabricCable = topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}
)

// fabrics are of every kind that the builders know.
var fabrics = []struct {
	name, kind string
	p          topo.Params
	lines      int // of nodes and cables
}{
	{"one rail switch", "single-rail", topo.Params{Server: topo.Server{GPUs: 8, NICs: 8, Ports: 1},
		Hosts: 4, Segments: 1}, 3},
	{"two rail switches", "dual-rail", topo.Params{Server: topo.Server{GPUs: 8, NICs: 8, Ports: 2},
		Hosts: 4, Segments: 1}, 4},
	{"rails alone", "rail-only", topo.Params{Server: topo.Server{GPUs: 8, NICs: 8, Ports: 1}, Hosts: 4,
		Segments: 1}, 3},
	{"rails", "rail", topo.Params{Server: topo.Server{GPUs: 8, NICs: 8, Ports: 1}, Hosts: 16, Segments: 4,
		Spines: 8, Uplinks: 2}, 5},
	{"rails in pods", "rail", topo.Params{Server: topo.Server{GPUs: 4, NICs: 4, Ports: 1}, Hosts: 4,
		Segments: 2, Spines: 4,
		Uplinks: 1, Pods: 3, Supers: 4, SuperUp: 1, Planes: 2}, 7},
	{"pairs", "pod", topo.Params{Server: topo.Server{GPUs: 8, NICs: 8, Ports: 2}, Hosts: 4, Segments: 4,
		Spines: 4, Uplinks: 8}, 8},
	{"fat tree of two tiers", "fat-tree", topo.Params{K: 8, Tiers: 2}, 5},
	{"fat tree of three tiers", "fat-tree", topo.Params{K: 8, Tiers: 3}, 7},
	{"torus", "torus", topo.Params{Server: topo.Server{GPUs: 4, NICs: 1, Ports: 1}, K: 4, Hosts: 1,
		Uplinks: 1}, 6},
	{"dragonfly", "dragonfly", topo.Params{K: 2}, 5},
	{"dragonfly of few groups", "dragonfly", topo.Params{K: 2, GroupSize: 4, Global: 4, Groups: 10}, 5},
}

func TestFabrics(t *testing.T) {
	for _, f := range fabrics {
		f.p.HostCable, f.p.Fabric = hostCable, fabricCable
		g, err := topo.Build(f.kind, f.p)
		if err != nil {
			t.Fatal(f.name, err)
		}
		got, err := Recognise(cabling.Of(g), Options{})
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		text := got.YAML("x", "")
		groups := func(regions [][]int) (sizes []int) {
			for _, r := range regions {
				sizes = append(sizes, len(r))
			}
			return sizes
		}
		if built, found := groups(g.Regions), groups(got.Graph.Regions); !slices.Equal(built, found) {
			t.Errorf("%s: groups of %v switches, want %v", f.name, found, built)
		}
		if n := len(got.Site.Nodes) + len(got.Site.Cables); n > f.lines {
			t.Errorf("%s: %d lines of nodes and cables, want %d\n%s", f.name, n, f.lines, text)
		}
		if testing.Verbose() {
			fmt.Println(f.name, strings.Join(got.Notes, "\n"))
			fmt.Println(text)
		}
	}
}

// Two nodes of which nothing tells what they are: the one with a single cable is taken for a
// server, unless somebody says otherwise.
func TestTold(t *testing.T) {
	nodes := []cabling.Node{{Name: "alpha", GPUs: -1}, {Name: "beta", GPUs: -1}, {Name: "gamma", GPUs: -1}}
	c := cabling.New(nodes, []cabling.Cable{{A: cabling.End{Node: 0}, B: cabling.End{Node: 1}},
		{A: cabling.End{Node: 1}, B: cabling.End{Node: 2}}})
	for names, want := range map[string]string{"": "2 hosts", "alpha": "1 hosts"} {
		o := Options{Servers: names}
		if names != "" {
			o.Switches = "gamma"
		}
		f, err := Recognise(c, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d hosts", len(f.Graph.Hosts)); got != want {
			t.Errorf("%q: %s, want %s", names, got, want)
		}
		// A length is noted where a cable has it: with two servers no cable joins switches.
		notes := strings.Join(f.Notes, "\n")
		if !strings.Contains(notes, "not set: 5m to servers (--host-length)") ||
			strings.Contains(notes, "30m between switches") != (names != "") {
			t.Errorf("%q: %s", names, notes)
		}
	}
	if _, err := Recognise(c, Options{Servers: "delta"}); err == nil {
		t.Error("a name that nobody has was accepted")
	}
}
