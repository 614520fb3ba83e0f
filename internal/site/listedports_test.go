package site

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"
)

// paired is two leaves of four servers each, below two spines.
func paired(edit func(s *Site)) *Site {
	s := &Site{
		Types: []Type{{Name: "host", GPUs: 1, NICs: 1}, {Name: "leaf", Ports: "32x400Gbps", Split: 2, OS: "nxos"},
			{Name: "spine", Role: "spine", OS: "nxos"}},
		Nodes: []Group{{Name: "host", Type: "host", Per: pairs("rack", "2"), Count: 4},
			{Name: "leaf", Type: "leaf", Per: pairs("rack", "2")}, {Name: "spine", Type: "spine", Count: 2}},
		Cables: []Rule{{From: "host", To: "leaf", Same: []string{"rack"}, ToPorts: "9/2,9/1,10-11/1", Rate: 200 * unit.Gbps},
			{From: "leaf", To: "spine", FromPorts: "31,30"}, {From: "leaf", To: "spine"}},
	}
	edit(s)
	return s
}

// Rules that list ports use those, in the order of their cables at every switch; the others use the first that are
// free.
func TestListedPorts(t *testing.T) {
	g, err := paired(func(*Site) {}).Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string][]string{}
	for _, l := range g.Links {
		at[g.Nodes[l.A].Name] = append(at[g.Nodes[l.A].Name], l.APort)
		at[g.Nodes[l.B].Name] = append(at[g.Nodes[l.B].Name], l.BPort)
	}
	for _, leaf := range []string{"leaf-1", "leaf-2"} {
		if got, want := fmt.Sprint(at[leaf]), "[Ethernet1/9/2 Ethernet1/9/1 Ethernet1/10/1 Ethernet1/11/1 Ethernet1/31 Ethernet1/30 Ethernet1/1 Ethernet1/2]"; got != want {
			t.Errorf("%s: %s, want %s", leaf, got, want)
		}
	}
}

func TestListedPortsRefused(t *testing.T) {
	for _, x := range []struct {
		edit func(s *Site)
		want string
	}{
		{func(s *Site) { s.Cables[0].ToPorts = "9-11" }, "cables[0].to_ports: leaf-1 has more cables of this rule than the list has ports, 3"},
		{func(s *Site) { s.Cables[0].ToPorts = "30-33" }, "cables[0].to_ports: leaf-1: unknown port 33; they go from 1 to 32"},
		{func(s *Site) { s.Cables[0].ToPorts = "29-32" }, "cables[1].from_ports: leaf-1: port 31 has a cable already"},
		{func(s *Site) { s.Cables[0].ToPorts = "9,9/1,10,11" }, "port 9/1 has a cable already"},
		{func(s *Site) { s.Cables[0].ToPorts = "9/3,10-12" }, "port 9 has no part 3 of 200Gbps; it splits into 2 (split of type leaf)"},
		{func(s *Site) { s.Cables[0].FromPorts = "1" }, "cables[0].from_ports: host is servers: nics selects their cards"},
		{func(s *Site) { s.Cables[1].ToPorts = "one" }, `cables[1].to_ports: "one" is not a list of ports; accepted: 1,4,7,10`},
		{func(s *Site) { s.Cables[1].ToPorts = strings.Repeat("1-4096/1-8,", 1000) + "1" }, "more than 32768 ports are listed"},
		{func(s *Site) { s.Types[1].RailMap = railBlocks }, "the map of rails of type leaf sets the ports of leaf-1 already"},
		{func(s *Site) { s.Types[1].Lanes = 17 }, "types[1].lanes: a port has 1 to 16 lanes, found 17"},
		{func(s *Site) { s.Types[0].Lanes = 4 }, "a server (it has gpus or nics) has no role, tier, ports, lanes"},
	} {
		if _, err := paired(x.edit).Build(defaults); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %s", err, x.want)
		}
	}
}
