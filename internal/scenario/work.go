package scenario

import (
	"fmt"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/model"
	"railyard/internal/workload"
	"railyard/unit"
)

// MaxPackets bounds what packet fidelity will start: about a day at ten
// million packets a second.
const MaxPackets = 1_000_000_000_000

// work builds the workload.
func (p *resolver) work() error {
	p.GPU = model.GPUs[p.File.Server.GPU]
	p.NVLink = p.GPU.NVLink
	if p.File.Server.NVLink > 0 {
		p.NVLink = p.File.Server.NVLink
	}
	p.File.Server.NVLink = p.NVLink
	p.NVLatency, p.PXN = p.File.Server.NVLatency, p.File.Server.PXN
	w := &p.File.Workload
	n := 0
	for _, set := range []bool{w.Training != nil, w.Traffic != nil, len(w.Ops) > 0} {
		if set {
			n++
		}
	}
	if n != 1 {
		return field.New("workload", "holds %d workloads, expected exactly one of training, traffic, ops", n)
	}
	var err error
	switch {
	case w.Training != nil:
		err = p.training(w.Training)
	case w.Traffic != nil:
		err = p.traffic(w.Traffic)
	default:
		err = p.ops(w.Ops)
	}
	if err != nil {
		return err
	}
	return p.bound()
}

// endOfTime is half of what a clock of picoseconds can count, 53 days.
const endOfTime = float64(unit.Never / 2)

// bound refuses work that could not end in reasonable time, or not before the clock
// overflows: by the longest chain of computing, and all transfers one after the other
// on the slowest link.
func (p *resolver) bound() error {
	packets, bytes := int64(0), 0.0
	computing := 0.0
	for j := range p.Jobs {
		job := &p.Jobs[j]
		for i := range job.DAG.Ops {
			o := &job.DAG.Ops[i]
			if !o.Compute() && p.Graph.HostOf(job.GPU(o.Rank)) != p.Graph.HostOf(job.GPU(o.Peer)) {
				packets += int64(o.Bytes)/int64(p.RC.MTU) + 1
				if packets < 0 || packets > MaxPackets {
					return field.New("workload", "needs more than %d packets; packet fidelity stops there",
						int64(MaxPackets))
				}
			}
			bytes += float64(o.Bytes)
		}
		computing = max(computing, float64(job.Start)+job.DAG.Computing(endOfTime))
	}
	slowest := p.NVLink
	for _, l := range p.Graph.Links {
		slowest = min(slowest, l.Rate)
	}
	for i := range p.Events {
		slowest = min(slowest, p.Events[i].Rate)
	}
	if end := computing + bytes*8/float64(slowest)*float64(unit.Second); end > endOfTime {
		return field.New("workload",
			"could take %.3g days by its computing and transfers; simulated time ends after 53",
			end/float64(unit.Second)/86400)
	}
	return nil
}

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
	step.PerServer = p.Graph.PerServer()
	if t.Fold {
		step.PerServer *= t.TP // a server's GPUs are tensor parallel groups
	}
	if err := step.Validate(); err != nil {
		return field.Under(key, err)
	}
	if need, have := step.Ranks(), p.Graph.TotalGPUs(); need > have {
		return field.New(key, "tp %d x pp %d x dp %d x cp %d needs %d GPUs, the fabric has %d", t.TP, t.PP,
			t.DP, t.CP, need, have)
	}
	if t.TP > p.Graph.PerServer() && !t.Fold {
		p.Notes = append(p.Notes,
			fmt.Sprintf("tensor parallel groups of %d span servers of %d GPUs: their all-reduces cross the network", t.TP, p.Graph.PerServer()))
	}
	mem, err := step.Worst(m)
	if err != nil {
		return field.Under(key, err)
	}
	if mem.Total() > p.GPU.Memory {
		p.Notes = append(p.Notes, fmt.Sprintf("stage %d needs %.0f GB per GPU with zero %d; a %s has %.0f GB",
			mem.Stage, float64(mem.Total())/1e9, t.ZeRO, p.GPU.Name, float64(p.GPU.Memory)/1e9))
	}
	dag, err := step.Build()
	if err != nil {
		return field.Under(key, err)
	}
	p.Jobs = []workload.Job{{Name: p.Name, DAG: dag, Training: &step}}
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

