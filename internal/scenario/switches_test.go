package scenario_test

import (
	"os"
	"strings"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/topo"
)

// An override that the switches' own configurations replace everywhere is rejected.
func TestSetBelowATextOfSwitches(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/configs/seed-dcqcn.cfg")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ on, set, want, note string }{
		{"config", "switch.queues.3.wred_min=300KB",
			"--set switch.queues.3.wred_min=300KB: has no effect: a.cfg (switches.config) gives 150KB", ""},
		{"config", "switch.queues.3.wred_min=150KB", "", ""},
		{"config", "switch.queues.3.xoff=3MB", "", ""}, // which the configuration leaves to the scenario
		{"config", "transport.data_dscp=26", "",
			"data (DSCP 26) goes to queue 0 of rail-1, which PFC does not protect, and DSCP 24 to queue 3, which it does: " +
				"--set transport.data_dscp=24 if"},
		{"spine-1", "switch.queues.3.wred_min=300KB", "",
			"switch.queues.3.wred_min has no effect on spine-1: a.cfg (switches.spine-1) gives 150KB"},
	} {
		d, err := scenario.Parse("x.yaml", []byte(good), []string{"switches." + c.on + "=a.cfg", c.set})
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(func(string) ([]byte, error) { return text, nil })
		if err == nil && c.want == "" {
			said := strings.Join(p.Notes, "\n")
			if !strings.Contains(said, c.note) || c.note == "" && strings.Contains(said, "no effect") {
				t.Errorf("%s, %s: notes %s", c.on, c.set, said)
			}
		} else if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.on, c.set, err, c.want)
		}
	}
}

// Each connected port has the PFC mode of its switch's configuration. A port that is missing there has the mode of
// most ports.
func TestPFCModes(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/configs/seed-dcqcn.cfg")
	if err != nil {
		t.Fatal(err)
	}
	const auto = "priority-flow-control mode auto"
	if !strings.Contains(string(text), auto) {
		t.Fatal("the configuration negotiates nothing")
	}
	for _, mode := range []swconf.PFCMode{swconf.PFCOn, swconf.PFCAuto} {
		d, err := scenario.Parse("x.yaml", []byte(good), []string{"switches.spine-1=a.cfg"})
		if err != nil {
			t.Fatal(err)
		}
		config := strings.Replace(string(text), auto, "priority-flow-control mode "+mode.String(), 1)
		p, err := d.Resolve(func(string) ([]byte, error) { return []byte(config), nil })
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(p.QueueNotes, "\n"); !strings.Contains(said, "all ports are simulated like it") {
			t.Errorf("what is assumed of the configuration is no note for config render: %s", said)
		}
		spine := p.Graph.Node("spine-1")
		for i, l := range p.Graph.Links {
			for _, node := range []int{l.A, l.B} {
				if m, ok := p.Modes[topo.LinkEnd{Link: i, Node: node}]; ok != (node == spine) || ok && m != mode {
					t.Errorf("link %d at %s: %v, %v, want %v at spine-1 alone", i, p.Graph.Nodes[node].Name, m, ok, mode)
				}
			}
		}
	}
}

// A class by 802.1p priority that no DSCP has is reported, as packets have no tags.
func TestTagsAlone(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/configs/seed-dcqcn.cfg")
	if err != nil {
		t.Fatal(err)
	}
	tags := strings.Replace(string(text), "match dscp 24", "match cos 3", 1)
	if tags == string(text) {
		t.Fatal("the configuration classifies no DSCP 24")
	}
	for config, want := range map[string]bool{string(text): false, tags: true} {
		d, err := scenario.Parse("x.yaml", []byte(good), []string{"switches.config=a.cfg"})
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(func(string) ([]byte, error) { return []byte(config), nil })
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(p.QueueNotes, "\n"); strings.Contains(said, "CoS 3 selects queue 3, and no DSCP does") != want {
			t.Errorf("want a note: %v, found %s", want, said)
		}
	}
}

// A data DSCP that the default of switch.dscp does not put into the lossless queue is noted, also for config render.
func TestDataOutsideLossless(t *testing.T) {
	for set, want := range map[string]bool{"transport.data_dscp=26": true, "transport.data_dscp=26 switch.dscp.26=3": false,
		"transport.data_dscp=24": false, "seed=2": false, "transport.data_dscp=26 transport=mrc": false} {
		d, err := scenario.Parse("x.yaml", []byte(good), strings.Fields(set))
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		const note = "data (DSCP 26) goes to queue 0 of "
		if said := strings.Join(p.QueueNotes, "\n"); strings.Contains(said, note) != want {
			t.Errorf("%s: want a note: %v, found %s", set, want, said)
		}
	}
}

// A headroom below what a link needs is noted, and the computed one is not.
func TestShortHeadroom(t *testing.T) {
	for set, want := range map[string]bool{"": false, "switch.queues.3.headroom=20KB": true,
		"switch.queues.3.headroom=900KB": false} {
		d, err := scenario.Parse("x.yaml", []byte(good), strings.Fields(set))
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(p.Notes, "\n"); strings.Contains(said, "headroom of 20KB is below the ") != want {
			t.Errorf("%s: want a note: %v, found %s", set, want, said)
		}
	}
}
