package main

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/field"
	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/unit"
)

type planCircuitsCmd struct {
	Groups  int    `help:"Dragonfly groups, or cubes of a torus, whose fibres all end at the OCS." required:"" placeholder:"N" range:"2,4096"`
	Fibres  int    `help:"Fibres of a group; they take ports side by side." required:"" placeholder:"N" range:"1,4096"`
	Pattern string `help:"even: as many circuits between any two groups (dragonfly); ring: each to the next (a torus of cubes)." enum:"even,ring" default:"even" placeholder:"even|ring"`
	To      int    `help:"Grow to so many groups." placeholder:"N" range:"2,4096" without:"without"`
	Without int    `help:"A group that fails, by its number: circuits go round it." placeholder:"GROUP" range:"1,4096"`
	Rate    string `help:"Rate of a fibre." default:"400Gbps" placeholder:"RATE"`
	JSON    bool   `help:"Print as JSON."`
}

func (c *planCircuitsCmd) Help() string {
	return `What an optical circuit switch joins between groups, and what of it moves when a group comes or
fails. No cable is moved: a new group's fibres are plugged in, and circuits are
joined anew. The maps are those that fabric.graph.ocs takes.

Examples:
  railyard plan circuits --groups 4 --fibres 12 --to 5       (a dragonfly grows by a group)
  railyard plan circuits --groups 4 --fibres 32 --pattern ring --without 3   (a cube fails)
  railyard plan circuits --groups 8 --fibres 56 --to 9 --json`
}

// Run is the plan circuits command.
func (c *planCircuitsCmd) Run(e *env) error {
	rate, err := unit.ParseRate(c.Rate)
	if err != nil {
		return field.Under("--rate", err)
	}
	in := planner.CircuitInput{Groups: c.Groups, Fibres: c.Fibres, Pattern: c.Pattern, Grow: c.To,
		Without: c.Without}
	r, err := in.Plan()
	if err != nil {
		return &inputError{flagged(err)}
	}
	if c.JSON {
		return printJSON(e.stdout, r)
	}
	printCircuits(e.stdout, r, rate)
	return nil
}

func printCircuits(w io.Writer, r *planner.Circuits, rate unit.Rate) {
	line := func(label string, list []planner.Circuit, s planner.Spread) {
		between := fmt.Sprintf("%d", s.Least)
		if s.Most > s.Least {
			between += fmt.Sprintf(" to %d", s.Most)
		}
		report.Labelled(w, fmt.Sprintf("%-8s", label),
			fmt.Sprintf("%s between %s of groups, %s each: %v at least "+
				"each way", unit.Plural(len(list), "circuit"), unit.Plural(s.Pairs, "pair"), between,
				rate*unit.Rate(s.Least)))
	}
	fmt.Fprintf(w, "%d ports of an OCS\n", r.Ports)
	line("Before", r.Before, r.From)
	if r.After != nil {
		line("After", r.After, r.To)
		report.Labelled(w, "Moved   ",
			fmt.Sprintf("%s of %d, %d stay as they are, %d are new; %s stay dark; no cable "+
				"is moved", unit.Plural(r.Dark, "circuit"), len(r.Before), r.Stay, r.New, unit.Plural(r.Free,
				"port")))
	}
	for _, m := range []struct {
		label string
		list  []planner.Circuit
	}{{"circuits, before", r.Before}, {"circuits, after", r.After}} {
		if m.list == nil {
			continue
		}
		words := make([]string, len(m.list))
		for i, x := range m.list {
			words[i] = x.String()
		}
		fmt.Fprintf(w, "\n%s:\n", m.label)
		report.Wrap(w, "  ", "["+strings.Join(words, ", ")+"]")
	}
}
