package pasted

import (
	"cmp"
	"context"
	"fmt"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/model"
	"railyard/internal/partition"
	"railyard/internal/planner"
	"railyard/internal/scenario"
	"railyard/internal/study"
	"railyard/internal/study/failures"
	"railyard/internal/study/layouts"
	"railyard/internal/workload"
	"railyard/unit"
)

// MemoryForm is a parallel configuration from a form.
type MemoryForm struct {
	Model        string `json:"model"` // shipped
	GPU          string `json:"gpu"`
	TP           int    `json:"tp"`
	PP           int    `json:"pp"`
	DP           int    `json:"dp"`
	CP           int    `json:"cp"`
	EP           int    `json:"ep"`
	VPP          int    `json:"vpp"`
	ZeRO         int    `json:"zero"`
	Recompute    string `json:"recompute"`
	Schedule     string `json:"schedule"`
	Micro        int64  `json:"micro_batch"`
	Sequence     int64  `json:"sequence"`
	Microbatches int    `json:"microbatches"`
}

// Memory is the memory of a configuration's stages, as plan memory prints it.
type Memory struct {
	Model  string                 `json:"model"`
	Params int64                  `json:"parameters"`
	GPU    string                 `json:"gpu"`
	Room   unit.Bytes             `json:"gpu_memory_bytes"`
	Limit  unit.Bytes             `json:"limit_bytes"` // part of gpu_memory_bytes that a layout may fill
	GPUs   int                    `json:"gpus"`
	Stages []partition.RankMemory `json:"stages"`
	Worst  int                    `json:"worst_stage"`
	Most   unit.Bytes             `json:"worst_bytes"`
	Fits   bool                   `json:"fits"`
}

// shipped returns a model by its name. A form names no files.
func shipped(name string) (*model.Config, error) {
	if model.IsFile(name) {
		return nil, field.New("model", "%q is a file; accepted: a shipped model", name)
	}
	m, err := model.Builtin(name)
	return m, field.Under("model", err)
}

// within refuses sizes of a form that no configuration has.
func within(name string, n, least, most int64) error {
	if n < least || n > most {
		return field.New(name, "%d is out of range %d–%d", n, least, most)
	}
	return nil
}

// MemoryOf estimates the memory of a configuration.
func MemoryOf(q MemoryForm) (*Memory, error) {
	g, err := model.FindGPU(q.GPU)
	if err != nil {
		return nil, input.Fault(field.Under("gpu", err))
	}
	m, err := shipped(q.Model)
	if err != nil {
		return nil, input.Fault(err)
	}
	const most = 1 << 20
	for _, x := range []struct {
		name string
		n    int64
	}{{"tp", int64(q.TP)}, {"pp", int64(q.PP)}, {"dp", int64(q.DP)}, {"cp", int64(q.CP)}, {"ep", int64(q.EP)},
		{"vpp", int64(q.VPP)}, {"micro_batch", q.Micro}, {"microbatches", int64(q.Microbatches)}} {
		if err := within(x.name, x.n, 1, most); err != nil {
			return nil, input.Fault(err)
		}
	}
	if err := cmp.Or(within("zero", int64(q.ZeRO), 0, 3), within("sequence", q.Sequence, 1, 1<<24)); err != nil {
		return nil, input.Fault(err)
	}
	l := partition.Layout{TP: q.TP, PP: q.PP, DP: q.DP, CP: q.CP, EP: q.EP, VPP: q.VPP, ZeRO: q.ZeRO, Sequence: true,
		Recompute: q.Recompute, Schedule: q.Schedule, Micro: q.Micro, Seq: q.Sequence}
	l.Microbatches = q.Microbatches
	l = l.Settled(m)
	stages, err := l.Memory(m)
	if err != nil {
		return nil, input.Fault(err)
	}
	worst, err := l.Worst(m)
	if err != nil {
		return nil, input.Fault(err)
	}
	return &Memory{Model: m.Name, Params: m.Params(), GPU: g.Name, Room: g.Usable,
		Limit: partition.Fillable(g.Usable), GPUs: l.GPUs(), Stages: stages, Worst: worst.Stage, Most: worst.Total(),
		Fits: worst.Total() <= partition.Fillable(g.Usable)}, nil
}

// Scenario is a scenario that the caller has resolved, with the files that it names.
type Scenario struct {
	Text  string
	Files []Text
	Plan  *scenario.Plan
}

// SearchForm is a training for which the fastest configuration is searched.
type SearchForm struct {
	Model       string `json:"model"` // shipped
	GlobalBatch int64  `json:"global_batch"`
	Sequence    int64  `json:"sequence"`
	GPUs        int    `json:"gpus"` // 0: all of the fabric
}

