package site

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"
)

// racks are trays of four GPUs whose racks share NVLink, and a server that shares it with nobody.
func racks(per ...string) *Site {
	return &Site{
		Types: []Type{
			{Name: "tray", GPUs: 4, NICs: 4, NICRate: 400 * unit.Gbps, Domain: []string{"rack"}},
			{Name: "files", NICs: 1, NICRate: 400 * unit.Gbps}, {Name: "sw"},
		},
		Nodes: []Group{{Name: "files", Type: "files"}, {Name: "tray", Type: "tray", Per: pairs(per...)},
			{Name: "sw", Type: "sw"}},
		Cables: []Rule{{From: "tray", To: "sw"}, {From: "files", To: "sw"}},
	}
}

// Trays of a rack follow one another, whichever place is written first, and their GPUs are one domain.
func TestDomains(t *testing.T) {
	whole, err := racks("rack", "2", "tray", "3").Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	if inv := whole.Inventory(); inv.Domains != 3 || inv.PerDomain != 12 || inv.Hosts != 7 {
		t.Errorf("%+v", inv)
	}
	for _, per := range [][]string{{"rack", "2", "tray", "3"}, {"tray", "3", "rack", "2"}} {
		g, err := racks(per...).Build(defaults)
		if err != nil {
			t.Fatal(err)
		}
		if g.Domains() != 3 || g.PerDomain() != 12 || g.PerServer() != 4 {
			t.Fatalf("%d domains of %d GPUs, servers of %d", g.Domains(), g.PerDomain(), g.PerServer())
		}
		var got []string
		for gpu := range g.TotalGPUs() {
			host := g.HostOf(gpu)
			got = append(got, fmt.Sprintf("%s %d.%d", g.GPUName(gpu), g.DomainOf(host), g.PlaceOf(gpu)))
			if first := g.ServerIn(g.DomainOf(host)); g.DomainOf(first) != g.DomainOf(host) || first > host {
				t.Errorf("%s: the first server of its domain is %d", g.GPUName(gpu), first)
			}
		}
		want := "tray-2-1/gpu-2 2.1"
		if per[0] == "tray" {
			want = "tray-1-2/gpu-2 2.1"
		}
		if len(got) != 24 || got[13] != want {
			t.Errorf("%v: %v", per, got)
		}
		if !g.Together(0, 11) || g.Together(11, 12) {
			t.Error("racks are one domain, or trays of a rack are two")
		}
		if first, last := g.GPUsIn(0); first != 0 || last != 0 {
			t.Errorf("the file server has GPUs %d to %d", first, last)
		}
	}
}

// A domain by a place that a group does not have, or of more GPUs than NVLink joins, is refused.
func TestBadDomains(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Site)
		want   string
	}{
		"no such place": {func(s *Site) { s.Types[0].Domain = []string{"hall"} },
			`types[0].domain: tray has no place "hall"; it has rack, tray, n`},
		"too many": {func(s *Site) { s.Nodes[1].Per[1].Value = "145" },
			"types[0].domain: 580 GPUs and more would share NVLink; at most 576 do"},
		"a switch": {func(s *Site) { s.Types[2].Domain = []string{"rack"} }, "types[2]: a switch"},
		"no GPUs": {func(s *Site) { s.Types[1].Domain = []string{"n"} },
			"types[1].domain: is of GPUs, of which files has none"},
	} {
		s := racks("rack", "2", "tray", "3")
		c.change(s)
		if _, err := s.Build(defaults); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}
