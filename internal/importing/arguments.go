package importing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/jobscript"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/scenariofile"
	"railyard/internal/slurm"
	"railyard/internal/trace"
	"railyard/unit"
)

// kindNames are the names of the kinds of files that describe a training.
func kindNames() (all []string) {
	for _, k := range jobscript.Kinds {
		all = append(all, k.Name)
	}
	return all
}

// splitArguments separates the files that describe a training from the rest.
func (c *reader) splitArguments() (args []jobscript.File, rest []string, err error) {
	for _, path := range c.Files {
		st, err := os.Stat(path)
		if err != nil {
			return nil, nil, input.Fault(err)
		}
		kind := ""
		switch {
		case st.IsDir():
		case c.Format == "":
			head, err := beginning(path)
			if err != nil {
				return nil, nil, input.Fault(err)
			}
			kind = jobscript.KindOf(path, head)
		case slices.Contains(kindNames(), c.Format):
			kind = c.Format
		}
		if kind == "" {
			rest = append(rest, path)
			continue
		}
		text, err := input.Text(path, 1<<20)
		if err != nil {
			return nil, nil, input.Fault(err)
		}
		args = append(args, jobscript.File{Name: path, Kind: kind, Text: text})
	}
	return args, rest, nil
}

// arguments makes a scenario of the described training, on the fabric of other files, or on an assumed one.
func (c *reader) arguments(args []jobscript.File, cablings []string) (*Imported, error) {
	per := c.GPUs
	if per == 0 {
		per = 8
	}
	below := scenariofile.Below(args[0].Name, scenariofile.Here())
	a, err := jobscript.ReadArguments(args, per, jobscript.ReadFile(below))
	if err != nil {
		return nil, err
	}
	found := &Trace{Format: args[0].Kind, Ranks: a.Ranks, Report: argumentsReport(a)}
	out := &Imported{Trace: found}
	model := ""
	for _, f := range args {
		found.Files = append(found.Files, f.Name)
		if f.Kind == "model-config" {
			model = c.fromOut(f.Name)
		} else {
			out.Formats = append(out.Formats, f.Kind)
		}
	}
	out.Files = len(args) + len(cablings)
	name := scenariofile.Slug("", args[0].Name)
	if len(cablings) == 0 {
		text, note := assumed(a.Ranks, found.Format, trace.Site{GPUs: c.GPUs})
		out.Scenario = fmt.Sprintf("name: %s\n%s", name, text)
		out.Notes = append(out.Notes, note)
	} else if out, err = c.cabledWith(out, cablings); err != nil {
		return nil, err
	}
	read := c.besideOut()
	if own := a.Shape.Config; own != nil && model == "" {
		model = name + "-model.json"
		was := read
		read = func(file string) ([]byte, error) {
			if file == model {
				return own, nil
			}
			return was(file)
		}
		if c.Out == "" {
			out.Notes = append(out.Notes, fmt.Sprintf("the model is not a shipped one: with --out it is written next to the scenario, as %s", model))
		} else if err := output.WriteBytes(filepath.Join(filepath.Dir(c.Out), model), c.Force, own); err != nil {
			return nil, err
		}
	}
	out.Scenario += "workload:\n  training:\n" + a.YAML("    ", model)
	plan, err := loads(out.Scenario, read)
	if err != nil {
		return nil, blamedOn(a, err)
	}
	out.affordable(plan)
	return out, nil
}

// blamedOn adds the words and positions of arguments to a resolver's error about their results.
func blamedOn(a *jobscript.Arguments, err error) error {
	for _, e := range field.All(err) {
		_, key, _ := strings.Cut(e.Path, "training.")
		if said, ok := a.Find(key); ok && said.Said {
			e.Path, e.File, e.Line, e.Col = said.Name, said.At.File, said.At.Line, said.At.Col
		}
	}
	return input.Fault(err)
}

// cabledWith returns the import on a described fabric.
func (c *reader) cabledWith(out *Imported, cablings []string) (*Imported, error) {
	fabric := *c
	fabric.Files, fabric.Format = cablings, ""
	cabled, err := fabric.recognised()
	if err != nil {
		return nil, err
	}
	cabled.Trace, cabled.Files = out.Trace, out.Files
	cabled.Formats = append(cabled.Formats, out.Formats...)
	if i := strings.Index(cabled.Scenario, "\nworkload:"); i >= 0 {
		cabled.Scenario = cabled.Scenario[:i+1]
	}
	return cabled, nil
}

// argumentsReport lists the mapped, assumed, and omitted arguments.
func argumentsReport(a *jobscript.Arguments) (r trace.Report) {
	add := func(list *[]trace.Count, what string, at slurm.Place) {
		*list = append(*list, trace.Count{What: what, N: 1, File: at.File, Line: at.Line})
	}
	shape := a.Shape.Name
	if shape == "" {
		m := a.Shape.Parsed
		shape = fmt.Sprintf("of %d layers of %d, %d heads", m.Layers, m.Hidden, m.Heads)
	}
	add(&r.Mapped, "model "+shape, a.Shape.At)
	for _, x := range a.Entries {
		if x.Said {
			add(&r.Mapped, fmt.Sprintf("%s %s from %s", x.Key, x.Value, x.Name), x.At)
		} else {
			add(&r.Guessed, fmt.Sprintf("%s %s: %s", x.Key, x.Value, x.Name), slurm.Place{})
		}
	}
	for _, n := range append(slices.Clone(a.Notes), a.Said.Notes...) {
		add(&r.Guessed, n.Text, n.At)
	}
	if left := a.Said.Left; len(left) > 0 {
		var names []string
		for _, v := range left {
			names = append(names, slurm.Open(v.Name))
		}
		r.Left = append(r.Left, trace.Count{What: unit.Plural(len(left), "value") + " without effect: " +
			report.Listed(names, 12), N: len(left), File: left[0].At.File, Line: left[0].At.Line})
	}
	return r
}
