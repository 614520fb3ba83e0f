package scenario

import (
	"strings"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/workload"
	"railyard/unit"
)

func (p *resolver) training(t *workload.Training) error {
	key := "workload.training"
	m, err := p.model(key+".model", t.Name)
	if err != nil {
		return err
	}
	if err := t.Divide(); err != nil {
		return field.Under(key, err)
	}
	step := *t
	step.Model, step.GPU, step.NVLink, step.NVLatency = m, p.GPU, p.NVLink, p.NVLatency
	step.PerServer = p.Graph.PerDomain()
	if t.Fold {
		step.PerServer *= t.TP // a server's GPUs are tensor parallel groups
	}
	if err := step.Validate(); err != nil {
		return field.Under(key, err)
	}
	if need, have := step.Ranks(), p.Graph.TotalGPUs(); need > have {
		return field.New(key, "tp %d x pp %d x dp %d x cp %d needs %s, the fabric has %d", t.TP, t.PP,
			t.DP, t.CP, unit.Plural(need, "GPU"), have)
	}
	place, err := p.seat(&step)
	if err != nil {
		return err
	}
	p.equip(&step, place)
	if !t.Fold {
		step.Servers = p.servers(place)
	}
	if t.TP > p.Graph.PerDomain() && !t.Fold {
		p.note("tensor parallel groups of %d span servers of %s: their all-reduces cross the network",
			t.TP, unit.Plural(p.Graph.PerDomain(), "GPU"))
	}
	mem, err := step.Worst(m)
	if err != nil {
		return field.Under(key, err)
	}
	if small := step.Smallest(); mem.Total() > small.Memory {
		p.note("stage %d needs %.0f GB per GPU with zero %d; a %s has %.0f GB",
			mem.Stage, float64(mem.Total())/1e9, t.ZeRO, small.Name, float64(small.Memory)/1e9)
	}
	dag, err := step.Build()
	if err != nil {
		return field.Under(key, err)
	}
	p.Jobs = []workload.Job{{Name: p.Name, DAG: dag, Place: place, Training: &step}}
	return nil
}

// model finds what a training block names.
func (p *resolver) model(key, name string) (*model.Config, error) {
	if name == "" {
		return nil, field.New(key, "is missing; shipped are %v, or give the path of a config.json",
			model.Names())
	}
	m, err := model.Builtin(name)
	if err != nil && p.read != nil && strings.HasSuffix(name, ".json") {
		var b []byte
		if b, err = p.read(name); err == nil {
			m, err = model.Parse(name, b)
		}
	}
	return m, field.Under(key, err)
}
