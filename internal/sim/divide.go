package sim

import (
	"cmp"
	"math"
	"slices"

	"railyard/internal/route"
	"railyard/internal/topo"
	"railyard/unit"
)

// divide assigns each node to one of n parts. Servers are in blocks of about equal rate. Each switch is in the part
// of most of its lower links, on a tie in the smallest part.
func (n *Network) divide(parts int) (owner []int32) {
	g := n.Graph
	owner = slices.Repeat([]int32{-1}, len(g.Nodes))
	cables, load, all := make([][]int, len(g.Nodes)), make([]unit.Rate, parts), unit.Rate(0)
	for l, link := range g.Links {
		cables[link.A], cables[link.B] = append(cables[link.A], l), append(cables[link.B], l)
	}
	rate := func(node int) (sum unit.Rate) {
		for _, l := range cables[node] {
			sum += g.Links[l].Rate
		}
		return sum
	}
	for _, h := range g.Hosts {
		all += rate(h)
	}
	sum := unit.Rate(0)
	for _, h := range g.Hosts {
		part := min(int(float64(sum)/float64(max(all, 1))*float64(parts)), parts-1)
		owner[h], sum = int32(part), sum+rate(h)
		load[part] += rate(h)
	}
	var switches []int
	for node := range g.Nodes {
		if g.Nodes[node].Role != topo.Host {
			switches = append(switches, node)
		}
	}
	slices.SortStableFunc(switches, func(a, b int) int { return cmp.Compare(g.Nodes[a].Tier, g.Nodes[b].Tier) })
	for _, node := range switches {
		near := make([]unit.Rate, parts)
		for _, l := range cables[node] {
			if of := owner[g.Links[l].A+g.Links[l].B-node]; of >= 0 {
				near[of] += g.Links[l].Rate
			}
		}
		best := 0
		for part := range parts {
			if c := cmp.Compare(near[part], near[best]); c > 0 || c == 0 && load[part] < load[best] {
				best = part
			}
		}
		owner[node] = int32(best)
		load[best] += rate(node)
	}
	return owner
}

// shares divides a run among at most the given number of cores. Fewer parts are better if longer links between them
// make synchronizations rarer. n is 1 if no division gains.
func (r *Run) shares(cores int) (owner []int32, n int, window unit.Time) {
	n = 1
	if r.Tunnel != nil { // whose packet table is shared
		return nil, n, 0
	}
	best := r.worth
	// trying each number would take long on many cores
	for parts := min(cores, len(r.Graph.Hosts)); parts >= 2; parts /= 2 {
		of := r.divide(parts)
		w := min(r.Plan.NICs.Latency, r.Net.Apart(of))
		if faster := r.faster(parts, w); faster > best {
			owner, n, window, best = of, parts, w, faster
		}
	}
	return owner, n, window
}

// faster estimates the speedup of n parts that synchronize after windows of a length. A synchronization takes the
// time of three events, and in a window all parts wait for the one with most events.
func (r *Run) faster(parts int, window unit.Time) float64 {
	bytes := unit.Bytes(0)
	for _, nic := range r.Graph.NICs {
		for _, l := range nic.Links {
			bytes += unit.InTime(r.Graph.Links[l].Rate, window)
		}
	}
	const perPacket, busy = 5, 0.5
	events := perPacket * busy * float64(bytes) / float64(r.Setup.Host.RC.MTU) / float64(parts)
	return float64(parts) / (1 + 3/events + 1/math.Sqrt(events))
}

// Undivided returns the reason why a run must be one part, or "".
func (r *Run) Undivided() string {
	switch p := r.Plan; {
	case r.Net.Tap != nil || r.follower != nil:
		return "packets are recorded"
	case r.teller != nil || r.Hosts.OnRate != nil:
		return "output.steps follows one packet after the other"
	case r.chains != nil:
		return "pauses may form a circular dependency, so all switches are checked"
	case len(p.Events)+len(p.Phases)+len(p.Incidents) > 0:
		return "links change during the run"
	case p.Scheduled != nil:
		return "the fabric is scheduled"
	case route.Is[route.Oracle](p.LB):
		return "lb " + p.LB.Name + " looks at other switches"
	case len(r.Graph.Hosts) < 2:
		return "there is one server"
	case p.NICs.Latency == 0:
		return "server.nic_latency is 0: parts would have to meet at each delivery"
	}
	if _, n, _ := r.shares(max(2, r.cores)); n < 2 {
		return "the network is small, or cables between its halves are short: parts would meet after every few events"
	}
	return ""
}

// Cores sets the number of cores of a run, each for a part of the network.
func (r *Run) Cores(n int) { r.cores, r.worth = n, worthMeeting }

// worthMeeting is the minimum speed-up of a run for which it is divided into parts.
const worthMeeting = 1.5

// Parts returns in how many parts it ran.
func (r *Run) Parts() int { return max(1, r.parts) }
