package site

import (
	"fmt"
	"strings"
	"testing"
)

// fly is groups of switches that are cabled to one another, and to other groups.
func fly(groups string) *Site {
	return &Site{
		Types: []Type{{Name: "host", GPUs: 1, NICs: 1}, {Name: "leaf"}},
		Nodes: []Group{
			{Name: "leaf", Type: "leaf", Per: pairs("group", groups), Count: 2},
			{Name: "host", Type: "host", Per: pairs("group", groups, "leaf", "2")},
		},
		Cables: []Rule{
			{From: "host", To: "leaf", Same: []string{"group"}, Match: pairs("n", "leaf")},
			{From: "leaf", To: "leaf", Same: []string{"group"}},
			{From: "leaf", To: "leaf", Between: "group", Each: 1},
		},
	}
}

// A dragonfly's groups are those that a rule joins one with another, or those that stand at the place that
// is said; in the order of the place's values, and with all switches that stand there.
func TestRegions(t *testing.T) {
	spines := func(s *Site) { // a switch above those of each group, and cables between these
		s.Nodes = append(s.Nodes, Group{Name: "spine", Type: "leaf", Per: pairs("group", "3")})
		s.Cables[2] = Rule{From: "spine", To: "spine", Between: "group"}
		s.Cables = append(s.Cables, Rule{From: "leaf", To: "spine", Same: []string{"group"}})
	}
	match := func(s *Site) { // a ring of groups
		s.Cables[2] = Rule{From: "leaf", To: "leaf", Same: []string{"n"}, Match: pairs("group", "group+1"),
			Wrap: true}
	}
	for _, c := range []struct {
		groups string
		change func(*Site)
		want   string
	}{
		{"3", func(*Site) {}, "[[0 1] [2 3] [4 5]]"},
		{"2,5,7", func(*Site) {}, "[[0 1] [2 3] [4 5]]"},
		{"3", spines, "[[0 1 12] [2 3 13] [4 5 14]]"},
		{"3", match, "[]"},
		{"3", func(s *Site) { match(s); s.Regions = "group" }, "[[0 1] [2 3] [4 5]]"},
		{"3", func(s *Site) { s.Regions = "n" }, "[[0 2 4] [1 3 5]]"},
		{"3", func(s *Site) { // a lattice: neither of its places is said to be the groups'
			s.Cables[1] = Rule{From: "leaf", To: "leaf", Between: "n"}
		}, "[]"},
		{"3", func(s *Site) { s.Regions = "grup" }, `regions: no switch is at a "grup" ` +
			`(did you mean "group"?); accepted: group, n`},
	} {
		s := fly(c.groups)
		c.change(s)
		g, err := s.Build(defaults)
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.ReplaceAll(fmt.Sprint(g.Regions), "[[]]", "[]")
		}
		if got != c.want {
			t.Errorf("%s, %q: %s, want %s", c.groups, s.Regions, got, c.want)
		}
	}
}
