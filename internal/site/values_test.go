package site

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/panel"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Numbers of places are read as they are written, and each once, or refused.
func TestValues(t *testing.T) {
	for text, want := range map[string]string{"3": "[1 2 3]", " 2 ": "[1 2]", "3-5": "[3 4 5]", "7-7": "[7]",
		"1, 4-6": "[1 4 5 6]"} {
		if got, err := values(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"0": "0 places: 1 to 1000000 are possible", "1000001": "1000001 places: 1 to 1000000 are possible",
		"":        `"" is not a list of numbers; accepted: 15 for 1 to 15, 3-5, 1,4-6`,
		"5-3":     `"5-3" is not a list of numbers; accepted: 15 for 1 to 15, 3-5, 1,4-6`,
		"0-2":     `"0-2" is not a list of numbers; accepted: 15 for 1 to 15, 3-5, 1,4-6`,
		"1,,2":    `"1,,2" is not a list of numbers; accepted: 15 for 1 to 15, 3-5, 1,4-6`,
		"1,2,2":   "2 is repeated, or after a larger number",
		"4-6,5-9": "5 is repeated, or after a larger number",
	} {
		if _, err := values(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What a place of the other end becomes: steps from left to right, % round, / in blocks, from 1.
func TestExpressions(t *testing.T) {
	for _, c := range []struct {
		text    string
		v, size int
		want    int
	}{{"7", 3, 0, 7}, {"x", 3, 0, 3}, {"x+2", 3, 0, 5}, {"x - 3", 1, 0, -2}, {"x-3", 1, 4, 2},
		{"x+1", 4, 4, 1},
		{"n%4", 4, 0, 4}, {"n%4", 5, 0, 1}, {"port/2", 1, 0, 1}, {"port/2", 2, 0, 1}, {"port/2", 3, 0, 2},
		{"n/4%2", 8, 0, 2}, {"n/4%2", 9, 0, 1}, {"x+1%2", 2, 0, 1}} {
		e, err := parseExpr(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := e.of(c.v, c.size); got != c.want {
			t.Errorf("%s of %d among %d is %d, want %d", c.text, c.v, c.size, got, c.want)
		}
	}
	for _, text := range []string{"", "+1", "x+", "x+0", "x%-1", "x*2", "2x", "x+y", "x+1000001"} {
		if _, err := parseExpr(text); err == nil || !strings.Contains(err.Error(), "is neither a number") {
			t.Errorf("%q: %v", text, err)
		}
	}
	// Blocks and places in them are a number again, in both directions going round keeps within.
	rapid.Check(t, func(t *rapid.T) {
		v, by := rapid.IntRange(1, 5000).Draw(t, "v"), rapid.IntRange(1, 70).Draw(t, "by")
		block := expr{word: "x", steps: []step{{'/', by}}}.of(v, 0)
		place := expr{word: "x", steps: []step{{'%', by}}}.of(v, 0)
		if place < 1 || place > by || (block-1)*by+place != v {
			t.Fatalf("%d is place %d of block %d of %d", v, place, block, by)
		}
		back := expr{word: "x", steps: []step{{'-', by}, {'+', by}}}.of(v, 0)
		if back != v || round(v-by*by, by) != round(v, by) {
			t.Fatalf("%d comes back as %d", v, back)
		}
	})
}

// Ports: the slowest that can do it, broken out as often as split and its rate allow.
func TestBudget(t *testing.T) {
	b := newBudget(&Type{Ports: "1x800Gbps+2x400Gbps", Split: 4})
	var where []panel.Jack
	took := func(rate unit.Rate) (n int) {
		for {
			j, ok := b.take(0, rate*unit.Gbps)
			if !ok {
				return n
			}
			where = append(where, j)
			n++
		}
	}
	if got := took(200); got != 2*2+4 { // 400 carries two of 200, 800 four
		t.Errorf("%d cables of 200Gbps", got)
	}
	// The panel is numbered as it is written, whatever is taken first.
	if want := []panel.Jack{{Port: 2, Part: 1, Parts: 2}, {Port: 2, Part: 2, Parts: 2},
		{Port: 3, Part: 1, Parts: 2}, {Port: 3, Part: 2, Parts: 2}, {Port: 1, Part: 1, Parts: 4},
		{Port: 1, Part: 2, Parts: 4}, {Port: 1, Part: 3, Parts: 4},
		{Port: 1, Part: 4, Parts: 4}}; !slices.Equal(where, want) {
		t.Errorf("they are at %v, want %v", where, want)
	}
	if _, ok := b.take(0, 100*unit.Gbps); b.fastest() != 800*unit.Gbps || ok {
		t.Errorf("%v, %v", b.fastest(), b.used)
	}
	for text, want := range map[string]string{
		"x400Gbps": `"x400Gbps" is not a number of ports; accepted: 64x800Gbps, 48x100Gbps+8x400Gbps`,
		"8x":       `"8x": "" is not a rate; accepted: 400Gbps`,
		"4097x1Gbps": `"4097x1Gbps" is not a number of ports; accepted: 64x800Gbps, ` +
			"48x100Gbps+8x400Gbps",
		"8x400Gbps+": `"" is not a number of ports; accepted: 64x800Gbps, 48x100Gbps+8x400Gbps`,
	} {
		if _, err := parsePorts(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What a type cannot be, with its key.
func TestTypesThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		want  string
		spoil func(s *Site)
	}{
		{"types[0].name: \"2\" is not a name", func(s *Site) { s.Types[0].Name = "2" }},
		{"types[1].name: \"host\" is repeated", func(s *Site) { s.Types[1].Name = "host" }},
		{"types[0].gpus: a server has 0 to 576 GPUs, found 577",
			func(s *Site) { s.Types[0].GPUs = 577 }},
		{"types[0].nics: a server has 1 to 576 NICs, found 0", func(s *Site) { s.Types[0].NICs = 0 }},
		{"types[0].nic_ports: a NIC has 1 to 8 ports, found 9",
			func(s *Site) { s.Types[0].NICPorts = 9 }},
		{"types[0].gpu: is of GPUs, of which host has none", gpuless(func(x *Type) { x.GPU = "h100" })},
		{"types[0].nvlink: is of GPUs, of which host has none",
			gpuless(func(x *Type) { x.NVLink = unit.Gbps })},
		{"types[1]: a switch (it has neither gpus nor nics) has no nic",
			func(s *Site) { s.Types[1].NICPorts = 1 }},
		{"types[1].model: \"nexus\" is not known", func(s *Site) { s.Types[1].Model = "nexus" }},
		{"types[1].role: \"top\" is not a role of a switch", func(s *Site) { s.Types[1].Role = "top" }},
		{"types[1].split: a port splits into 1 to 8, found 9", func(s *Site) { s.Types[1].Split = 9 }},
		{"types[1].ports: \"many\" is not a number of ports", func(s *Site) { s.Types[1].Ports = "many" }},
		{"nodes[0].count: -1: 1 to 200000 are possible", func(s *Site) { s.Nodes[0].Count = -1 }},
		{"nodes[0].per: \"nic\" is not a word for a place", func(s *Site) { s.Nodes[0].Per[0].Key = "nic" }},
		{"nodes[0].name: \"\" is not a name", func(s *Site) { s.Nodes[0].Name = "" }},
		{"nodes: there are none", func(s *Site) { s.Nodes = nil }},
		{"nodes[0].type: unknown type \"host\": types is missing", func(s *Site) { s.Types = nil }},
	} {
		s := hpn()
		c.spoil(s)
		if _, err := s.Build(defaults); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
}

func gpuless(say func(x *Type)) func(s *Site) {
	return func(s *Site) {
		s.Types[0].GPUs = 0
		say(&s.Types[0])
	}
}
