package scenario

import (
	"errors"
	"strings"

	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/workload"
	"railyard/unit"
)

// training makes a job of a step of a model.
func (p *resolver) training(at task, t *workload.Training) (job workload.Job, err error) {
	key := at.key + ".training"
	m, err := p.model(key+".model", t.Name)
	if err != nil {
		return job, err
	}
	if err := t.Divide(); err != nil {
		return job, field.Under(key, err)
	}
	step := *t
	step.Model, step.GPU, step.NVLink, step.NVLatency = m, p.GPU, p.NVLink, p.NVLatency
	step.PerServer = p.perServer(at.crew)
	if err := p.software(key, &step); err != nil {
		return job, err
	}
	if t.Fold {
		step.PerServer *= t.TP // a server's GPUs are tensor parallel groups
	}
	if t.Checkpoint != nil {
		c := *t.Checkpoint
		c.Copy, step.Checkpoint = p.NICs.PCIe, &c
	}
	if p.Storage != nil && (t.Data != nil || t.Checkpoint != nil) {
		step.Storage, _ = p.stored(at.crew, step.Ranks())
	}
	if err := step.Validate(); err != nil {
		return job, field.Under(key, err)
	}
	if need, have := step.Ranks(), p.ranks(at.crew); need > have {
		return job, field.New(key, "tp %d x pp %d x dp %d x cp %d needs %s, %s has %d", t.TP, t.PP,
			t.DP, t.CP, unit.Plural(need, "GPU"), at.whose(), have)
	}
	if at.crew == nil {
		p.spare(&step)
	}
	place, err := p.seat(at, &step)
	if err != nil {
		return job, err
	}
	p.equip(&step, place)
	var ends crew // storage transfers of the step
	if step.Storage != nil {
		all := place
		if all == nil {
			all = at.crew
		}
		_, ends = p.stored(all, step.Ranks())
	}
	if !t.Fold {
		step.Servers = p.servers(place)
	}
	if t.TP > p.Graph.PerDomain() && !t.Fold {
		p.note("tensor parallel groups of %d span servers of %s: their all-reduces cross the network",
			t.TP, unit.Plural(p.Graph.PerDomain(), "GPU"))
	}
	mem, err := step.Worst(m)
	if err != nil {
		return job, field.Under(key, err)
	}
	if small := step.Smallest(); mem.Total() > partition.Fillable(small.Usable) {
		p.note("stage %d needs %s GB per GPU with zero %d; %s has %s GB, of which %d %% may be filled",
			mem.Stage, unit.Digits(float64(mem.Total())/1e9), t.ZeRO, small.Name,
			unit.Digits(float64(small.Usable)/1e9), partition.MostMemory)
	}
	if step.Storage != nil && t.Checkpoint != nil {
		all := float64(m.Params()) * float64(t.Checkpoint.Bytes)
		if err := p.roomy(all, "a checkpoint"); err != nil {
			return job, err
		}
	}
	build, big := step.Build, tooBig(key, &step)
	if big != nil && p.amount == asOps {
		return job, field.Under(key, big)
	}
	if p.amount == asSums || p.amount == asChecked && big != nil {
		build = step.Sums
		p.unfit(field.Under(key, big))
	}
	if p.BuildBy != nil && big == nil && p.amount >= asChecked {
		build = func() (*workload.DAG, error) { return p.BuildBy(&step) }
	}
	dag, err := build()
	if err != nil {
		return job, field.Under(key, err)
	}
	job = workload.Job{Name: at.name, DAG: dag, Place: place, Training: &step}
	if ends != nil {
		job.Place, job.Storage = ends, p.Storage.Service
	}
	return job, nil
}

// software sets the framework of a step, and the calibration of its kernels.
func (p *resolver) software(key string, step *workload.Training) error {
	if step.By != "" {
		for _, part := range []string{"efficiency", "kernels", "tp_overlap"} {
			if p.says(key + "." + part) {
				return field.New(key+"."+part, "contradicts software: %s, which has rates, kernels and overlap of its own; accepted: one of both", step.By)
			}
		}
		var err error
		if step.Software, err = p.framework(key, step.By); err != nil {
			return err
		}
	}
	if step.Software != nil {
		grads := step.GradBytes
		if step.Software.Spends(&step.Layout); p.says(key + ".grad_bytes") {
			step.GradBytes = grads
		}
	}
	c := p.File.Calibration
	if c == nil {
		return nil
	}
	step.Efficiency *= percent(c.Compute)
	if step.Software != nil {
		scaled := step.Software.Scaled(percent(c.Compute))
		step.Software = &scaled
	}
	return nil
}

// framework finds a shipped framework, or reads one that plan fit wrote.
func (p *resolver) framework(key, name string) (*workload.Software, error) {
	if p.read == nil || !model.IsFile(name) {
		s, err := workload.FindSoftware(name)
		return s, field.Under(key, err)
	}
	b, err := p.read(name)
	if err != nil {
		return nil, field.Under(key+".software", err)
	}
	s, err := workload.ReadSoftware(b)
	return s, field.Under(key+".software", err)
}

// tooBig returns why no simulation accepts a step, with the overrides that change that.
func tooBig(key string, step *workload.Training) error {
	err := step.TooBig()
	var e *field.Error
	if !errors.As(err, &e) {
		return err
	}
	var all []string
	for _, keys := range step.Smaller() {
		all = append(all, "--set "+key+"."+strings.Join(keys, " --set "+key+"."))
	}
	if len(all) > 0 {
		e.Msg += "; accepted: " + strings.Join(all, " or ")
	}
	return err
}

// unfit notes why no simulation takes a step; a nil error is no reason.
func (p *resolver) unfit(err error) {
	if err != nil {
		p.Unfit = "run refuses this: " + err.Error()
		p.note("%s", p.Unfit)
	}
}

// spare counts the GPUs of a fabric that a step leaves idle, and notes what counts them. Jobs have as many GPUs as
// their steps.
func (p *resolver) spare(step *workload.Training) {
	spare := p.Graph.TotalGPUs() - step.Ranks()
	if spare <= 0 {
		return
	}
	if step.Fold {
		spare *= step.TP
	}
	step.Idle = spare
	p.note("the layout, tp %d x pp %d x dp %d x cp %d, trains %d of %d GPUs: MFU and tokens/s/GPU count all of them; a job with gpus takes no more than it uses", step.TP, step.PP, step.DP, step.CP, step.GPUs(),
		step.GPUs()+spare)
}

// model finds the model of a training block.
func (p *resolver) model(key, name string) (*model.Config, error) {
	if name == "" {
		return nil, field.New(key, "is missing; shipped are %v, or give the path of a config.json",
			model.Names())
	}
	m, err := model.Builtin(name)
	if err != nil && p.read != nil && model.IsFile(name) {
		var b []byte
		if b, err = p.read(name); err == nil {
			m, err = model.Parse(name, b)
		}
	}
	return m, field.Under(key, err)
}
