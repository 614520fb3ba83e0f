package scenario

import (
	"fmt"
	"strings"

	"railyard/cc"
	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/roce"
	"railyard/unit"
)

// starving warns of runs that may end in a livelock: headers of trimmed packets precede data, each is answered, and
// its packet is retransmitted. If the offered load is so high that headers alone fill a link, no more data get
// through. Senders on credit slow down in time. Windows end at one packet, which may still be too much for many
// senders on a short path.
func (p *resolver) starving() error {
	s := p.Default()
	if s.CC.Credit != nil {
		return nil
	}
	packet := float64(p.RC.Wire() + roce.PreambleIFG)
	// multiple of the rate on headers from which they fill a cable; 0: never
	full := func(spec *queue.Spec) float64 {
		if spec.Queues[spec.DSCP[s.DSCP]].Trim {
			return packet / float64(spec.Trim.Size+roce.PreambleIFG)
		}
		return 0
	}
	name, times, from := p.fullestReceiver(full)
	if name == "" {
		name, times, from = p.fullestLeaf(full)
	}
	if name == "" {
		return nil
	}
	var credited []string
	for _, a := range cc.Names() {
		if cc.Lookup(a).Credit != nil {
			credited = append(credited, a)
		}
	}
	p.note("%s can get %.1f times what it takes, and from %.1f times on the headers of trimmed packets alone fill it: no data get through then, and unless senders hold back in time the run ends there; accepted: a smaller switch.trim.size, more room for the queues, credit (cc.algorithm %s)", name,
		times, from, strings.Join(credited, ", "))
	return nil
}

// fullestReceiver returns the NIC with the largest offered load relative to its rate, if all senders sent to all
// their receivers at the same time, limited to their data. Headers can fill its link.
func (p *resolver) fullestReceiver(full func(*queue.Spec) float64) (name string, times, from float64) {
	g := p.Graph
	sent, gets := make([]float64, len(g.NICs)), make([]float64, len(g.NICs))
	each := func(f func(src, dst int, bytes float64)) {
		for j := range p.Jobs {
			job := &p.Jobs[j]
			for i := range job.DAG.Ops {
				o := &job.DAG.Ops[i]
				if !o.Compute() && !g.Together(job.GPU(o.Rank), job.GPU(o.Peer)) {
					from, to := g.Pair(job.GPU(o.Rank), job.GPU(o.Peer), 0)
					f(from, to, float64(o.Bytes))
				}
			}
		}
	}
	each(func(src, _ int, bytes float64) { sent[src] += bytes })
	each(func(src, dst int, bytes float64) {
		if sent[src] > 0 {
			gets[dst] += float64(p.lineOf(src)) * (bytes / sent[src])
		}
	})
	for nic := range gets {
		l := &g.Links[g.NICs[nic].Links[0]]
		leaf := l.A + l.B - g.Hosts[g.NICs[nic].Host]
		x := gets[nic] / float64(p.lineOf(nic))
		if f := full(p.specs[leaf]); f > 0 && x >= f && x > times {
			name, times, from = g.NICName(nic)+"'s cable", x, f
		}
	}
	return name, times, from
}

// lineOf returns the total rate of a NIC's ports.
func (p *resolver) lineOf(nic int) (sum unit.Rate) {
	for _, l := range p.Graph.NICs[nic].Links {
		sum += p.Graph.Links[l].Rate
	}
	return sum
}

// fullestLeaf returns the switch with the lowest rate towards other switches relative to its servers' rate.
func (p *resolver) fullestLeaf(full func(*queue.Spec) float64) (name string, times, from float64) {
	g := p.Graph
	down, up := make([]float64, len(g.Nodes)), make([]float64, len(g.Nodes))
	for i := range g.Links {
		l := &g.Links[i]
		for _, end := range [][2]int{{l.A, l.B}, {l.B, l.A}} {
			if g.Nodes[end[1]].Role == topo.Host {
				down[end[0]] += float64(l.Rate)
			} else {
				up[end[0]] += float64(l.Rate)
			}
		}
	}
	for n := range g.Nodes {
		if g.Nodes[n].Role == topo.Host || up[n] == 0 {
			continue
		}
		x := down[n] / up[n]
		if f := full(p.specs[n]); f > 0 && x >= f && x > times {
			name, times, from = fmt.Sprintf("what leads from %s to other switches", g.Nodes[n].Name), x, f
		}
	}
	return name, times, from
}
