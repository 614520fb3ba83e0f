package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/cabling"
	"railyard/internal/field"
	"railyard/internal/importing"
	"railyard/internal/input"
	"railyard/internal/panel"
	"railyard/internal/planner"
	"railyard/internal/planner/named"
	"railyard/internal/report"
	"railyard/internal/report/table"
	"railyard/internal/scenariofile"
	"railyard/internal/topo"
)

type topoCmd struct {
	Scenario string   `arg:"" help:"Scenario file (YAML); - reads stdin" placeholder:"SCENARIO"`
	Set      []string `help:"Override a value (lb=spray); repeatable" placeholder:"KEY=VALUE" sep:"none"`
	Dot      bool     `help:"Print a Graphviz graph"`
	Ports    string   `help:"Print rail, host, NIC and GPU by switch port; a switch, or all" placeholder:"SWITCH" without:"dot,cables,against"`
	Server   string   `help:"Print NVSwitch chips, PCIe switches, GPUs and NICs inside a server, or all; with --dot as a graph" placeholder:"SERVER" without:"cables,against,ports,failures"`
	Failures bool     `help:"Print failure domains: GPUs isolated by a switch or rack; with --dot as a graph" without:"cables,against,ports"`
	Prices   string   `help:"Price file of cables, with racks (see plan fabric --prices-example)" placeholder:"FILE"`
	Cables   bool     `help:"Print all cables as CSV, with the devices' port names" without:"dot,against,json"`
	Against  []string `help:"Compare with actual cabling: files that import reads; repeatable" placeholder:"FILE" without:"dot" sep:"none"`
	Format   string   `help:"Format of the files of --against (detected)" placeholder:"FORMAT" with:"against"`
	JSON     bool     `help:"Print as JSON" without:"dot"`
}

func (c *topoCmd) Help() string {
	return `The scenario needs no workload.

Examples:
  railyard topo scenarios/pod64-llama2-7b.yaml
  railyard topo scenarios/pod64-llama2-7b.yaml --dot | dot -Tpng > pod.png
  railyard topo pod.yaml --dot --failures | dot -Tpng > domains.png
  railyard topo scenarios/pod64-alltoall.yaml --server all  # NVSwitch chips, PCIe switches
  railyard topo site.yaml --ports all  # rail of each port; equivalent switches once
  railyard topo site.yaml --cables > cables.csv  # import reads it
  railyard topo site.yaml --against lldp/  # exit code 1 if they differ
  railyard topo site.yaml --against as-built.csv --json`
}

// Run is the topo command.
func (c *topoCmd) Run(e *env) error {
	if c.Server != "" {
		return c.server(e)
	}
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
		plan.Graph.WriteCables(e.stdout)
		e.unnamed(plan.Graph)
		return nil
	}
	if c.Dot {
		_, err := io.WriteString(e.stdout, plan.Graph.Dot())
		return err
	}
	inv, ring := plan.Graph.Inventory(), plan.Ring()
	prices, err := named.Prices(c.Prices)
	if err != nil {
		return err
	}
	var kinds []planner.CableKind
	if inv.Racks > 0 {
		kinds = prices.CablesByKind(plan.Graph)
	}
	if c.JSON {
		return printJSON(e.stdout, inventory{*inv, ring, len(plan.Dark), kinds})
	}
	table.Inventory(e.stdout, inv)
	if inv.Racks > 0 {
		table.CableKinds(e.stdout, inv, kinds, prices.Currency)
	}
	if n := len(plan.Dark); n > 0 {
		report.Labelled(e.stdout, "Circuits: ", fmt.Sprintf("an OCS connects %d of these links later; the bisection includes them", n))
	}
	if ring != "" {
		report.Labelled(e.stdout, "warning: circular PFC pause dependency: ", ring)
	}
	report.ScheduledFabric(e.stdout, plan.ScheduledFigures())
	return nil
}

// compare compares the design with the actual cabling.
func (c *topoCmd) compare(e *env, g *topo.Graph) error {
	read, passed, err := importing.Cabling(c.Against, c.Format, false)
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
	err = e.show(c.JSON, d, func() { table.CableDifferences(e.stdout, d, passed) })
	if err == nil && len(d.Findings) > 0 {
		return &exitError{exitFailed}
	}
	return err
}

// every is the value of --ports that means all switches, and of --server that means all servers.
const every = "all"

// ports prints the rail, host, NIC and GPU of each front-panel port of a switch.
func (c *topoCmd) ports(e *env, g *topo.Graph) error {
	name := c.Ports
	if name == every {
		name = ""
	}
	maps, names := g.PortMaps(name)
	if len(maps) == 0 && name != "" {
		return input.Fault(field.Choice("--ports", name, append(names, every), "unknown switch %s", field.Quote(name)).ListedBy("railyard topo SCENARIO --ports all"))
	}
	return e.show(c.JSON, maps, func() {
		table.PortMaps(e.stdout, maps)
		e.unnamed(g)
	})
}

// server prints the inside of a server.
func (c *topoCmd) server(e *env) error {
	plan, err := scenariofile.Servers(c.Scenario, c.Set)
	if err != nil {
		return err
	}
	name := c.Server
	if name == every {
		name = ""
	}
	all := plan.Interiors(name)
	if len(all) == 0 {
		names := []string{every}
		for _, h := range plan.Graph.Hosts {
			names = append(names, plan.Graph.Nodes[h].Name)
		}
		return input.Fault(field.Choice("--server", c.Server, names, "unknown server %s", field.Quote(c.Server)).ListedBy("railyard topo SCENARIO --cables"))
	}
	switch {
	case c.Dot:
		table.InteriorDot(e.stdout, all)
	case c.JSON:
		return printJSON(e.stdout, all)
	default:
		table.Interiors(e.stdout, all)
	}
	return nil
}

// unnamed prints notes on switches whose port names are unknown.
func (e *env) unnamed(g *topo.Graph) {
	for _, n := range g.Unnamed() {
		report.Labelled(e.stderr, "note: ", n)
	}
}

// mostDomains bounds how many failures are tried, each by a walk over the fabric.
const mostDomains = 5_000

// failures prints switches and racks with the effect of their failure.
func (c *topoCmd) failures(e *env, g *topo.Graph) error {
	if n := len(g.Nodes) - len(g.Hosts); n > mostDomains {
		return input.Fault(field.New("--failures", "%d switches; accepted: up to %d", n,
			mostDomains))
	}
	list := g.FailureDomains()
	if c.JSON {
		return printJSON(e.stdout, list)
	}
	if c.Dot {
		_, err := io.WriteString(e.stdout, g.DotFailures(list))
		return err
	}
	table.FailureDomains(e.stdout, list)
	return nil
}
