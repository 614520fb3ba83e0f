package main

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report/sequence"
	"railyard/internal/report/web"
)

// sequence prints a sequence diagram of the run, or draws it.
func (c *reportCmd) sequence(e *env, r *web.Directory) error {
	s, err := r.Sequences().Of(c.Sequence)
	if err != nil {
		return input.Fault(err)
	}
	if c.SVG == "" && c.PNG == "" {
		s.Text(e.stdout)
		return nil
	}
	for _, f := range []struct {
		path string
		draw func(io.Writer) error
	}{{c.SVG, s.SVG}, {c.PNG, s.PNG}} {
		if f.path == "" {
			continue
		}
		if err := output.Write(f.path, c.Force, f.draw); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, f.path)
	}
	return nil
}

// sequenceWords lists the sequences for the help.
func sequenceWords() string {
	names, shows := sequence.Names()
	for i := range names {
		names[i] += " (" + shows[i] + ")"
	}
	return strings.Join(names, ", ")
}
