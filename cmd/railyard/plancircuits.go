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
cubes (fabric.kind cubes), those of fabric.optics.swaps.

Examples:
  railyard plan circuits --groups 4 --fibres 12 --to 5  # a dragonfly grows by a group
  railyard plan circuits --groups 4 --fibres 32 --pattern ring --without 3  # a cube fails
  railyard plan circuits --cubes 4x4x4 --spares 1 --without 7  # TPU v4's 48 switches
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
	printCircuits(e.stdout, &in, r, rate)
	return nil
}

// cubes is plan circuits of a torus of cubes.
func (c *planCircuitsCmd) cubes(e *env, rate unit.Rate) error {
	in := planner.CubeInput{Side: c.Side, Spares: c.Spares, Without: c.Without}
	var rest string
	at := &in.Along
	if n, _ := fmt.Sscanf(c.Cubes+" ", "%dx%dx%d%s", &at[0], &at[1], &at[2], &rest); n != 3 {
		return input.Fault(field.New("--cubes", "%s is not three numbers, as 4x4x4", field.Quote(c.Cubes)))
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
		report.Labelled(w, "Moved   ", fmt.Sprintf("%s of %d, for fabric.optics.swaps: %s; no cable moves, bandwidths stay", unit.Plural(r.Moved, "circuit"), r.Circuits, r.Swap))
	}
	for d, m := range r.Maps {
		for _, x := range []struct {
			when string
			list []planner.Circuit
		}{{"", m.Before}, {", after", m.After}} {
			if x.list != nil {
				fmt.Fprintf(w, "\nAlong %c, %d equivalent%s\n", "xyz"[d], m.Switches, x.when)
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

func printCircuits(w io.Writer, in *planner.CircuitInput, r *planner.Circuits, rate unit.Rate) {
	line := func(label string, list []planner.Circuit, s planner.Spread) {
		each, bandwidth := fmt.Sprint(s.Least), (rate * unit.Rate(s.Least)).Show()
		if s.Most > s.Least {
			each += fmt.Sprintf(" to %d", s.Most)
			bandwidth = "at least " + bandwidth
		}
		joined, none, dark := unit.Plural(s.Pairs, "pair"), "", ""
		if n := len(s.Apart); n > 0 {
			joined = fmt.Sprintf("%d of %s", s.Pairs, unit.Plural(s.Pairs+n, "pair"))
			none = "; none between groups " + pairs(s.Apart)
		}
		if s.Dark > 0 {
			dark = fmt.Sprintf("; %s dark", unit.Plural(s.Dark, "port"))
		}
		report.Labelled(w, fmt.Sprintf("%-8s", label), fmt.Sprintf("%s between %s of groups, %s each: %s per direction%s%s",
			unit.Plural(len(list), "circuit"), joined, each, bandwidth,
			none, dark))
	}
	now := &r.From
	if r.After != nil {
		now = &r.To
	}
	apart := ""
	if n := len(now.Apart); n > 0 {
		apart = fmt.Sprintf("; %d of %s of groups have no circuit", n, unit.Plural(now.Pairs+n, "pair"))
	}
	if now.Parts > 1 {
		apart += fmt.Sprintf(", and the groups form %d parts without a path between them", now.Parts)
	}
	report.Wrap(w, "", unit.Plural(r.Ports, "port")+" of an OCS"+apart)
	line("Before", r.Before, r.From)
	if r.After != nil {
		line("After", r.After, r.To)
		dark := unit.Plural(r.Free, "port") + " dark"
		if in.Without > 0 {
			dark += fmt.Sprintf(" (%d of failed group %d)", in.Fibres, in.Without)
		}
		report.Labelled(w, "Change  ", fmt.Sprintf("%d of %s removed, %d unchanged, %d new; %s; no cable moves",
			r.Dark, unit.Plural(len(r.Before), "circuit"), r.Stay, r.New, dark))
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

// pairs lists the first pairs of groups, "1-4, 2-3".
func pairs(all [][2]int) string {
	const most = 8
	var words []string
	for _, p := range all[:min(len(all), most)] {
		words = append(words, fmt.Sprintf("%d-%d", p[0], p[1]))
	}
	if n := len(all) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d more", n))
	}
	return strings.Join(words, ", ")
}
