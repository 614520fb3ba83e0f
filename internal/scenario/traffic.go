package scenario

import (
	"fmt"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/workload"
)

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
		p.meshed(c.s.Groups, &run)
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
		build = func() (*workload.DAG, error) {
			return workload.Permutation(ranks, p.groups(s.Groups), s.Bytes, p.Seed)
		}
	}
	if s := t.Incast; s != nil {
		n++
		target := 0
		if s.Target != "" {
			var err error
			if target, err = p.Graph.FindGPU(s.Target); err != nil {
				return field.Under(key+".incast.target", err)
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
	if t.Matrix != "" {
		n++
		build = func() (*workload.DAG, error) { return p.matrix(t.Matrix) }
	}
	if n != 1 {
		return field.New(key, "holds %d patterns, expected exactly one", n)
	}
	dag, err := build()
	if err != nil {
		if t.Collective != nil {
			key += ".collective"
		}
		if t.Matrix != "" {
			key += ".matrix"
		}
		return field.Under(key, err)
	}
	p.Jobs = []workload.Job{{Name: p.Name, DAG: dag}}
	return nil
}

// matrix reads the connections of a file.
func (p *resolver) matrix(file string) (*workload.DAG, error) {
	if p.read == nil {
		return nil, field.New("", "files cannot be read here")
	}
	text, err := p.read(file)
	if err != nil {
		return nil, err
	}
	m, err := workload.ParseMatrix(file, text)
	if err != nil {
		return nil, err
	}
	return m.DAG(p.Graph.TotalGPUs())
}

func (p *resolver) flows(specs []FlowSpec) ([]workload.Flow, error) {
	flows := make([]workload.Flow, len(specs))
	for i, s := range specs {
		key := fmt.Sprintf("workload.traffic.flows[%d]", i)
		src, err := p.Graph.FindGPU(s.From)
		if err != nil {
			return nil, field.Under(key+".from", err)
		}
		dst, err := p.Graph.FindGPU(s.To)
		if err != nil {
			return nil, field.Under(key+".to", err)
		}
		if src == dst {
			return nil, field.New(key+".to", "a GPU does not send to itself")
		}
		flows[i] = workload.Flow{Src: src, Dst: dst, Bytes: s.Bytes, Start: s.Start}
	}
	return flows, nil
}
