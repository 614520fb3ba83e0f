package scenario

import (
	"fmt"

	"railyard/internal/field"
	"railyard/internal/workload"
)

func (p *resolver) ops(ops []Op) error {
	steps := make([]workload.Step, len(ops))
	for i, o := range ops {
		key := fmt.Sprintf("workload.ops[%d]", i)
		if o.ID == "" {
			return field.New(key+".id", "is missing")
		}
		gpu, err := p.Graph.FindGPU(o.GPU)
		if err != nil {
			return field.Under(key+".gpu", err)
		}
		steps[i] = workload.Step{ID: o.ID, Rank: gpu, Compute: o.Compute, Send: o.Send, To: -1,
			After: o.After}
		if (o.Send > 0) == (o.Compute > 0) || (o.Send > 0) != (o.To != "") {
			return field.New(key, "needs either compute, or send and to")
		}
		if o.To != "" {
			if steps[i].To, err = p.Graph.FindGPU(o.To); err != nil {
				return field.Under(key+".to", err)
			}
			if steps[i].To == gpu {
				return field.New(key+".to", "a GPU does not send to itself")
			}
		}
	}
	dag, err := workload.Explicit(p.Graph.TotalGPUs(), steps)
	if err != nil {
		return field.Under("workload.ops", err)
	}
	p.Jobs = []workload.Job{{Name: p.Name, DAG: dag}}
	return nil
}
