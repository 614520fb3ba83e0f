// Package named reads what commands of the planner name: a model, a framework or a price list, shipped or in a
// file, and tables of measured trainings. Errors are the input's faults.
package named

import (
	"bytes"
	"fmt"
	"path/filepath"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/planner"
	"railyard/internal/workload"
)

// Model reads a shipped model or a config.json.
func Model(name string) (*model.Config, error) {
	var m *model.Config
	var err error
	if model.IsFile(name) {
		text, e := input.Text(name, 1<<20)
		if e != nil {
			return nil, input.Fault(e)
		}
		m, err = model.Parse(name, text)
	} else if m, err = model.Builtin(name); err != nil {
		return nil, field.Under("MODEL", err)
	}
	if err != nil {
		return nil, input.Fault(err)
	}
	return m, nil
}

// Software returns a framework by name, or of a file that plan fit wrote.
func Software(name string) (*workload.Software, error) {
	if !model.IsFile(name) {
		s, err := workload.FindSoftware(name)
		return s, field.Flags(err)
	}
	b, err := input.Text(name, 1<<20)
	if err != nil {
		return nil, input.Fault(err)
	}
	s, err := workload.ReadSoftware(b)
	if err != nil {
		return nil, input.Fault(fmt.Errorf("%s: %w", name, err))
	}
	return s, nil
}

// Measured estimates a table of measured trainings. Models that are not shipped are config.json files next to the
// table, or in its folder models.
func Measured(path string, by planner.Assumed) ([]planner.Measured, error) {
	text, err := input.Text(path, 1<<24)
	if err != nil {
		return nil, input.Fault(err)
	}
	find := func(name string) (*model.Config, error) {
		for _, dir := range []string{"", "models"} {
			file := filepath.Join(filepath.Dir(path), dir, name+".json")
			if b, err := input.Text(file, 1<<20); err == nil {
				return model.Parse(name, b)
			}
		}
		return model.Builtin(name)
	}
	all, err := planner.ReadMeasured(bytes.NewReader(text), find, by)
	if err != nil {
		return nil, input.Fault(fmt.Errorf("%s: %w", path, err))
	}
	return all, nil
}

// Prices reads a price list of cables and switches; "" is the embedded one.
func Prices(file string) (*planner.Prices, error) {
	var text []byte
	if file != "" {
		var err error
		if text, err = input.Text(file, 1<<20); err != nil {
			return nil, input.Fault(err)
		}
	}
	p, err := planner.ParsePrices(filepath.Base(file), text)
	if err != nil {
		return nil, input.Fault(err)
	}
	return p, nil
}
