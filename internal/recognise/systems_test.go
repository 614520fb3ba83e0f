package recognise

import (
	"strings"
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/panel"
	"railyard/internal/site"
	"railyard/internal/topo"
	"railyard/unit"
)

// Names of ports tell which system switches run, so that what is imported calls them so: all of them where
// rules run cables in the order in which they were plugged in, else as many as a note says.
func TestSystems(t *testing.T) {
	cable := topo.Cable{Rate: 200 * unit.Gbps, LengthMM: 5_000}
	for _, x := range []struct {
		os, model, want, note string
	}{
		{panel.NXOS, "", panel.NXOS, ""},
		{panel.FRR, "", panel.FRR, ""},
		{panel.SONiC, "", panel.SONiC, ""},
		{panel.Junos, "", panel.Junos, ""},
		{"", "7060x5-64s", panel.EOS, ""},
		{panel.SONiC, "sn3700", panel.SONiC, ""}, // by fours
		{"", "", "", "of 16 ports of switches are called as in the source"},
	} {
		g, err := (&site.Site{
			Types: []site.Type{{Name: "host", GPUs: 2, NICs: 2}, {Name: "leaf", OS: x.os, Model: x.model,
				Split: 1},
				{Name: "spine", OS: x.os, Model: x.model, Split: 1, Role: "spine"}},
			Nodes: []site.Group{{Name: "host", Type: "host", Count: 4}, {Name: "leaf", Type: "leaf",
				Count: 2},
				{Name: "spine", Type: "spine", Count: 2}},
			Cables: []site.Rule{{From: "host", To: "leaf", Match: site.Pairs{{Key: "n", Value: "nic"}}},
				{From: "leaf", To: "spine"}},
		}).Build(site.Defaults{Host: cable, Fabric: cable})
		if err != nil {
			t.Fatal(err)
		}
		c := cabling.Of(g)
		if x.os == "" && x.model == "" {
			for i := range c.Cables {
				c.Cables[i].B.Port = "port " + c.Cables[i].B.Port
				if c.Nodes[c.Cables[i].A.Node].Kind == cabling.Switch {
					c.Cables[i].A.Port = "port " + c.Cables[i].A.Port
				}
			}
		}
		got, err := Recognise(c, Options{})
		if err != nil {
			t.Fatal(x, err)
		}
		for _, s := range got.Site.Types[1:] {
			if s.OS != x.want {
				t.Errorf("%s %s: %s runs %q, want %q", x.os, x.model, s.Name, s.OS, x.want)
			}
		}
		if notes := strings.Join(got.Notes, "\n"); (x.note == "") == strings.Contains(notes, "ports of switches") ||
			!strings.Contains(notes, x.note) {
			t.Errorf("%s %s: %s, want %q", x.os, x.model, notes, x.note)
		}
	}
}
