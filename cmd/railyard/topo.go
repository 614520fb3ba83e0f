package main

import (
	"fmt"
	"io"

	"railyard/internal/topo"
)

type topoCmd struct {
	Scenario string   `arg:"" help:"Scenario file (YAML); - reads standard input." placeholder:"SCENARIO"`
	Set      []string `help:"Override a value." placeholder:"KEY=VALUE" sep:"none"`
	Dot      bool     `help:"Print a Graphviz graph instead."`
	JSON     bool     `help:"Print the inventory as JSON." without:"dot"`
}

func (c *topoCmd) Help() string {
	return `Examples:
  railyard topo scenarios/pod64-llama2-7b.yaml
  railyard topo scenarios/pod64-llama2-7b.yaml --dot | dot -Tpng > pod.png`
}

// Run is the topo command.
func (c *topoCmd) Run(e *env) error {
	plan, err := loadPlan(c.Scenario, c.Set, nil)
	if err != nil {
		return err
	}
	if c.Dot {
		_, err := io.WriteString(e.stdout, plan.Graph.Dot())
		return err
	}
	inv := plan.Graph.Inventory()
	if c.JSON {
		return printJSON(e.stdout, inv)
	}
	inventory(e.stdout, inv)
	return nil
}

func inventory(w io.Writer, inv *topo.Inventory) {
	fmt.Fprintf(w, "%s fabric: %d hosts, %d GPUs, %d NICs\n\n", inv.Kind, inv.Hosts, inv.GPUs, inv.NICs)
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
	fmt.Fprintf(w, "\nBisection bandwidth %v per direction\n", inv.Bisection)
}
