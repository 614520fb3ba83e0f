package site

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// hall is servers in rows of racks, four in each, with a leaf in each rack and spines in the last one of a
// row.
func hall(floor *Floor) *Site {
	return &Site{
		Types: []Type{{Name: "host", GPUs: 1, NICs: 1, NICRate: 100 * unit.Gbps}, {Name: "leaf"},
			{Name: "spine", Role: "spine"}},
		Nodes: []Group{
			{Name: "host", Type: "host", Per: pairs("row", "2"), Count: 8,
				At: pairs("row", "row", "rack", "n/4")},
			{Name: "leaf", Type: "leaf", Per: pairs("row", "2", "rack", "2"),
				At: pairs("row", "row", "rack", "rack")},
			{Name: "spine", Type: "spine", At: pairs("row", "1", "rack", "5")},
		},
		Cables: []Rule{{From: "host", To: "leaf", Same: []string{"row"}, Match: pairs("rack", "n/4")},
			{From: "leaf", To: "spine"}},
		Floor: floor,
	}
}

// lengths lists cables by their ends.
func lengths(g *topo.Graph) map[string]int64 {
	out := map[string]int64{}
	for _, l := range g.Links {
		out[g.Nodes[l.A].Name+" "+g.Nodes[l.B].Name] = l.LengthMM
	}
	return out
}

// A cable goes up, along the row and across rows, with slack, rounded up to half metres; inside a rack it is
// short. Its delay, and with it headroom, follow from that.
func TestLengthsByTheFloor(t *testing.T) {
	g, err := hall(nil).Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	own, err := hall(&Floor{Rack: 1000, Row: 5000, Rise: 1, Slack: 1, Inside: 1500}).Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	for cable, want := range map[string][2]int64{
		"host-1-3 leaf-1-1": {2000, 1500},
		"leaf-1-1 spine-1":  {4*600 + 2*2500 + 1000 + 100, 4*1000 + 500}, // 8.4 m and 4.003 m, rounded up
		"leaf-2-2 spine-1":  {3*600 + 3000 + 2*2500 + 1000 + 200, 3*1000 + 5000 + 500},
		"host-2-8 leaf-2-2": {2000, 1500},
	} {
		if a, b := lengths(g)[cable], lengths(own)[cable]; a != want[0] || b != want[1] {
			t.Errorf("%s: %d and %d mm, want %v", cable, a, b, want)
		}
	}
	for i := range g.Links {
		if l := &g.Links[i]; l.Propagation() != topo.CableDelay(l.LengthMM) {
			t.Errorf("%s: %v", g.End(i, l.A), l.Propagation())
		}
	}
	s := hall(nil)
	s.Cables[1].Cable = 50_000 // said is said
	if g, err = s.Build(defaults); err != nil || lengths(g)["leaf-1-1 spine-1"] != 50_000 {
		t.Errorf("%v, %v", lengths(g), err)
	}
	s.Cables[1].Delay = 5 * unit.Millisecond // two sites
	if g, err = s.Build(defaults); err != nil {
		t.Fatal(err)
	}
	for i := range g.Links {
		if l := &g.Links[i]; g.Nodes[l.B].Name == "spine-1" && l.Propagation() != 5*unit.Millisecond {
			t.Errorf("%s: %v", g.End(i, l.A), l.Propagation())
		}
	}
	sites := 0
	for _, c := range g.Inventory().Cables {
		if c.Delay == 5*unit.Millisecond {
			sites += c.Count
		}
	}
	if sites == 0 {
		t.Errorf("%+v", g.Inventory().Cables)
	}
}

// Lengths do not depend on the direction, and no way by a third rack is shorter than the straight one, but
// for what goes up and down once more and for rounding.
func TestFloorIsMetric(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(what string) Rack {
			return Rack{rapid.IntRange(1, 40).Draw(rt, what), rapid.IntRange(1, 40).Draw(rt, what)}
		}
		f := (&Site{Floor: &Floor{Rack: Length(rapid.IntRange(100, 2000).Draw(rt, "rack")),
			Row: Length(rapid.IntRange(100, 9000).Draw(rt, "row"))}}).plan()
		a, b, c := draw("a"), draw("b"), draw("c")
		if f.Between(a, b) != f.Between(b, a) {
			rt.Fatalf("%v and %v back", f.Between(a, b), f.Between(b, a))
		}
		if a != b && a != c && b != c && f.Between(a, b) > f.Between(a, c)+f.Between(c, b) {
			rt.Fatalf("%v straight, %v and %v by %v", f.Between(a, b), f.Between(a, c), f.Between(c, b), c)
		}
	})
}

// Racks that cannot be are refused where they stand.
func TestFloorsThatCannotBe(t *testing.T) {
	for want, at := range map[string]Pairs{
		`nodes[0].at: found row: 1; accepted: a row and a rack`:       pairs("row", "1"),
		`nodes[0].at: found row: 1, shelf: 2; accepted`:               pairs("row", "1", "shelf", "2"),
		`nodes[0].at.rack: host has no place "pod"; it has row, n`:    pairs("row", "1", "rack", "pod"),
		`nodes[0].at.row: "row*2" is neither a number nor a place`:    pairs("row", "row*2", "rack", "1"),
		`nodes[0].at: host-1-1 would be in rack 0; they go from 1 to`: pairs("row", "1", "rack", "n-1"),
		`nodes[0].at: host-1-1 would be in row 20000; they go`:        pairs("row", "20000", "rack", "1"),
	} {
		s := hall(nil)
		s.Nodes[0].At = at
		if _, err := s.Build(defaults); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A rack goes with all that is in it: its servers, and the GPUs that hang off its switches alone.
func TestFailureDomains(t *testing.T) {
	g, err := hall(nil).Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, d := range g.FailureDomains() {
		said[d.Name] = fmt.Sprintf("%s %d %d", d.Kind, d.Own, d.Off)
	}
	for name, want := range map[string]string{"row 1, rack 5": "rack 0 16", "row 2, rack 1": "rack 4 0",
		"leaf-2-1": "switch 0 4", "spine-1": "switch 0 16"} {
		if said[name] != want {
			t.Errorf("%s: %s, want %s", name, said[name], want)
		}
	}
	dot := g.DotFailures(g.FailureDomains())
	for _, want := range []string{`label="row 2, rack 1: 4 GPUs, 0 more isolated"`, `"host-2-1"; "host-2-2"`,
		`"spine-1" [style=filled, colorscheme=reds9, fillcolor=9, label="spine-1\nisolates 16 GPUs"]`} {
		if !strings.Contains(dot, want) {
			t.Errorf("no %s in\n%s", want, dot)
		}
	}
}
