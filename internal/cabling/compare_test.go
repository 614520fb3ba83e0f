package cabling

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/topo"
	"railyard/unit"
)

// rails is four servers on four rails in two segments, two spines.
func rails(t *testing.T) *topo.Graph {
	t.Helper()
	g, err := topo.Build("rail", topo.Params{Server: topo.Server{GPUs: 4, NICs: 4, Ports: 1}, Hosts: 2,
		Segments: 2,
		Spines:   2, Uplinks: 1, HostCable: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 5000},
		Fabric: topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 30_000}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// plugged is a list of the graph's cables with NX-OS's port names, with some changed.
func plugged(g *topo.Graph, change func(rows [][4]string) [][4]string) []File {
	var rows [][4]string
	nx := func(node int, port string) string {
		return strings.Replace(port, "Eth", "Ethernet1/", 1)
	}
	for _, l := range g.Links {
		rows = append(rows, [4]string{g.Nodes[l.A].Name, nx(l.A, l.APort), g.Nodes[l.B].Name,
			nx(l.B, l.BPort)})
	}
	text := "a,a_port,b,b_port\n"
	for _, r := range change(rows) {
		text += strings.Join(r[:], ",") + "\n"
	}
	return []File{{"as-built.csv", []byte(text)}}
}

// Names are found in either case of letters, unless two of the design differ only in that. Those two are
// distinguished as written, and a third spelling is neither of them.
func TestNamesInOtherLetters(t *testing.T) {
	list := func(rows ...string) *Cabling {
		c, err := Read([]File{{"x.csv", []byte("a,b\n" + strings.Join(rows, "\n") + "\n")}}, "")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, x := range []struct {
		design, found []string
		same          int
		want          string
	}{
		{[]string{"leaf-1,spine"}, []string{"LEAF-1,Spine.dc1.example"}, 1, ""},
		{[]string{"leaf,spine", "Leaf,spine"}, []string{"Leaf,spine", "leaf,spine"}, 2, ""},
		{[]string{"leaf,spine", "Leaf,spine"}, []string{"leaf,spine"}, 1, "missing: Leaf is in no file"},
		{[]string{"leaf,spine", "Leaf,spine"}, []string{"leaf,spine", "LEAF,spine"}, 1,
			"LEAF is not in the design"},
	} {
		var got []string
		d := Compare(list(x.design...), list(x.found...), nil)
		for _, f := range d.Findings {
			got = append(got, f.String())
		}
		if text := strings.Join(got, "\n"); d.Same != x.same || !strings.Contains(text, x.want) ||
			x.want == "" && text != "" {
			t.Errorf("%v found as %v: %d the same, %s", x.design, x.found, d.Same, text)
		}
	}
}

// Each kind of wrong cable is reported with both ends' names.
func TestCompare(t *testing.T) {
	g := rails(t)
	nxos := func(n int) string { return fmt.Sprintf("Ethernet1/%d", n) }
	for name, c := range map[string]struct {
		change func(r [][4]string) [][4]string
		want   string
	}{
		"as designed": {func(r [][4]string) [][4]string { return r }, ""},
		"from the other end, in another order": {func(r [][4]string) (out [][4]string) {
			for _, x := range r {
				out = append([][4]string{{x[2], x[3], x[0], x[1]}}, out...)
			}
			return out
		}, ""},
		"without ports": {func(r [][4]string) [][4]string {
			for i := range r {
				r[i][1], r[i][3] = "", ""
			}
			return r
		}, ""},
		"one missing": {func(r [][4]string) [][4]string { return append(r[:3:3], r[4:]...) },
			"missing: host-1:nic4 to seg-1-rail-4:Eth1"},
		"one too many": {func(r [][4]string) [][4]string {
			return append(r, [4]string{"seg-1-rail-1", "Ethernet1/40", "spine-2", "Ethernet1/40"})
		}, "unexpected: seg-1-rail-1:Ethernet1/40 to spine-2:Ethernet1/40"},
		"not in the design": {func(r [][4]string) [][4]string {
			return append(r, [4]string{"seg-1-rail-1", "Ethernet1/40", "spine-9", "Ethernet1/40"})
		}, "unexpected: seg-1-rail-1:Ethernet1/40 to spine-9:Ethernet1/40; spine-9 is not in the design"},
		"two swapped": {func(r [][4]string) [][4]string {
			r[0][2], r[1][2] = r[1][2], r[0][2]
			return r
		}, "swapped: host-1:nic1 to seg-1-rail-2:Ethernet1/1 and host-1:nic2 to seg-1-rail-1:Ethernet1/1; " +
			"the design has " +
			"host-1:nic1 to seg-1-rail-1:Eth1 and host-1:nic2 to seg-1-rail-2:Eth1"},
		"wrong switch": {func(r [][4]string) [][4]string {
			r[0][2], r[0][3] = "seg-2-rail-1", "Ethernet1/9"
			return r
		}, "miscabled: host-1:nic1 to seg-2-rail-1:Ethernet1/9; the design has host-1:nic1 to " +
			"seg-1-rail-1:Eth1"},
		"wrong port": {func(r [][4]string) [][4]string {
			r[0][3] = "Ethernet1/9"
			return r
		}, "other-port: host-1:nic1 to seg-1-rail-1:Ethernet1/9; the design has host-1:nic1 to " +
			"seg-1-rail-1:Eth1"},
		"a port twice": {func(r [][4]string) [][4]string {
			return append(r, [4]string{"host-1", "nic1", "seg-2-rail-1", "Ethernet1/9"})
		}, "contradiction: host-1:nic1 is cabled to seg-2-rail-1:Ethernet1/9 here, and to " +
			"seg-1-rail-1:Ethernet1/1, " +
			"by as-built.csv:2:1"},
		"a spine off": {func(r [][4]string) (out [][4]string) {
			for _, x := range r {
				if x[2] != "spine-2" {
					out = append(out, x)
				}
			}
			return out
		}, "missing: spine-2 is in no file: all of its 8 cables that are left"},
	} {
		c2, err := Read(plugged(g, c.change), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		d := Compare(Of(g), c2, []Naming{nxos})
		for _, f := range d.Findings {
			got = append(got, f.String())
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %s\nwant %s", name, strings.Join(got, "\n"), c.want)
		}
		if c.want == "" && (d.Same != len(g.Links) || name != "without ports" && d.Ports != d.Same) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
