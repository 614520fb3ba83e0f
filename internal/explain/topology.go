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
	data := int(r.plan.Spec.DSCP[uint8(r.plan.Default().DSCP)])
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
					Probability: float64(q.WRED.Probability), XOff: int64(q.XOff), XOn: int64(q.XOn),
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
	users := make([][]int, len(g.NICs))
	for gpu := range g.TotalGPUs() {
		t.Nodes[g.Hosts[g.HostOf(gpu)]].GPUs++
		for k := range g.Ways(gpu) {
			nic := g.WayOf(gpu, k)
			users[nic] = append(users[nic], g.LocalOf(gpu)+1)
		}
	}
	for i, nic := range g.NICs {
		t.NICs = append(t.NICs, result.TopologyNIC{Name: g.NICName(i), Host: g.Hosts[nic.Host],
			Rail: nic.Rail, Links: nic.Links, GPUs: users[i]})
	}
	t.Domains, t.Changes = r.domains(), r.changes()
	return t
}

// maxChanges bounds the changes of links in the topology.
const maxChanges = 50_000

// changes lists the changes of links until now.
func (r *reading) changes() (out []result.TopologyChange) {
	for i := range r.plan.Events {
		e := &r.plan.Events[i]
		if e.At > r.seen.At || len(out) == maxChanges {
			break
		}
		out = append(out, result.TopologyChange{At: int64(e.At), Link: e.Link, Down: !e.Up, RateA: int64(e.Rate),
			RateB: int64(e.Back)})
	}
	return out
}

// domains lists the groups of GPUs connected without the network.
func (r *reading) domains() (out []result.TopologyDomain) {
	g := r.graph
	for d := range g.Domains() {
		first, last := g.GPUsIn(d)
		if last-first < 2 {
			continue
		}
		row := result.TopologyDomain{Name: g.DomainName(d), By: "NVLink", Rate: int64(r.plan.NVLink),
			GPUs: last - first}
		if d < len(r.plan.Inside) && r.plan.Inside[d] != nil {
			row.By, row.Rate = r.plan.Inside[d].Kind(), int64(r.plan.Inside[d].Slowest())
		}
		a, b := g.ServersIn(d)
		row.Nodes = append(row.Nodes, g.Hosts[a:b]...)
		out = append(out, row)
	}
	return out
}
