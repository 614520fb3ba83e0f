package site

import (
	"fmt"
	"runtime"
	"sort"
	"strings"
	"testing"

	"railyard/unit"
)

// among builds four switches in a row, each with a server, and one rule more; it says which
// switches that rule joined.
func among(t *testing.T, rule Rule) string {
	t.Helper()
	rule.Rate = 100 * unit.Gbps
	s := &Site{
		Types: []Type{{Name: "host", GPUs: 1, NICs: 1}, {Name: "sw"}},
		Nodes: []Group{
			{Name: "host", Type: "host", Per: pairs("x", "4")},
			{Name: "sw", Type: "sw", Per: pairs("x", "4")},
		},
		Cables: []Rule{{From: "host", To: "sw", Same: []string{"x"}}, rule},
	}
	g, err := s.Build(defaults)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range g.Links[4:] {
		a, b := g.Nodes[l.A].Name, g.Nodes[l.B].Name
		out = append(out, strings.TrimPrefix(min(a, b), "sw-")+strings.TrimPrefix(max(a, b), "sw-"))
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

// A rule within a group joins every pair that it names once, whichever of the two is written first.
func TestRulesWithinAGroup(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string
	}{
		{Rule{From: "sw", To: "sw"}, "12 13 14 23 24 34"},
		{Rule{From: "sw-[1-2]", To: "sw-[3-4]"}, "13 14 23 24"},
		{Rule{From: "sw-[3-4]", To: "sw-[1-2]"}, "13 14 23 24"},
		{Rule{From: "sw-[1-3]", To: "sw-2"}, "12 23"},
		{Rule{From: "sw-[2-4]", To: "sw-[1-3]"}, "12 13 14 23 24 34"},
		{Rule{From: "sw", To: "sw", Match: pairs("x", "2")}, "12 23 24"},
		{Rule{From: "sw", To: "sw", Match: pairs("x", "x+1")}, "12 23 34"},
		{Rule{From: "sw", To: "sw", Match: pairs("x", "x-1")}, "12 23 34"},
		{Rule{From: "sw", To: "sw", Match: pairs("x", "x+1%4")}, "12 14 23 34"},
		{Rule{From: "sw", To: "sw", Match: pairs("x", "x-1%4")}, "12 14 23 34"},
		{Rule{From: "sw", To: "sw", Match: pairs("x", "x-1"), Wrap: true}, "12 14 23 34"},
	} {
		if got := among(t, c.rule); got != c.want {
			t.Errorf("from %s to %s match %v: %s, want %s", c.rule.From, c.rule.To, c.rule.Match, got, c.want)
		}
	}
}

// With % values go round in both directions, and the block before the first is none.
func TestStepsGoRound(t *testing.T) {
	for _, c := range []struct {
		text string
		v    int
		want int
	}{
		{"x-1%4", 1, 4}, {"x+1%4", 4, 1}, {"x-6%4", 1, 3}, {"x/2", 1, 1}, {"x/2", 3, 2}, {"x-1/2", 1, 0},
	} {
		e, err := parseExpr(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.of(c.v, 0); got != c.want {
			t.Errorf("%s of %d is %d, want %d", c.text, c.v, got, c.want)
		}
	}
}

// What a type takes from another does not depend on which of them is written first.
func TestLikeInAnyOrder(t *testing.T) {
	old := Type{Name: "old", Model: "sn5600", Role: "spine"}
	young := Type{Name: "young", Like: "old", Model: "sn3700"}
	for _, types := range [][]Type{{old, young}, {young, old}} {
		b := &builder{site: &Site{Types: types}, types: map[string]*Type{}}
		if err := b.resolveTypes(); err != nil {
			t.Fatal(err)
		}
		y := b.types["young"]
		if got := fmt.Sprintf("%s %d %s", y.Ports, y.Split, y.Role); got != "32x200Gbps 4 spine" {
			t.Error(got)
		}
	}
}

// What cannot be a fabric is refused before it takes memory or time: 10^1200 nodes, more ports
// of cards than cables, patterns with a hundred million numbers.
func TestRefusedBeforeItIsMade(t *testing.T) {
	var many Pairs
	for i := range 200 {
		many = append(many, Pair{fmt.Sprintf("a%d", i), "1000000"})
	}
	sw := Group{Name: "sw", Type: "sw", Per: pairs("x", "4")}
	for want, s := range map[string]*Site{
		"nodes[0]: more than 200000 nodes": {
			Nodes: []Group{{Name: "host", Type: "host", Per: many}},
		},
		"nodes[1]: more than 2200000 ports of cards": {
			Nodes:  []Group{sw, {Name: "host", Type: "host", Count: 100_000}},
			Cables: []Rule{{From: "host", To: "sw", Match: pairs("x", "nic+1000")}},
		},
		"cables[0].from": {
			Nodes:  []Group{sw, {Name: "host", Type: "host", Count: 4}},
			Cables: []Rule{{From: "host" + strings.Repeat("[0-999999]", 100), To: "sw"}},
		},
	} {
		s.Types = []Type{{Name: "host", GPUs: 1, NICs: 576, NICPorts: 8}, {Name: "sw"}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := s.Build(defaults)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 300 {
			t.Errorf("%d MiB were taken for %s", mib, want)
		}
	}
}

// A switch without a cable is a rule that was forgotten; no configuration can be written for it.
func TestSwitchesWithoutCables(t *testing.T) {
	s := &Site{
		Types:  []Type{{Name: "host", GPUs: 1, NICs: 1}, {Name: "sw"}},
		Nodes:  []Group{{Name: "host", Type: "host", Count: 2}, {Name: "sw", Type: "sw", Count: 3}},
		Cables: []Rule{{From: "host", To: "sw-1"}, {From: "sw-1", To: "sw-2"}},
	}
	_, err := s.Build(defaults)
	if want := "cables: no rule cables sw-3 of sw"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	s.Cables[1].To = "sw"
	if _, err = s.Build(defaults); err != nil {
		t.Error(err)
	}
}
