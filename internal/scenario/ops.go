package scenario

import (
	"railyard/internal/field"
	"railyard/internal/workload"
)

// ops makes a job of operations on the GPUs that they name.
func (p *resolver) ops(at task, ops []Op) (job workload.Job, err error) {
	steps := make([]workload.Step, len(ops))
	for i, o := range ops {
		key := field.At(at.key+".ops", i)
		if o.ID == "" {
			return job, field.New(key+".id", "is missing")
		}
		gpu, err := p.Graph.FindGPU(o.GPU)
		if err != nil {
			return job, field.Under(key+".gpu", err)
		}
		steps[i] = workload.Step{ID: o.ID, Rank: gpu, Compute: o.Compute, Send: o.Send, To: -1, After: o.After}
		if (o.Send > 0) == (o.Compute > 0) || (o.Send > 0) != (o.To != "") {
			return job, field.New(key, "needs either compute, or send and to")
		}
		if o.To != "" {
			if steps[i].To, err = p.Graph.FindGPU(o.To); err != nil {
				return job, field.Under(key+".to", err)
			}
			if steps[i].To == gpu {
				return job, field.New(key+".to", "a GPU does not send to itself")
			}
		}
	}
	dag, err := workload.Explicit(p.Graph.TotalGPUs(), steps)
	if err != nil {
		return job, field.Under(at.key+".ops", err)
	}
	return workload.Job{Name: at.name, DAG: dag}, nil
}
