package workload

import (
	"cmp"
	"fmt"
	"slices"

	"railyard/unit"
)

// Job is one workload: its operations, their GPUs, and its start.
type Job struct {
	Name     string
	DAG      *DAG
	Place    []int // by rank: its GPU; nil: rank i is GPU i
	Start    unit.Time
	Service  int       // service of the plan that its transfers use
	Storage  int       // likewise for transfers from and to storage servers
	Training *Training // training of which the graph is a step; nil for other work
	Open     bool      // whether its messages begin at fixed times, independent of earlier messages
	Apart    bool      // each of its messages has its own queue pairs
}

// GPU returns where a rank is.
func (j *Job) GPU(rank int32) int {
	if j.Place == nil {
		return int(rank)
	}
	return j.Place[rank]
}

// Mix is parallel jobs as one graph over GPUs.
type Mix struct {
	DAG  *DAG   // ranks are GPUs
	Jobs []Part // jobs by start, then by name, independent of their order in the scenario
}

// Part is a job within a mix: which operations and collectives are its, from the first to
// before the second.
type Part struct {
	Job
	Ops, Colls [2]int32
	GPUs       int // number of GPUs of its operations
}

// Of returns the job that an operation belongs to.
func (m *Mix) Of(op int32) int { return m.find(op, func(p *Part) int32 { return p.Ops[1] }) }

// OfCollective returns the job that a collective belongs to.
func (m *Mix) OfCollective(coll int32) int {
	return m.find(coll, func(p *Part) int32 { return p.Colls[1] })
}

func (m *Mix) find(i int32, end func(*Part) int32) int {
	if len(m.Jobs) == 1 {
		return 0
	}
	at, _ := slices.BinarySearchFunc(m.Jobs, i, func(p Part, i int32) int {
		if end(&p) <= i {
			return -1
		}
		return 1
	})
	return at
}

// Async reports whether a job writes asynchronous checkpoints.
func (m *Mix) Async() bool {
	return slices.ContainsFunc(m.Jobs, func(p Part) bool { return p.async() })
}

func (p *Part) async() bool {
	t := p.Training
	return t != nil && t.Checkpoint != nil && t.Checkpoint.Mode == Async
}

// Background reports whether an operation writes an asynchronous checkpoint, for which only a later checkpoint waits.
func (m *Mix) Background(op int32) bool {
	o := &m.DAG.Ops[op]
	if o.Class != Saving || o.Compute() {
		return false
	}
	return m.Jobs[m.Of(op)].async()
}

// Service returns the plan's service that an operation's transfer uses.
func (m *Mix) Service(op int32) int {
	j := &m.Jobs[m.Of(op)]
	if m.DAG.Ops[op].Class.Stored() {
		return j.Storage
	}
	return j.Service
}

// NewMix places jobs on the given number of GPUs. Each has GPUs of its own.
func NewMix(gpus int, jobs ...Job) (*Mix, error) { return NewMixOf(gpus, 0, jobs...) }

// NewMixOf is NewMix with ends after the GPUs that jobs share: those of storage servers.
func NewMixOf(gpus, common int, jobs ...Job) (*Mix, error) {
	m := &Mix{}
	for _, j := range jobs {
		m.Jobs = append(m.Jobs, Part{Job: j})
	}
	slices.SortStableFunc(m.Jobs, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Name, b.Name))
	})
	if err := m.place(gpus, common); err != nil {
		return nil, err
	}
	if len(m.Jobs) == 1 && m.Jobs[0].Place == nil {
		d := m.Jobs[0].DAG
		m.DAG, m.Jobs[0].Ops[1], m.Jobs[0].Colls[1] = d, int32(len(d.Ops)), int32(len(d.Colls))
		return m, nil
	}
	ops := 0
	for i := range m.Jobs {
		ops += len(m.Jobs[i].DAG.Ops)
	}
	if ops > MaxOps {
		return nil, fmt.Errorf("%d jobs have %d operations, more than %d", len(m.Jobs), ops, MaxOps)
	}
	m.DAG = &DAG{Ranks: gpus + common, First: []int32{0}}
	for i := range m.Jobs {
		m.DAG.append(&m.Jobs[i])
	}
	return m, nil
}

// place checks where jobs are.
func (m *Mix) place(gpus, common int) error {
	owner := make([]int, gpus) // job+1
	names := map[string]bool{}
	if len(m.Jobs) == 0 {
		return fmt.Errorf("the scenario has no job")
	}
	for i := range m.Jobs {
		p, places := &m.Jobs[i], gpus
		if p.Place != nil {
			places = len(p.Place)
		}
		switch {
		case names[p.Name]:
			return fmt.Errorf("two jobs are called %q", p.Name)
		case p.Start < 0:
			return fmt.Errorf("job %q starts at %v, before the run does", p.Name, p.Start)
		case p.DAG.Ranks > places:
			return fmt.Errorf("job %q has %s and places for %d", p.Name, unit.Plural(p.DAG.Ranks, "rank"), places)
		}
		names[p.Name] = true
		if err := p.own(owner, common, i+1, m.Jobs); err != nil {
			return err
		}
	}
	return nil
}

// own adds a job to the GPUs of its operations; the common ends after the GPUs are shared.
func (p *Part) own(owner []int, common, me int, jobs []Part) error {
	rankOn := map[int]int32{}
	for i := range p.DAG.Ops {
		o := &p.DAG.Ops[i]
		for _, rank := range []int32{o.Rank, o.Peer} {
			if rank < 0 {
				continue
			}
			gpu := p.GPU(rank)
			if gpu >= len(owner) && gpu < len(owner)+common {
				continue
			}
			if gpu < 0 || gpu >= len(owner) {
				return fmt.Errorf("rank %d of job %q is on GPU %d; there are %d", rank, p.Name, gpu, len(owner))
			}
			switch owner[gpu] {
			case me:
				if p.Place != nil && rankOn[gpu] != rank {
					return fmt.Errorf("ranks %d and %d of job %q are both on GPU %d", rankOn[gpu], rank, p.Name, gpu)
				}
			case 0:
				owner[gpu], p.GPUs = me, p.GPUs+1
				if p.Place != nil {
					rankOn[gpu] = rank
				}
			default:
				return fmt.Errorf("jobs %q and %q are both on GPU %d", jobs[owner[gpu]-1].Name, p.Name, gpu)
			}
		}
	}
	return nil
}

// append adds a job's operations, its ranks as GPUs.
func (d *DAG) append(p *Part) {
	ops, colls, succ := int32(len(d.Ops)), int32(len(d.Colls)), int32(len(d.Succ))
	for i := range p.DAG.Ops {
		o := p.DAG.Ops[i]
		o.Rank = int32(p.GPU(o.Rank))
		if o.Peer >= 0 {
			o.Peer = int32(p.GPU(o.Peer))
		}
		if o.Coll >= 0 {
			o.Coll += colls
		}
		d.Ops = append(d.Ops, o)
		d.First = append(d.First, succ+p.DAG.First[i+1])
	}
	for _, s := range p.DAG.Succ {
		d.Succ = append(d.Succ, ops+s)
	}
	for _, c := range p.DAG.Colls {
		ranks := make([]int, len(c.Ranks))
		for i, r := range c.Ranks {
			ranks[i] = p.GPU(int32(r))
		}
		c.Ranks = ranks
		d.Colls = append(d.Colls, c)
	}
	p.Ops, p.Colls = [2]int32{ops, int32(len(d.Ops))}, [2]int32{colls, int32(len(d.Colls))}
}
