package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/importing"
	"railyard/internal/input"
	"railyard/internal/panel"
	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/scenariofile"
	"railyard/internal/topo"
	"railyard/unit"
)

type topoCmd struct {
	Scenario string   `arg:"" help:"Scenario file (YAML); - reads stdin" placeholder:"SCENARIO"`
	Set      []string `help:"Override a value (lb=spray); repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Dot      bool     `help:"Print a Graphviz graph"`
	Ports    string   `help:"Print rail, host, NIC and GPU by switch port; a switch, or all" placeholder:"SWITCH" without:"dot,cables,against"`
	Failures bool     `help:"Print failure domains: GPUs isolated by a switch or rack; with --dot as a graph" without:"cables,against,ports"`
	Prices   string   `help:"Price file of cables, with racks (see plan fabric --prices-example)" placeholder:"FILE"`
	Cables   bool     `help:"Print all cables as CSV, with the devices' port names" without:"dot,against,json"`
	Against  []string `help:"Compare with actual cabling: files that import reads; repeatable" placeholder:"FILE" without:"dot" sep:"none"`
	Format   string   `help:"Format of these files (detected)" placeholder:"FORMAT" with:"against"`
	JSON     bool     `help:"Print as JSON" without:"dot"`
}

func (c *topoCmd) Help() string {
	return `The scenario needs no workload.

Examples:
  railyard topo scenarios/pod64-llama2-7b.yaml
  railyard topo scenarios/pod64-llama2-7b.yaml --dot | dot -Tpng > pod.png
  railyard topo pod.yaml --dot --failures | dot -Tpng > domains.png
  railyard topo site.yaml --ports all           (port-to-rail maps, switches that are alike once)
  railyard topo site.yaml --cables > cables.csv       (import reads it)
  railyard topo site.yaml --against lldp/            (exit code 1 where they differ)
  railyard topo site.yaml --against as-built.csv --json`
}

// Run is the topo command.
func (c *topoCmd) Run(e *env) error {
	plan, err := scenariofile.Network(c.Scenario, c.Set)
	if err != nil {
		return err
	}
	if len(c.Against) > 0 {
		return c.compare(e, plan.Graph)
	}
	if c.Ports != "" {
		return c.ports(e, plan.Graph)
	}
	if c.Failures {
		return c.failures(e, plan.Graph)
	}
	if c.Cables {
		cables(e, plan.Graph)
		return nil
	}
	if c.Dot {
		_, err := io.WriteString(e.stdout, plan.Graph.Dot())
		return err
	}
	inv, ring := plan.Graph.Inventory(), plan.Ring()
	prices, err := c.prices()
	if err != nil {
		return err
	}
	var kinds []cableKind
	if inv.Racks > 0 {
		kinds = cableKinds(plan.Graph, prices)
	}
	if c.JSON {
		return printJSON(e.stdout, struct {
			*topo.Inventory
			Deadlock string `json:"deadlock,omitempty"` // a ring of buffers that may wait for one another
			Dark     int    `json:"circuits_dark_at_first,omitempty"`

			Kinds []cableKind `json:"kinds_of_cables,omitempty"`
		}{inv, ring, len(plan.Dark), kinds})
	}
	inventory(e.stdout, inv)
	if inv.Racks > 0 {
		printCables(e.stdout, plan.Graph, inv, prices)
	}
	if n := len(plan.Dark); n > 0 {
		report.Labelled(e.stdout, "Circuits: ", fmt.Sprintf("an OCS connects %d of these links later; the "+
			"bisection includes them", n))
	}
	if ring != "" {
		report.Labelled(e.stdout, "warning: circular PFC pause dependency: ", ring)
	}
	report.ScheduledFabric(e.stdout, plan.ScheduledFigures())
	return nil
}

// compare holds the design against what is cabled.
func (c *topoCmd) compare(e *env, g *topo.Graph) error {
	read, passed, err := importing.Cabling(c.Against, c.Format)
	if err != nil {
		return err
	}
	if slices.Contains(read.Formats, "slurm") {
		return input.Fault(fmt.Errorf("%s: topology.conf contains no links to compare",
			strings.Join(c.Against, ", ")))
	}
	namings := []cabling.Naming{func(n int) string { return fmt.Sprintf("eth%d", n) }}
	for _, system := range panel.Systems() {
		namings = append(namings, func(n int) string {
			var nobody *panel.Panel
			return nobody.Name(system, panel.Jack{Port: int32(n)})
		})
	}
	d := cabling.Compare(cabling.Of(g), read, namings)
	if c.JSON {
		err = printJSON(e.stdout, d)
	} else {
		differences(e.stdout, d, passed)
	}
	if err == nil && len(d.Findings) > 0 {
		return &exitError{exitFailed}
	}
	return err
}

// differences prints a comparison.
func differences(w io.Writer, d *cabling.Difference, passed []string) {
	for _, p := range passed {
		report.Wrap(w, "", p)
	}
	answer := "cabling matches the design"
	if n := len(d.Findings); n > 0 {
		answer = "cabling differs from the design: " + unit.Plural(n, "finding")
	}
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s (%s designed, %d cabled, %d equal, %d of them on the same ports)",
		answer, unit.Plural(d.Design, "link"), d.Cabled, d.Same, d.Ports))
	if len(d.Findings) == 0 {
		return
	}
	for i, f := range d.Findings {
		if i == 200 {
			fmt.Fprintf(w, "and %d more (--json has all)\n", len(d.Findings)-i)
			break
		}
		text := f.String()
		if f.Place != "" {
			text += " (" + f.Place + ")"
		}
		report.Wrap(w, "  ", text)
	}
}

// inventory prints what a fabric consists of: the answer (size, oversubscription, bisection), tiers, links.
func inventory(w io.Writer, inv *topo.Inventory) {
	answer := fmt.Sprintf("%s fabric: %s", inv.Kind, unit.Plural(inv.GPUs, "GPU"))
	over := 0.0
	for _, t := range inv.Tiers {
		if t.Up > 0 {
			over = max(over, t.Oversubscription)
		}
	}
	switch {
	case over > 1:
		answer += ", oversubscription " + toOne(over)
	case over > 0:
		answer += ", non-blocking (1:1)"
	}
	if inv.Hosts >= 2 {
		answer += fmt.Sprintf(", bisection %s per direction", inv.Bisection.Show())
		if inv.Share > 0 && inv.Share != 1 {
			answer += fmt.Sprintf(" (%s of the rate of half the hosts)", unit.ShowShare(inv.Share))
		}
	}
	screen.Painted(w, screen.Answer, "", answer)
	switches, links := 0, 0
	for _, t := range inv.Tiers {
		switches += t.Switches
	}
	for _, c := range inv.Cables {
		links += c.Count
	}
	parts := fmt.Sprintf("%s, %s, %s, %s, %s", unit.Plural(inv.Hosts, "host"), unit.Plural(inv.GPUs, "GPU"),
		unit.Plural(inv.NICs, "NIC"), unit.Plural(switches, "switch"), unit.Plural(links, "link"))
	if inv.Domains > 0 {
		parts += fmt.Sprintf("; %s of up to %s", unit.Plural(inv.Domains, "NVLink domain"),
			unit.Plural(inv.PerDomain, "GPU"))
	}
	screen.Wrap(w, "", parts)
	tiers := screen.Table{Columns: []screen.Column{{Head: "Tier"}, {Head: "switches"}, {Head: "downlinks"},
		{Head: "uplinks"}, {Head: "oversubscription"}}}
	for _, t := range inv.Tiers {
		up, over := unit.NotApplicable, unit.NotApplicable
		if t.Up > 0 {
			up, over = t.Up.Show(), toOne(t.Oversubscription)
		}
		tiers.Add(t.Role, unit.ShowCount(t.Switches), t.Down.Show(), up, over)
	}
	tiers.Print(w)
	cables := screen.Table{Columns: []screen.Column{{Head: "Links"}, {Head: "count"}, {Head: "rate"},
		{Head: "cable"}}}
	for _, c := range inv.Cables {
		cables.Add(c.From+" – "+c.To, unit.ShowCount(c.Count), c.Rate.Show(),
			unit.Digits(float64(c.LengthMM)/1000)+" m")
	}
	cables.Print(w)
	if len(inv.Channels) == 0 {
		return
	}
	channels := screen.Table{Columns: []screen.Column{{Head: "Layer 3 port channels"}, {Head: "count"},
		{Head: "rate"}, {Head: "members"}, {Head: "min. links"}}}
	for _, c := range inv.Channels {
		channels.Add(c.From+" – "+c.To, unit.ShowCount(c.Count), c.Rate.Show(), fmt.Sprint(c.Members),
			fmt.Sprint(c.Min))
	}
	channels.Print(w)
}

// toOne formats an oversubscription: 1:1, 1.5:1.
func toOne(x float64) string { return unit.Digits(x) + ":1" }
