package recognise

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/cabling"
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
		{halves("Ethernet%d/%d", 5, 1, 4), name("Ethernet%d/1", 21, 1), name("Ethernet%d/1", 1, 1), `to_ports: "5-6/1-2"`},
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

// So it has where single cables break the pattern: a server moved off a dead port, two uplinks of a leaf exchanged, a
// missing server in the middle, and the two ends of parallel links crossed.
func TestPortsOfExceptions(t *testing.T) {
	from := func(first int) func(int) string {
		return func(i int) string { return fmt.Sprintf("Ethernet1/%d", first+i) }
	}
	port := func(c *cabling.Cabling, a, b string) *cabling.Cable {
		for i := range c.Cables {
			if x := &c.Cables[i]; c.Nodes[x.A.Node].Name == a && c.Nodes[x.B.Node].Name == b {
				return x
			}
		}
		t.Fatalf("no cable from %s to %s", a, b)
		return nil
	}
	for name, edit := range map[string]func(c *cabling.Cabling){
		"moved": func(c *cabling.Cabling) { port(c, "gpu-6", "leaf-2").B.Port = "Ethernet1/17" },
		"exchanged": func(c *cabling.Cabling) {
			port(c, "leaf-1", "spine-1").A.Port, port(c, "leaf-1", "spine-2").A.Port = "Ethernet1/22", "Ethernet1/21"
		},
		"exchanged at the spine": func(c *cabling.Cabling) {
			port(c, "leaf-1", "spine-3").B.Port, port(c, "leaf-4", "spine-3").B.Port = "Ethernet1/4", "Ethernet1/1"
		},
		"both": func(c *cabling.Cabling) {
			port(c, "gpu-6", "leaf-2").B.Port, port(c, "leaf-1", "spine-3").B.Port = "Ethernet1/17", "Ethernet1/9"
			port(c, "leaf-3", "spine-2").A.Port = "Ethernet1/30"
		},
		"crossed": func(c *cabling.Cabling) {
			x := *port(c, "leaf-2", "spine-2")
			port(c, "leaf-2", "spine-2").B.Port = "Ethernet1/12"
			x.A.Port = "Ethernet1/31"
			c.Cables = append(c.Cables, x)
		},
	} {
		c := wired(from(5), from(21), from(1))
		edit(c)
		found, err := Recognise(cabling.New(c.Nodes, c.Cables), Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if d := cabling.Compare(cabling.Of(found.Graph), c, nil); d.Ports != len(c.Cables) {
			t.Errorf("%s: %d of %d cables are at the ports of the source: %v\n%s\n%s", name, d.Ports, len(c.Cables), d.Findings,
				found.YAML("x", ""), strings.Join(found.Notes, "\n"))
		}
	}
}

// Where every switch has its own order, there is no pattern: a note counts the ports that differ.
func TestPortsOfNoPattern(t *testing.T) {
	const leaves = 12
	nodes := []cabling.Node{{Name: "spine-1", Kind: cabling.Switch, GPUs: -1}}
	var cables []cabling.Cable
	for i := range leaves {
		nodes = append(nodes, cabling.Node{Name: fmt.Sprintf("leaf-%d", i+1), Kind: cabling.Switch, GPUs: -1},
			cabling.Node{Name: fmt.Sprintf("gpu-%d", i+1), Kind: cabling.Server, GPUs: -1})
		leaf, port := 2*i+1, fmt.Sprintf("Ethernet1/%d", 2+i*7%leaves)
		cables = append(cables, cabling.Cable{A: cabling.End{Node: leaf + 1}, B: cabling.End{Node: leaf, Port: port}},
			cabling.Cable{A: cabling.End{Node: leaf, Port: "Ethernet1/1"},
				B: cabling.End{Node: 0, Port: fmt.Sprintf("Ethernet1/%d", i+1)}})
	}
	found, err := Recognise(cabling.New(nodes, cables), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(found.Notes, "\n"); !strings.Contains(notes, "of 36 ports of switches are called as in the source") {
		t.Error(notes)
	}
}