func (p *resolver) traffic(t *Traffic) error {
	ranks := p.Graph.TotalGPUs()
	key := "workload.traffic"
	n := 0
	var build func() (*workload.DAG, error)
	for _, c := range []struct {
		s         *Pattern
		kind      coll.Kind
		algorithm string
	}{{t.AllToAll, coll.ToAll, ""}, {t.RingAllReduce, coll.AllReduce, ""}, {t.AllGather, coll.AllGather, ""},
		{t.TreeAllReduce, coll.AllReduce, coll.ByTree}, {t.Halving, coll.AllReduce, coll.ByHalving},
		{t.ReduceScatter, coll.ReduceScatter, ""}, {t.Broadcast, coll.Bcast, ""}} {
		if c.s == nil {
			continue
		}
		n++
		run := workload.CollectiveRun{Kind: c.kind, Algorithm: c.algorithm, Bytes: c.s.Bytes}
		build = func() (*workload.DAG, error) { return p.collective(c.s.Groups, run) }
	}
	if s := t.Collective; s != nil {
		n++
		run, err := p.choose(s)
		if err != nil {
			return err
		}
		build = func() (*workload.DAG, error) { return p.collective(s.Groups, run) }
	}
	if s := t.Permutation; s != nil {
		n++
		build = func() (*workload.DAG, error) { return workload.Permutation(ranks, s.Bytes, p.Seed) }
	}
	if s := t.Incast; s != nil {
		n++
		target := 0
		if s.Target != "" {
			var err error
			if target, err = p.Graph.FindGPU(s.Target); err != nil {
				return field.New(key+".incast.target", "%v", err)
			}
		}
		build = func() (*workload.DAG, error) { return workload.Incast(ranks, s.FanIn, target, s.Bytes) }
	}
	if len(t.Flows) > 0 {
		n++
		flows, err := p.flows(t.Flows)
		if err != nil {
			return err
		}
		build = func() (*workload.DAG, error) { return workload.Flows(ranks, flows) }
	}
	if n != 1 {
		return field.New(key, "holds %d patterns, expected exactly one", n)
	}
	dag, err := build()
	if err != nil {
		if t.Collective != nil {
			key += ".collective"
		}
		return field.Under(key, err)
	}
	p.Jobs = []workload.Job{{Name: p.Name, DAG: dag}}
	return nil
}

func (p *resolver) flows(specs []FlowSpec) ([]workload.Flow, error) {
	flows := make([]workload.Flow, len(specs))
	for i, s := range specs {
		key := fmt.Sprintf("workload.traffic.flows[%d]", i)
		src, err := p.Graph.FindGPU(s.From)
		if err != nil {
			return nil, field.New(key+".from", "%v", err)
		}
		dst, err := p.Graph.FindGPU(s.To)
		if err != nil {
			return nil, field.New(key+".to", "%v", err)
		}
		if src == dst {
			return nil, field.New(key+".to", "a GPU does not send to itself")
		}
		flows[i] = workload.Flow{Src: src, Dst: dst, Bytes: s.Bytes, Start: s.Start}
	}
	return flows, nil
}

func (p *resolver) ops(ops []Op) error {
	steps := make([]workload.Step, len(ops))
	for i, o := range ops {
		key := fmt.Sprintf("workload.ops[%d]", i)
		if o.ID == "" {
			return field.New(key+".id", "is missing")
		}
		gpu, err := p.Graph.FindGPU(o.GPU)
		if err != nil {
			return field.New(key+".gpu", "%v", err)
		}
		steps[i] = workload.Step{ID: o.ID, Rank: gpu, Compute: o.Compute, Send: o.Send, To: -1,
			After: o.After}
		if (o.Send > 0) == (o.Compute > 0) || (o.Send > 0) != (o.To != "") {
			return field.New(key, "needs either compute, or send and to")
		}
		if o.To != "" {
			if steps[i].To, err = p.Graph.FindGPU(o.To); err != nil {
				return field.New(key+".to", "%v", err)
			}
			if steps[i].To == gpu {
				return field.New(key+".to", "a GPU does not send to itself")
			}
		}
	}
	dag, err := workload.Explicit(p.Graph.TotalGPUs(), steps)
	if err != nil {
		return field.New("workload.ops", "%v", err)
	}
	p.Jobs = []workload.Job{{Name: p.Name, DAG: dag}}
	return nil
}
