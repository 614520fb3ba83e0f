package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/report"
	"railyard/internal/sheet"
	"railyard/internal/site"
	"railyard/internal/swconf/sonic"
	"railyard/unit"
)

type modelsCmd struct {
	Name string `arg:"" optional:"" help:"Model to print with its sources (list all)" placeholder:"MODEL"`
	JSON bool   `help:"Print as JSON"`
}

func (c *modelsCmd) Help() string {
	return `fabric.types.NAME.model takes the switches and hosts, server.gpu the GPUs, and config render --hwsku
the SONiC devices. Every figure has its source, or is marked as unsourced.

Examples:
  railyard models
  railyard models sn5600
  railyard models --json`
}

// shelf is models of one kind.
type shelf struct {
	Kind   string        `json:"kind"`
	Models []sheet.Sheet `json:"models"`
}

func shelves() []shelf {
	return []shelf{{"switches", site.Sheets}, {"servers", site.Boxes}, {"GPUs", model.Sheets},
		{"devices of SONiC", sonic.Devices}}
}

// Run is the models command.
func (c *modelsCmd) Run(e *env) error {
	all := shelves()
	if c.Name != "" {
		return c.one(e, all)
	}
	if c.JSON {
		return printJSON(e.stdout, all)
	}
	for i, s := range all {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		if err := s.print(e.stdout); err != nil {
			return err
		}
	}
	return nil
}

// print lists models, and says how much of what is known of them was read somewhere.
func (s *shelf) print(w io.Writer) error {
	sourced, figures := sheet.Count(s.Models)
	fmt.Fprintf(w, "%s: %d, %d of %d figures with a source\n", s.Kind, len(s.Models), sourced, figures)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range s.Models {
		m := &s.Models[i]
		from := "unsourced: " + strings.Join(m.Unsourced(), ", ")
		if len(m.Unsourced()) == 0 {
			from = "all " + unit.Plural(len(m.Figures), "figure") + " sourced"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", m.Key, m.Name, from)
	}
	return t.Flush()
}

// figures prints what is known of a model, source by source.
func figures(w io.Writer, m *sheet.Sheet) {
	var sources []*sheet.Source
	read := map[*sheet.Source][]string{}
	for _, f := range m.Figures {
		if read[f.Source] == nil {
			sources = append(sources, f.Source)
		}
		read[f.Source] = append(read[f.Source], f.Key+" "+f.Value)
	}
	for _, s := range sources {
		fmt.Fprintf(w, "  %s\n", strings.Join(read[s], ", "))
		report.Wrap(w, "      ", s.String())
	}
}

// one prints all that is known of a model. A name may be a server's and a GPU's.
func (c *modelsCmd) one(e *env, all []shelf) error {
	var names []string
	for _, s := range all {
		for i := range s.Models {
			m := &s.Models[i]
			names = append(names, m.Key)
			if !strings.EqualFold(m.Key, c.Name) {
				continue
			}
			if c.JSON {
				return printJSON(e.stdout, m)
			}
			fmt.Fprintf(e.stdout, "%s (%s)\n", m.Name, m.Key)
			figures(e.stdout, m)
			return nil
		}
	}
	return input.Fault(field.Choice("MODEL", c.Name, names, "unknown model %s", field.Quote(c.Name)))
}
