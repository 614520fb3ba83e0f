package explain

import (
	"railyard/internal/queue"
	"railyard/internal/result"
	"railyard/internal/topo"
)

// topology describes the fabric.
func (r *reading) topology() *result.Topology {
	g := r.graph
	t := &result.Topology{Kind: g.Kind, GPUs: g.PerServer()}
	data := int(r.plan.Spec.DSCP[uint8(r.plan.Services[0].DSCP)])
	index := map[*queue.Spec]int{}
	for i, n := range g.Nodes {
		row := result.TopologyNode{Name: n.Name, Role: n.Role.String(), Tier: n.Tier, Config: -1}
		if spec := r.plan.SpecOf(i); n.Role != topo.Host && spec != nil {
			at, seen := index[spec]
			if !seen {
				q := spec.Queues[data]
				at = len(t.Configs)
				index[spec] = at
				t.Configs = append(t.Configs, result.QueueConfig{Queue: data, Lossless: q.Lossless,
					WREDMin: int64(q.WRED.Min), WREDMax: int64(q.WRED.Max),
					Probability: q.WRED.Probability, XOff: int64(q.XOff), XOn: int64(q.XOn),
					Buffer: int64(spec.Buffer)})
			}
			row.Config = at
		}
		if i < len(g.Stands) {
			s := &g.Stands[i]
			row.Group = s.Group
			for k, w := range s.Words {
				row.Places = append(row.Places, result.TopologyPlace{Word: w, At: s.At[k]})
			}
		}
		t.Nodes = append(t.Nodes, row)
	}
	for i, l := range g.Links {
		t.Links = append(t.Links, result.TopologyLink{A: l.A, B: l.B, APort: l.APort, BPort: l.BPort,
			FromA: r.port(i, l.A), FromB: r.port(i, l.B), Rate: int64(l.Rate), LengthMM: l.LengthMM})
	}
	for i, nic := range g.NICs {
		t.NICs = append(t.NICs, result.TopologyNIC{Name: g.NICName(i), Host: g.Hosts[nic.Host],
			Rail: nic.Rail, Links: nic.Links})
	}
	return t
}
