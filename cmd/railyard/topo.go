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
		report.Labelled(e.stdout, "Circuits: ", fmt.Sprintf("%d of the cables above are joined by an OCS "+
			"later, and not at first; the bisection counts them", n))
	}
	if ring != "" {
		report.Labelled(e.stdout, "Deadlock by pauses: ", ring)
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
		return input.Fault(fmt.Errorf("%s: topology.conf says which switch a server hangs off and of no "+
			"cable: "+
			"there is nothing to compare", strings.Join(c.Against, ", ")))
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
	fmt.Fprintf(w, "%s in the design, %d cabled, %d as designed (%d of them with both ports)\n",
		unit.Plural(d.Design, "cable"), d.Cabled, d.Same, d.Ports)
	if len(d.Findings) == 0 {
		return
	}
	fmt.Fprintln(w)
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

func inventory(w io.Writer, inv *topo.Inventory) {
	fmt.Fprintf(w, "%s fabric: %s, %s, %s\n", inv.Kind, unit.Plural(inv.Hosts, "host"),
		unit.Plural(inv.GPUs, "GPU"), unit.Plural(inv.NICs, "NIC"))
	if inv.Domains > 0 {
		fmt.Fprintf(w, "%s of NVLink, of %s at most\n", unit.Plural(inv.Domains, "domain"),
			unit.Plural(inv.PerDomain, "GPU"))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "%-14s %8s %14s %14s %17s\n", "Tier", "switches", "down", "up", "oversubscription")
	for _, t := range inv.Tiers {
		over := "-"
		if t.Up > 0 {
			over = fmt.Sprintf("%.2f : 1", t.Oversubscription)
		}
		fmt.Fprintf(w, "%-14s %8d %14v %14v %17s\n", t.Role, t.Switches, t.Down, t.Up, over)
	}
	fmt.Fprintf(w, "\n%-30s %8s %10s %8s\n", "Cables", "count", "rate", "length")
	for _, c := range inv.Cables {
		fmt.Fprintf(w, "%-30s %8d %10v %7gm\n", c.From+" to "+c.To, c.Count, c.Rate, float64(c.LengthMM)/1000)
	}
	for i, c := range inv.Channels {
		if i == 0 {
			fmt.Fprintf(w, "\n%-30s %8s %10s %8s %8s\n", "Layer 3 port channels", "count", "rate", "members",
				"least")
		}
		fmt.Fprintf(w, "%-30s %8d %10v %8d %8d\n", c.From+" to "+c.To, c.Count, c.Rate, c.Members, c.Min)
	}
	if inv.Hosts < 2 {
		fmt.Fprintln(w, "\nBisection bandwidth –: one server has no halves")
		return
	}
	fmt.Fprintf(w, "\nBisection bandwidth %v per direction, %.3g %% of what half of the servers send\n",
		inv.Bisection, 100*inv.Share)
}
