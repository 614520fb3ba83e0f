package planner

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"io/fs"
	"slices"

	"railyard/internal/model"
	"railyard/internal/partition"
)

// trainings are published measurements of training steps: runs with their sources by row, Megatron-Bridge's
// performance summary (docs/references.md, recipes), and config.json of models that are not shipped.
//
//go:embed trainings
var trainings embed.FS

// Published estimates all published trainings.
func Published(by Assumed) (all []Measured, err error) {
	for _, name := range []string{"megatron_bridge.csv", "training_runs.csv"} {
		rows, err := publishedTable(name, by)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func publishedTable(name string, by Assumed) ([]Measured, error) {
	table, err := trainings.ReadFile("trainings/" + name)
	if err != nil {
		return nil, err
	}
	return ReadMeasured(bytes.NewReader(table), publishedModel, by)
}

// publishedModel finds a model that ships, or one of trainings.
func publishedModel(name string) (*model.Config, error) {
	if text, err := PublishedConfig(name + ".json"); err == nil {
		return model.Parse(name, text)
	}
	return model.Builtin(name)
}

// PublishedConfig returns the config.json of a model of published trainings that does not ship, NAME.json.
func PublishedConfig(name string) ([]byte, error) {
	var models map[string]json.RawMessage
	text, err := trainings.ReadFile("trainings/models.json")
	if err == nil {
		err = json.Unmarshal(text, &models)
	}
	if text, ok := models[name]; ok && err == nil {
		return text, nil
	}
	return nil, cmp.Or(err, fs.ErrNotExist)
}

// PublishedReport is the error of the cost model on published trainings with their software's figures.
type PublishedReport struct {
	// seed of the random order by which every second cell of model, GPU, precision is held out
	Seed     string     `json:"seed"`
	Classes  []Accuracy `json:"classes"` // by software and kind, the last one for all of them
	Coverage float64    `json:"coverage"`
	Judged   int        `json:"judged"` // held-out rows with 90 % intervals from the other rows of their kind
	Scaling  []Scaling  `json:"scaling"`
	Rows     []Measured `json:"rows"`
}

// Scaling is the throughput per GPU of a training on more GPUs relative to few.
type Scaling struct {
	Name     string  `json:"training"`
	From     int     `json:"from_gpus"`
	To       int     `json:"to_gpus"`
	Measured float64 `json:"measured"`
	Estimate float64 `json:"estimated"`
}

// ReportPublished compares the cost model with all published trainings.
func ReportPublished() (*PublishedReport, error) {
	all, err := Published(Assumed{})
	if err != nil {
		return nil, err
	}
	r := &PublishedReport{Seed: published.Seed, Rows: all, Scaling: scaling(all)}
	r.Classes = accuracies(all, func(m *Measured) string {
		if m.Why != "" {
			return "not estimated"
		}
		return m.input.Training.Software.Name + " " + m.Kind()
	})
	r.Coverage, r.Judged = HeldCoverage(all)
	return r, nil
}

// scaling compares trainings that differ in the number of replicas alone with the one on the fewest GPUs.
func scaling(all []Measured) (list []Scaling) {
	type cut struct {
		software, cell string
		layout         partition.Layout
	}
	of := map[cut][]*Measured{}
	var order []cut
	for i := range all {
		m := &all[i]
		if m.Why != "" {
			continue
		}
		c := cut{m.software, m.Cell(), m.scored}
		c.layout.DP, c.layout.Microbatches = 0, 0
		if of[c] == nil {
			order = append(order, c)
		}
		of[c] = append(of[c], m)
	}
	perGPU := func(m *Measured, seconds float64) float64 { return float64(m.global) / float64(m.gpus) / seconds }
	for _, c := range order {
		rows := of[c]
		slices.SortStableFunc(rows, func(a, b *Measured) int { return cmp.Compare(a.gpus, b.gpus) })
		for _, m := range rows[1:] {
			if few := rows[0]; m.gpus > few.gpus {
				list = append(list, Scaling{c.software + " " + c.cell, few.gpus, m.gpus,
					perGPU(m, m.Seconds) / perGPU(few, few.Seconds), perGPU(m, m.Estimate) / perGPU(few, few.Estimate)})
			}
		}
	}
	return list
}
