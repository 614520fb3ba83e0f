package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"railyard/internal/input"
	"railyard/internal/report/plot"
	"railyard/internal/result"

	"gonum.org/v1/plot/vg/vgimg"
)

// plotsFit refuses, before anything is simulated, a folder that plots could not be written to after it.
func (c *compareCmd) plotsFit() error {
	if c.PNG == "" {
		return nil
	}
	if _, err := os.Stat(c.PNG); err == nil && !result.IsDir(c.PNG) {
		return fmt.Errorf("--png: %s is a file, not a folder", c.PNG)
	}
	for _, name := range []string{"completion", "queues", "rates"} {
		path := filepath.Join(c.PNG, name+".png")
		if _, err := os.Stat(path); err == nil && !c.Force {
			return fmt.Errorf("%s exists; --force replaces it", path)
		}
	}
	return nil
}

// plots writes the three plots of a comparison.
func (c *compareCmd) plots(e *env, of map[int]plot.Curves) error {
	if len(of) == 0 {
		return nil // nothing has run
	}
	var all []plot.Curves
	for _, n := range slices.Sorted(maps.Keys(of)) {
		all = append(all, of[n])
	}
	if err := os.MkdirAll(c.PNG, 0o755); err != nil {
		return input.Fault(err)
	}
	for _, p := range []struct {
		name string
		draw func([]plot.Curves) (*vgimg.Canvas, error)
	}{{"completion", plot.Completion}, {"queues", plot.Queues}, {"rates", plot.Rates}} {
		img, err := p.draw(all)
		if err != nil {
			return err
		}
		path := filepath.Join(c.PNG, p.name+".png")
		if err := plot.WritePNG(img, path, c.Force); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, path)
	}
	return nil
}
