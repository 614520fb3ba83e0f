package main

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/unit"
)

type planCircuitsCmd struct {
	Groups  int    `help:"Dragonfly groups or torus cubes on the OCS" placeholder:"N" range:"2,4096" without:"cubes"`
	Fibres  int    `help:"Fibers per group, on consecutive ports" placeholder:"N" range:"1,4096"`
	Pattern string `help:"even: equal circuits between all groups (dragonfly); ring: to the next group (torus)" enum:"even,ring" default:"even" placeholder:"even|ring"`
	To      int    `help:"Grow to N groups" placeholder:"N" range:"2,4096" without:"without"`
	Cubes   string `help:"Torus of cubes along x, y and z; one OCS per fiber of a face" placeholder:"XxYxZ"`
	Side    int    `help:"Switches per side of a cube" default:"4" placeholder:"N" range:"2,18"`
	Spares  int    `help:"Spare cubes" placeholder:"N" range:"0,2048"`
	Without int    `help:"Failed group or cube, by number: circuits bypass it" placeholder:"GROUP" range:"1,4096"`
	Rate    string `help:"Rate of a fiber" default:"400Gbps" placeholder:"RATE"`
	JSON    bool   `help:"Print as JSON"`
}

func (c *planCircuitsCmd) Help() string {
	return `Prints the circuits of an optical circuit switch between groups, and the circuits that a new or
failed group changes. Fibers stay in place. The maps are those of fabric.graph.ocs; for a torus of
cubes (fabric.kind cubes), those that fabric.optics.swaps leads to.

Examples:
  railyard plan circuits --groups 4 --fibres 12 --to 5       (a dragonfly grows by a group)
  railyard plan circuits --groups 4 --fibres 32 --pattern ring --without 3   (a cube fails)
  railyard plan circuits --cubes 4x4x4 --spares 1 --without 7       (TPU v4's 48 switches)
  railyard plan circuits --groups 8 --fibres 56 --to 9 --json`
}

// Run is the plan circuits command.
func (c *planCircuitsCmd) Run(e *env) error {
	rate, err := unit.ParseRate(c.Rate)
	if err != nil {
		return field.Under("--rate", err)
	}
	if c.Cubes != "" {
		return c.cubes(e, rate)
	}
	if c.Groups == 0 || c.Fibres == 0 {
		return input.Fault(field.New("--groups", "is missing, or --fibres; or give --cubes, as 4x4x4"))
	}
	in := planner.CircuitInput{Groups: c.Groups, Fibres: c.Fibres, Pattern: c.Pattern, Grow: c.To,
		Without: c.Without}
	r, err := in.Plan()
	if err != nil {
		return input.Fault(field.Flags(err))
	}
	if c.JSON {
		return printJSON(e.stdout, r)
	}
	printCircuits(e.stdout, r, rate)
	return nil
}

// cubes is plan circuits of a torus of cubes.
func (c *planCircuitsCmd) cubes(e *env, rate unit.Rate) error {
	in := planner.CubeInput{Side: c.Side, Spares: c.Spares, Without: c.Without}
	var rest string
	at := &in.Along
	if n, _ := fmt.Sscanf(c.Cubes+" ", "%dx%dx%d%s", &at[0], &at[1], &at[2], &rest); n != 3 {
		return input.Fault(field.New("--cubes", "%s is no three numbers, as 4x4x4", field.Quote(c.Cubes)))
	}
	r, err := in.Plan()
	if err != nil {
		return input.Fault(field.Flags(err))
	}
	if c.JSON {
		return printJSON(e.stdout, r)
	}
	w := e.stdout
	fmt.Fprintf(w, "%s of %d ports, one for each fiber of a face; %s\n",
		fmt.Sprintf("%d OCSes", r.Switches), r.Ports, unit.Plural(r.Circuits, "circuit"))
	across := rate * unit.Rate(in.Side*in.Side)
	report.Labelled(w, "Faces   ", fmt.Sprintf("%d fibers of %s: %s per direction between neighboring cubes",
		in.Side*in.Side, rate.Show(), across.Show()))
	if r.Swap != "" {
		report.Labelled(w, "Moved   ", fmt.Sprintf("%s of %d, for fabric.optics.swaps: %s; no cable "+
			"moves, bandwidths stay", unit.Plural(r.Moved, "circuit"), r.Circuits, r.Swap))
	}
	for d, m := range r.Maps {
		for _, x := range []struct {
			when string
			list []planner.Circuit
		}{{"", m.Before}, {", after", m.After}} {
			if x.list != nil {
				fmt.Fprintf(w, "\nAlong %c, %d alike%s\n", "xyz"[d], m.Switches, x.when)
				report.Wrap(w, "  ", circuitList(x.list))
			}
		}
	}
	return nil
}

// circuitList is circuits as scenarios take them.
func circuitList(list []planner.Circuit) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = x.String()
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func printCircuits(w io.Writer, r *planner.Circuits, rate unit.Rate) {
	line := func(label string, list []planner.Circuit, s planner.Spread) {
		between := fmt.Sprintf("%d", s.Least)
		if s.Most > s.Least {
			between += fmt.Sprintf(" to %d", s.Most)
		}
		report.Labelled(w, fmt.Sprintf("%-8s", label),
			fmt.Sprintf("%s between %s of groups, %s each: at least %s "+
				"per direction", unit.Plural(len(list), "circuit"), unit.Plural(s.Pairs, "pair"), between,
				(rate*unit.Rate(s.Least)).Show()))
	}
	fmt.Fprintf(w, "%d ports of an OCS\n", r.Ports)
	line("Before", r.Before, r.From)
	if r.After != nil {
		line("After", r.After, r.To)
		report.Labelled(w, "Moved   ",
			fmt.Sprintf("%s of %d, %d unchanged, %d new; %s dark; no cable "+
				"moves", unit.Plural(r.Dark, "circuit"), len(r.Before), r.Stay, r.New, unit.Plural(r.Free,
				"port")))
	}
	for _, m := range []struct {
		label string
		list  []planner.Circuit
	}{{"Circuits before", r.Before}, {"Circuits after", r.After}} {
		if m.list == nil {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", m.label)
		report.Wrap(w, "  ", circuitList(m.list))
	}
}
