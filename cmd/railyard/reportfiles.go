package main

import (
	"fmt"
	"os"
	"path/filepath"

	"railyard/internal/input"
	"railyard/internal/report/plot"
	"railyard/internal/report/web"

	gonum "gonum.org/v1/plot"
)

// plots writes the plots of a run: its hottest ports over time, and where its
// collectives' time went.
func (c *reportCmd) plots(e *env, r *web.Directory, dir, ext string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return input.Fault(err)
	}
	curves, err := r.Hottest(5)
	if err != nil {
		return input.Fault(err)
	}
	parts, err := r.Parts()
	if err != nil {
		return input.Fault(err)
	}
	for _, p := range []struct {
		name string
		draw func() (*gonum.Plot, error)
	}{{"utilisation", func() (*gonum.Plot, error) { return plot.Ports(r, curves, false) }},
		{"queues", func() (*gonum.Plot, error) { return plot.Ports(r, curves, true) }},
		{"collectives", func() (*gonum.Plot, error) { return plot.Collectives(r, parts) }}} {
		if p.name == "collectives" && len(parts) == 0 {
			continue
		}
		fig, err := p.draw()
		if err != nil {
			return err
		}
		path := filepath.Join(dir, p.name+"."+ext)
		if err := plot.Write(fig, path, c.Force, 24, 12); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, path)
	}
	return nil
}
