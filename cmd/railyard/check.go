package main

import (
	"cmp"
	"errors"
	"fmt"

	"railyard/internal/fidelity"
	"railyard/internal/input"
	"railyard/internal/report"
	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

type checkCmd struct {
	Scenario string   `arg:"" help:"Scenario file (YAML); - reads stdin" placeholder:"SCENARIO"`
	Set      []string `help:"Override a value (lb=spray); repeatable" placeholder:"KEY=VALUE" sep:"none"`
	JSON     bool     `help:"Print the values as JSON"`
}

func (c *checkCmd) Help() string {
	return `What run would refuse is an error, exit code 2.

Example:
  railyard check scenarios/three-flows.yaml --set transport.mtu=1024`
}

// build looks whether the run can be built. Insufficient memory on this host is not an error. A check takes about a
// tenth of the scenario's memory, and the run may be meant for another host.
func (c *checkCmd) build(plan *scenario.Plan) error {
	_, err := runner.New(plan, runner.Memory())
	var memory *fidelity.ErrMemory
	if !errors.As(err, &memory) {
		return err
	}
	if err := fidelity.Check(plan); err != nil {
		return input.Fault(err)
	}
	plan.Notes = append(plan.Notes, fmt.Sprintf("a run needs about %s of memory, and %s are available here: it was not built; routes connect the GPUs of all transfers",
		memory.NeedWords(), memory.HaveWords()))
	return nil
}

// Run is the check command.
func (c *checkCmd) Run(e *env) error {
	plan, err := scenariofile.Checked(c.Scenario, c.Set)
	if err != nil {
		return err
	}
	if plan.Unfit == "" {
		e.foretell(plan)
		if err := c.build(plan); err != nil {
			return err
		}
	}
	if c.JSON {
		_, values := plan.Resolved()
		out := checkResult{Resolved: values, Notes: plan.Notes}
		if plan.Unfit == "" {
			n := plan.Ops()
			out.Operations = &n
		}
		return cmp.Or(printJSON(e.stdout, out), unfit(plan))
	}
	keys, values := plan.Effective()
	for _, k := range keys {
		report.Labelled(e.stdout, fmt.Sprintf("%-44s ", k), values[k])
	}
	fmt.Fprintf(e.stdout, "\n%s, %s, %s", unit.Plural(len(plan.Graph.Hosts), "host"),
		unit.Plural(plan.Graph.TotalGPUs(), "GPU"), unit.Plural(len(plan.Graph.Links), "link"))
	if plan.Unfit == "" {
		fmt.Fprintf(e.stdout, ", %s", unit.Plural(plan.Ops(), "operation"))
	}
	fmt.Fprintln(e.stdout)
	for i := range plan.Jobs {
		t := plan.Jobs[i].Training
		if t == nil {
			continue
		}
		m, err := t.Worst(t.Model)
		if err != nil {
			return input.Fault(err)
		}
		gb := func(b unit.Bytes) float64 { return float64(b) / 1e9 }
		report.Wrap(e.stdout, "",
			fmt.Sprintf("%s: %d parameters; per GPU of stage %d %.1f GB parameters, %.1f GB gradients, %.1f GB optimizer, %.1f GB activations",
				t.Model.Name, t.Model.Params(), m.Stage, gb(m.Weights), gb(m.Gradients),
				gb(m.Optimizer),
				gb(m.Activations)))
	}
	for _, n := range plan.Notes {
		if n != plan.Unfit {
			report.Labelled(e.stdout, "note: ", n)
		}
	}
	return unfit(plan)
}

// unfit returns why run rejects a scenario that other commands accept; nil: it does not.
func unfit(plan *scenario.Plan) error {
	if plan.Unfit == "" {
		return nil
	}
	return input.Fault(errors.New(plan.Unfit))
}