// Searched is the fastest configurations by the cost model, as plan search prints them without simulating.
type Searched struct {
	Model      string             `json:"model"`
	GPUs       int                `json:"gpus"`
	Room       unit.Bytes         `json:"gpu_memory_bytes"`
	Tried      int                `json:"tried"`
	Feasible   int                `json:"feasible"`
	Candidates []Found            `json:"candidates"` // the best first
	Rejected   []planner.Rejected `json:"rejected"`
}

// Found is a configuration with its name.
type Found struct {
	planner.Candidate
	Name string `json:"name"`
}

// maxCandidates bounds the configurations that the page gets.
const maxCandidates = 50

// Search ranks configurations of a training on the fabric of a scenario.
func Search(q SearchForm, s Scenario) (*Searched, error) {
	m, err := shipped(q.Model)
	if err != nil {
		return nil, input.Fault(err)
	}
	all := s.Plan.Graph.TotalGPUs()
	if err := cmp.Or(within("global_batch", q.GlobalBatch, 1, 1<<30),
		within("sequence", q.Sequence, 1, 1<<24)); err != nil {
		return nil, input.Fault(err)
	}
	if q.GPUs < 0 || q.GPUs > all {
		return nil, input.Fault(field.New("gpus",
			"%d is out of range: the fabric has %d GPUs; accepted: 0 (all of them) or 1–%d", q.GPUs, all, all))
	}
	t := workload.NewTraining()
	t.Name, t.Model, t.GlobalBatch, t.Seq = q.Model, m, q.GlobalBatch, q.Sequence
	t.Efficiency, t.Kernels, t.Precision = 60, workload.Flat, "bf16"
	in, err := layouts.Asked(t, s.Plan, "the scenario", q.GPUs)
	if err != nil {
		return nil, input.Fault(err)
	}
	r, err := planner.Search(in)
	if err != nil {
		return nil, input.Fault(err)
	}
	out := &Searched{Model: m.Name, GPUs: in.Site.GPUs, Room: in.Site.GPU.Usable, Tried: r.Tried,
		Feasible: len(r.Candidates), Candidates: []Found{}, Rejected: append([]planner.Rejected{}, r.Rejected...)}
	for _, c := range r.Candidates[:min(maxCandidates, len(r.Candidates))] {
		out.Candidates = append(out.Candidates, Found{c, c.Layout.String()})
	}
	return out, nil
}

// FailuresForm is which failures are simulated.
type FailuresForm struct {
	Kinds []string `json:"kinds"`
}

// Failed is the effect of single failures on a step, as plan failures prints it.
type Failed struct {
	Step  float64         `json:"step_seconds"` // without a failure
	At    float64         `json:"at_seconds"`
	Rows  []failures.Row  `json:"failures"` // by harm
	Weak  []string        `json:"single_points_of_failure"`
	Notes []string        `json:"notes"`
	Sums  failures.Totals `json:"totals"`
}

// maxFailures bounds the simulations of a form; plan failures has no such bound.
const maxFailures = 100

// Failures simulates single failures of a scenario, one of each class of equivalent elements, until ctx ends.
func Failures(ctx context.Context, q FailuresForm, s Scenario, pool *study.Pool) (*Failed, error) {
	const name = "scenario.yaml"
	f, err := write(append([]Text{{name, s.Text}}, s.Files...))
	if err != nil {
		return nil, err
	}
	defer f.close()
	if len(q.Kinds) == 0 {
		return nil, input.Fault(field.New("kinds",
			"no kind of failure is selected; accepted: one or more of link, switch, nic, server"))
	}
	for _, k := range q.Kinds {
		if k == "card" {
			return nil, input.Fault(fmt.Errorf("line cards need the command: railyard plan failures --card-ports"))
		}
	}
	of := failures.Study{Kinds: q.Kinds, PerClass: 1, Runs: maxFailures, Pool: pool}
	all, err := of.Variants(study.Matrix{Scenarios: f.paths[:1]})
	if err == nil {
		err = of.Simulate(ctx, all[0])
	}
	if err != nil {
		return nil, f.plain(err)
	}
	v := all[0]
	x := &Failed{Step: v.Base, At: v.At, Rows: []failures.Row{}, Weak: v.Weak, Notes: f.names(v.Notes), Sums: v.Sums}
	for _, r := range v.Rows {
		r.Error = f.name(r.Error)
		x.Rows = append(x.Rows, r)
	}
	return x, nil
}
