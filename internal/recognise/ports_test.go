package recognise

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/topo"
	"railyard/unit"
)

// wired is 16 servers at four leaves below four spines, whose ports are called by patterns: of the leaf to its
// n-th server, of the leaf to a spine, of the spine to a leaf, all from 0.
func wired(host, up, down func(i int) string) *cabling.Cabling {
	c := cabling.New(nil, nil)
	add := func(name string, kind cabling.Kind) int {
		if n := c.Node(name); n >= 0 {
			return n
		}
		c = cabling.New(append(c.Nodes, cabling.Node{Name: name, Kind: kind, GPUs: -1}), c.Cables)
		return len(c.Nodes) - 1
	}
	run := func(a, b int, pa, pb string) {
		c.Cables = append(c.Cables, cabling.Cable{A: cabling.End{Node: a, Port: pa}, B: cabling.End{Node: b, Port: pb},
			Rate: 400 * unit.Gbps})
	}
	for h := range 16 {
		server := add(fmt.Sprintf("gpu-%d", h+1), cabling.Server)
		run(server, add(fmt.Sprintf("leaf-%d", h/4+1), cabling.Switch), "ens1", host(h%4))
	}
	for i := range 16 {
		leaf := add(fmt.Sprintf("leaf-%d", i/4+1), cabling.Switch)
		run(leaf, add(fmt.Sprintf("spine-%d", i%4+1), cabling.Switch), up(i%4), down(i/4))
	}
	return cabling.New(c.Nodes, c.Cables)
}

// An imported fabric has the ports of its source, wherever servers and uplinks are plugged in, whole ports and
// parts alike, by the names of each system.
func TestPortsComeBack(t *testing.T) {
	name := func(format string, first, step int) func(int) string {
		return func(i int) string { return fmt.Sprintf(format, first+i*step) }
	}
	halves := func(format string, first, part, step int) func(int) string {
		return func(i int) string { return fmt.Sprintf(format, first+i/2, part+i%2*step) }
	}
	for _, x := range []struct {
		host, up, down func(int) string
		want           string
	}{
		{name("Ethernet%d/1", 5, 1), name("Ethernet%d/1", 21, 1), name("Ethernet%d/1", 1, 1), `to_ports: "5-8"`},
		{halves("Ethernet%d/%d", 5, 1, 4), name("Ethernet%d/1", 21, 1), name("Ethernet%d/1", 1, 1), `to_ports: "5/1,5/2,6/1,6/2"`},
		{halves("Ethernet%d/%d", 5, 1, 2), name("Ethernet%d/1", 21, 1), name("Ethernet%d/1", 1, 1), "split: 4, lanes: 8"},
		{name("Ethernet1/%d", 5, 1), name("Ethernet1/%d", 21, 1), name("Ethernet1/%d", 1, 1), `from_ports: "21-24"`},
		{halves("Ethernet1/%d/%d", 5, 1, 1), name("Ethernet1/%d", 21, 1), name("Ethernet1/%d", 1, 1), "split: 2"},
		{name("Ethernet%d", 0, 4), name("Ethernet%d", 80, 4), name("Ethernet%d", 4, 4), "spine: {lanes: 4, role: spine, os: sonic}"},
		{name("Ethernet%d", 64, 8), name("Ethernet%d", 160, 8), name("Ethernet%d", 8, 8), `to_ports: "2-5"`},
		{halves("et-0/0/%d:%d", 0, 0, 1), name("et-0/0/%d", 21, 1), name("et-0/0/%d", 1, 1), `from_ports: "22-25"`},
		{halves("swp%ds%d", 1, 0, 1), name("swp%d", 21, 1), name("swp%d", 1, 1), "split: 2"},
		{name("Eth%d", 31, -1), name("Eth%d", 1, 1), name("Eth%d", 4, -1), `to_ports: "31,30,29,28"`},
	} {
		c := wired(x.host, x.up, x.down)
		found, err := Recognise(c, Options{})
		if err != nil {
			t.Fatal(x.host(0), err)
		}
		text := found.YAML("x", "")
		if !strings.Contains(text, x.want) || strings.Contains(strings.Join(found.Notes, "\n"), "ports of switches") {
			t.Errorf("%s: want %s in\n%s\n%s", x.host(0), x.want, text, strings.Join(found.Notes, "\n"))
		}
		if d := cabling.Compare(cabling.Of(found.Graph), c, nil); d.Ports != len(c.Cables) {
			t.Errorf("%s: %d of %d cables are at the ports of the source: %v", x.host(0), d.Ports, len(c.Cables), d.Findings)
		}
	}
}

// A port that two leaves use for different spines has no list that holds for both: a note counts the others.
func TestPortsOfNoRule(t *testing.T) {
	from := func(first int) func(int) string {
		return func(i int) string { return fmt.Sprintf("Ethernet1/%d", first+i) }
	}
	c := wired(from(5), from(21), from(1))
	for i := range c.Cables {
		x := &c.Cables[i]
		if a, b := c.Nodes[x.A.Node].Name, c.Nodes[x.B.Node].Name; a == "leaf-1" && b == "spine-1" {
			x.A.Port = "Ethernet1/22"
		} else if a == "leaf-1" && b == "spine-2" {
			x.A.Port = "Ethernet1/21"
		}
	}
	found, err := Recognise(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(found.Notes, "\n"); !strings.Contains(notes, "of 48 ports of switches are called as in the source") {
		t.Error(notes)
	}
	if diff := cabling.Same(c, cabling.Of(found.Graph), true, false); diff != "" {
		t.Error(diff)
	}
	if g := found.Graph; g.Node("leaf-1") < 0 || g.Nodes[g.Node("leaf-1")].Role != topo.Leaf {
		t.Error("leaf-1 is no leaf")
	}
}
