package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/render"
	"railyard/internal/report"
	"railyard/internal/report/table"
	"railyard/internal/scenario"
	"railyard/internal/swconf"
	"railyard/internal/swconf/onto"
)

// onto prints the commands that turn a device into a switch of the fabric.
func (c *configRenderCmd) onto(e *env, plan *scenario.Plan) error {
	if st, err := os.Stat(c.Onto); err == nil && st.IsDir() {
		return c.ontoAll(e)
	}
	o := c.merger()
	b, err := o.Text(c.Onto)
	if err != nil {
		return err
	}
	m, err := o.Merge(plan, b)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(e.stdout, m)
	}
	table.Interrupts(e.stderr, m)
	if m.OS == swconf.SONiC {
		report.Labelled(e.stderr, "  left out: ", "frr.conf, which has BGP: --onto takes a folder with config_db.json and frr.conf, and makes both")
	}
	if c.Out != "" {
		return output.Write(c.Out, c.Force, func(w io.Writer) error {
			_, err := io.WriteString(w, m.Script)
			return err
		})
	}
	_, err = io.WriteString(e.stdout, m.Script)
	return err
}

// merger returns the settings of a merge from the flags.
func (c *configRenderCmd) merger() *render.Onto {
	return &render.Onto{Scenario: c.Scenario, Set: c.Set, Path: c.Onto, Switch: c.Switch, OS: c.OS,
		Addressing: c.Addressing, Multihome: c.Multihome, ASIC: c.ASIC, InBand: c.InBand, Devices: c.chosen()}
}

// ontoAll merges every device of a directory with the switch of its name, independently, so an error of one does
// not stop the others.
func (c *configRenderCmd) ontoAll(e *env) error {
	if c.Switch != "" {
		return field.New("--switch", "has no effect with %s, a folder: each device becomes the switch of its host name", c.Onto)
	}
	if c.Out == "" && !c.JSON {
		return field.New("--out", "is needed with %s, a folder: what is typed at each device goes to a file of its own", c.Onto)
	}
	o := c.merger()
	devices, none, err := o.Texts()
	if err != nil {
		return err
	}
	report.Ignored(e.stderr, none)
	merges, names, refused, err := o.All(devices)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := printJSON(e.stdout, merges); err != nil {
			return err
		}
	} else if err := c.writeAll(e, merges); err != nil {
		return err
	}
	if len(names) > 0 {
		report.Labelled(e.stderr, "note: ", fmt.Sprintf("no file is written for %s: no configuration read, or refused", swconf.Compress(names)))
	}
	return refused
}

// writeAll writes each device's commands, and prints what they interrupt.
func (c *configRenderCmd) writeAll(e *env, merges []*onto.Merge) error {
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return input.Fault(err)
	}
	for _, m := range merges {
		table.Interrupts(e.stderr, m)
		for _, half := range []*onto.Merge{m, m.FRR} {
			if half == nil || half.Script == "" {
				continue
			}
			name := filepath.Join(c.Out, m.Switch+".txt")
			if half.OS == swconf.SONiC {
				name = filepath.Join(c.Out, m.Switch+".patch.json")
			}
			if err := output.Write(name, c.Force, func(w io.Writer) error {
				_, err := io.WriteString(w, half.Script)
				return err
			}); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s\n", name)
		}
	}
	return nil
}
