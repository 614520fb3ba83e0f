package recognise

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/cabling"
	"railyard/unit"
)

// listed is servers at one switch as an inventory lists them: each with a card of 400G, at ports of the
// switch that are called by a pattern.
func listed(server, leaf string, servers int, port func(i int) string) *cabling.Cabling {
	nodes := []cabling.Node{{Name: "leaf1", Kind: cabling.Switch, Role: "leaf", Model: leaf, GPUs: -1}}
	var cables []cabling.Cable
	for i := range servers {
		nodes = append(nodes, cabling.Node{Name: fmt.Sprintf("gpu%d", i+1), Kind: cabling.Server,
			Model: server, GPUs: -1})
		cables = append(cables, cabling.Cable{A: cabling.End{Node: i + 1, Port: "ens1"},
			B: cabling.End{Node: 0, Port: port(i)}, Rate: 400 * unit.Gbps})
	}
	return cabling.New(nodes, cables)
}

// A device's model comes along where it is known and holds what is cabled, whole or broken out as its ports
// are called; else a note says why not.
func TestModelsOfInventories(t *testing.T) {
	lanes := func(i int) string { return fmt.Sprintf("Ethernet%d", 8*i) }
	halves := func(i int) string { return fmt.Sprintf("Ethernet%d", 4*i) }
	for _, c := range []struct {
		server, leaf string
		servers      int
		port         func(int) string
		want, note   string
	}{
		{"", "SN5600", 64, lanes, "leaf: {model: sn5600, split: 1, role: leaf, os: sonic}", ""},
		{"", "SN5640", 64, halves, "leaf: {model: sn5640, role: leaf, os: sonic}", ""},
		{"", "SN5600", 128, func(int) string { return "" }, "leaf: {model: sn5600, role: leaf}", ""},
		{"", "SN5600", 129, lanes, "leaf: {role: leaf, os: sonic}", "leaf: sn5600 has no room for what is cabled, and is left out: leaf1 has more cables than ports: 129"},
		{"", "SN3700", 4, lanes, "leaf: {role: leaf, os: sonic}", "400Gbps is more than the 200Gbps"},
		{"", "Wedge 400", 4, lanes, "leaf: {role: leaf, os: sonic}", "unknown models (railyard models): 1 of Wedge 400 (switch); their number of ports is unknown"},
		{"DGX-B200", "SN5600", 4, lanes, "{gpu: b200, gpus: 8, nics: 1}", "4 servers: GPUs are those of the model, NVIDIA DGX B200"},
		{"XE9680", "SN5600", 4, lanes, "{gpus: 1, nics: 1}", "4 of XE9680 (server)"},
	} {
		got, err := Recognise(listed(c.server, c.leaf, c.servers, c.port), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.leaf, err)
			continue
		}
		text, notes := got.YAML("x", ""), strings.Join(got.Notes, "\n")
		if !strings.Contains(text, c.want) || !strings.Contains(notes, c.note) {
			t.Errorf("%s %s: want %s and %q in\n%s\n%s", c.server, c.leaf, c.want, c.note, text, notes)
		}
		if c.note == "" && strings.Contains(notes, "model") {
			t.Errorf("%s: %s", c.leaf, notes)
		}
	}
	// Switches of a group may differ.
	two := listed("", "SN5600", 2, lanes)
	two.Nodes = append(two.Nodes, cabling.Node{Name: "leaf2", Kind: cabling.Switch, Role: "leaf",
		Model: "SN5640", GPUs: -1})
	for i := 1; i <= 2; i++ {
		two.Cables = append(two.Cables, cabling.Cable{A: cabling.End{Node: i, Port: "ens2"},
			B: cabling.End{Node: 3, Port: lanes(i - 1)}, Rate: 400 * unit.Gbps})
	}
	got, err := Recognise(cabling.New(two.Nodes, two.Cables), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"model: sn5600", "model: sn5640"} {
		if text := got.YAML("x", ""); !strings.Contains(text, model) {
			t.Errorf("no %s in\n%s", model, text)
		}
	}
}
