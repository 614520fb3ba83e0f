package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"railyard/internal/fidelity"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/output"
	"railyard/internal/report"
	"railyard/internal/report/sequence"
	"railyard/internal/report/web"
	"railyard/internal/result"
)

// packet prints the trace of one packet.
func (c *reportCmd) packet(e *env) error {
	want, err := fidelity.ParseNamed(c.Packet)
	if err != nil {
		return field.Under("--packet", err)
	}
	all, err := result.ReadFollowed(c.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return input.Fault(fmt.Errorf("%s followed no packet: run its scenario again with --follow %s", c.Dir,
			c.Packet))
	case err != nil:
		return input.Fault(fmt.Errorf("%s: %s cannot be read: %w", c.Dir, result.FollowedFile, err))
	}
	i := slices.IndexFunc(all, func(f result.Followed) bool {
		return f.Asked == want.String() || !want.Behind && want.By == "" && f.QP == want.QP && f.PSN == want.PSN
	})
	if i < 0 {
		var names []string
		for _, f := range all {
			names = append(names, f.Asked)
		}
		return input.Fault(fmt.Errorf("%s did not follow packet %s; it followed %s", c.Dir, c.Packet,
			strings.Join(names, ", ")))
	}
	return e.show(c.JSON, all[i], func() { report.Followed(e.stdout, &all[i]) })
}

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
