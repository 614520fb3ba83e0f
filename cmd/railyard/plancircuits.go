package main

import (
	"fmt"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/planner"
	"railyard/internal/report/table"
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
	return e.show(c.JSON, r, func() { table.Circuits(e.stdout, &in, r, rate) })
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
	return e.show(c.JSON, r, func() { table.CubeCircuits(e.stdout, &in, r, rate) })
}
