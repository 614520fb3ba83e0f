package main

import (
	"errors"
	"fmt"
	"os"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/report/plot"
	"railyard/internal/report/web"
	"railyard/internal/result"
)

type reportCmd struct {
	Dir      string `arg:"" help:"Run directory" placeholder:"RUN"`
	HTML     string `help:"Write the web page with this run as one file" name:"html" placeholder:"FILE"`
	PNG      string `help:"Write the plots as PNG, or a sequence diagram as a file" name:"png" placeholder:"DIR"`
	SVG      string `help:"Write the plots as SVG, or a sequence diagram as a file" name:"svg" placeholder:"DIR"`
	Packet   string `help:"Trace a packet hop by hop (recorded by run --follow)" placeholder:"QP/PSN" without:"html,png,svg"`
	Sequence string `help:"Print a sequence diagram: ${sequences}; with --svg or --png FILE a drawing" placeholder:"NAME" without:"html,packet,steps,json"`
	Steps    bool   `help:"Print only the event log (needs output.steps in the scenario)" without:"html,png,svg,packet,json"`
	JSON     bool   `help:"Print the summary as JSON" without:"html,png,svg"`
	Force    bool   `help:"Replace existing files" with:"html,png,svg"`
}

func (c *reportCmd) Help() string {
	return `Prints a finished run, or writes it as one HTML file or as plots.

Examples:
  railyard report runs/three-flows-001
  railyard report runs/three-flows-001 --html three-flows.html
  railyard report runs/three-flows-001 --png plots  # queues, load, causes, slowdown over message size
  railyard report runs/pfc-cascade-001 --steps
  railyard report runs/followed --packet 0/+400
  railyard report runs/pfc-cascade-001 --sequence pause --svg pauses.svg`
}

// Run is the report command.
func (c *reportCmd) Run(e *env) error {
	if c.Packet != "" {
		return c.packet(e)
	}
	s, err := result.ReadSummary(c.Dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%s has no summary.json: it is not a run directory", c.Dir)
		}
		return input.Fault(err)
	}
	if c.Steps {
		if len(s.Story) == 0 {
			return input.Fault(fmt.Errorf("%s has no steps: run its scenario with --set output.steps=40",
				c.Dir))
		}
		report.Story(e.stdout, s.Story)
		return nil
	}
	if c.HTML == "" && c.PNG == "" && c.SVG == "" && c.Sequence == "" {
		return e.show(c.JSON, s, func() { report.Text(e.stdout, s) })
	}
	r, err := web.Open(c.Dir)
	if err != nil {
		return input.Fault(err)
	}
	if c.Sequence != "" {
		return c.sequence(e, r)
	}
	if c.HTML != "" {
		page, err := r.HTML()
		if err != nil {
			return input.Fault(err) // a table is damaged
		}
		if err := output.WriteBytes(c.HTML, c.Force, page); err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "%s: %.1f MB\n", c.HTML, float64(len(page))/1e6)
	}
	for _, o := range []struct{ dir, ext string }{{c.PNG, "png"}, {c.SVG, "svg"}} {
		if o.dir == "" {
			continue
		}
		if err := os.MkdirAll(o.dir, 0o755); err != nil {
			return input.Fault(err)
		}
		paths, err := plot.Run(r, o.dir, o.ext, c.Force)
		if e.list(paths); err != nil {
			return err
		}
	}
	return nil
}
