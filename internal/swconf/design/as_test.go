package design_test

import (
	"testing"

	"railyard/internal/queue"
	"railyard/internal/site"
	"railyard/internal/swconf"
	"railyard/internal/swconf/design"
	"railyard/internal/topo"
	"railyard/unit"
)

// Two halls whose routers are cabled to each other, and spines in a ring below. Cables within a tier above the
// leaves connect switches of different ASes, because their sessions would otherwise not come up.
func TestNeighboursOfATierAreInTwoASes(t *testing.T) {
	per := func(key, value string) site.Pairs { return site.Pairs{{Key: key, Value: value}} }
	routers := site.Rule{From: "router-1", To: "router-2", Count: 2}
	spines := site.Rule{From: "spine", To: "spine"}
	for _, among := range [][]site.Rule{{routers}, {spines}, {routers, spines}} {
		hall := []string{"hall"}
		cable := topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
		g, err := (&site.Site{
			Types: []site.Type{{Name: "host", GPUs: 1, NICs: 1}, {Name: "leaf"},
				{Name: "spine", Role: "spine"}, {Name: "router", Role: "super-spine"}},
			Nodes: []site.Group{{Name: "host", Type: "host", Per: per("hall", "2"), Count: 2},
				{Name: "leaf", Type: "leaf", Per: per("hall", "2")},
				{Name: "spine", Type: "spine", Per: per("hall", "2"), Count: 2},
				{Name: "router", Type: "router", Per: per("hall", "2")}},
			Cables: append([]site.Rule{{From: "host", To: "leaf", Same: hall},
				{From: "leaf", To: "spine", Same: hall}, {From: "spine", To: "router", Same: hall}},
				among...),
		}).Build(site.Defaults{Host: cable, Fabric: cable})
		if err != nil {
			t.Fatal(err)
		}
		d, err := design.Make(design.Fabric{Name: "test", Graph: g,
			Spec:     func(int) queue.Spec { return queue.Default() },
			DataDSCP: 24, CNPDSCP: 48, OS: swconf.FRR, Addressing: design.Unnumbered})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Switches {
			for _, p := range s.Neighbors() {
				if p.Far.ASN == s.ASN {
					t.Errorf("%s and its neighbour %s are both in AS %d", s.Name, p.FarName, s.ASN)
				}
			}
		}
	}
}

// Leaves in a row, each two below a separate spine. Between the ends paths go down and up again, and no path may
// pass an AS twice. If all spines are above all leaves they share one AS.
func TestNoWayPassesAnASTwice(t *testing.T) {
	x := site.Pairs{{Key: "x", Value: "3"}}
	row := []site.Rule{{From: "leaf", To: "spine", Same: []string{"x"}},
		{From: "leaf", To: "spine", Match: site.Pairs{{Key: "x", Value: "x-1"}}}}
	for want, rules := range map[int][]site.Rule{3: row, 1: {{From: "leaf", To: "spine"}}} {
		cable := topo.Cable{Rate: 400 * unit.Gbps, LengthMM: 3000}
		g, err := (&site.Site{
			Types: []site.Type{{Name: "host", GPUs: 1, NICs: 1}, {Name: "leaf"},
				{Name: "spine", Role: "spine"}},
			Nodes: []site.Group{{Name: "host", Type: "host", Per: x}, {Name: "leaf", Type: "leaf", Per: x},
				{Name: "spine", Type: "spine", Per: x}},
			Cables: append([]site.Rule{{From: "host", To: "leaf", Same: []string{"x"}}}, rules...),
		}).Build(site.Defaults{Host: cable, Fabric: cable})
		if err != nil {
			t.Fatal(err)
		}
		d, err := design.Make(design.Fabric{Name: "test", Graph: g,
			Spec:     func(int) queue.Spec { return queue.Default() },
			DataDSCP: 24, CNPDSCP: 48, OS: swconf.FRR, Addressing: design.Unnumbered})
		if err != nil {
			t.Fatal(err)
		}
		ases := map[uint32]bool{}
		for _, s := range d.Switches {
			if s.Tier == 2 {
				ases[s.ASN] = true
			}
		}
		if len(ases) != want {
			t.Errorf("3 spines are in %d ASes, want %d", len(ases), want)
		}
	}
}
