package explain

import (
	"maps"
	"slices"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/facts"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/internal/workload"
)

// reading is the state of one explanation: the plan, the execution, and the observation of the network.
type reading struct {
	plan  *scenario.Plan
	exec  *exec.Execution
	dag   *workload.DAG
	seen  *Observation
	graph *topo.Graph
	lives lives

	paused pauseIndex // nil until first used

	waits []Wait  // by connection
	first []int32 // by connection: the first of its waits; one more at the end
}

func newReading(p *scenario.Plan, x *exec.Execution, o *Observation) *reading {
	r := &reading{plan: p, exec: x, dag: x.DAG, seen: o, graph: p.Graph, lives: newLives(p, o.At),
		first: make([]int32, len(o.Conns)+1)}
	if r.known().Unmet { // everything is as without the failures
		seen := *o
		seen.Routes = p.Graph.Reroute(nil, o.Routes, scenario.Besides(p.LB, p.Scheduled))
		r.seen = &seen
		maps.DeleteFunc(r.lives, func(_ int, events []scenario.LinkEvent) bool { return events[0].Toggles })
	}
	r.eachWait(func(w Wait) { r.first[w.Conn+1]++ })
	for c := range o.Conns {
		r.first[c+1] += r.first[c]
	}
	at := slices.Clone(r.first)
	r.waits = make([]Wait, r.first[len(o.Conns)])
	r.eachWait(func(w Wait) {
		r.waits[at[w.Conn]] = w
		at[w.Conn]++
	})
	return r
}

// known returns what remedies and runs without a cause need to know of the run.
func (r *reading) known() *cause.Facts {
	counted := r.seen.Counted
	counted.Moves, counted.StepTime = r.moves(), int64(r.seen.At)
	f := facts.Of(r.plan)
	facts.Count(f, &counted)
	return f
}

// moves lists the changes of routes, with the connections whose paths they changed.
func (r *reading) moves() (all []result.Move) {
	for _, m := range r.seen.Moves {
		all = append(all, result.Move{At: int64(m.At), Of: m.Of, Moved: m.Moved, Needless: m.Needless})
	}
	return all
}

// port returns the port of a link at one of its nodes.
func (r *reading) port(link, node int) int32 {
	if r.graph.Links[link].A == node {
		return int32(2 * link)
	}
	return int32(2*link + 1)
}

// portName names the transmit direction of a port: "rail-1:Eth3 → spine-2".
func (r *reading) portName(port int32) string {
	p := &r.seen.Ports[port]
	return r.graph.Direction(int(p.Link), int(p.Node))
}

// peer returns the node at the other end of a port's link.
func (r *reading) peer(port int32) *topo.Node {
	return &r.graph.Nodes[r.seen.Ports[r.seen.Ports[port].Peer].Node]
}

// peers returns the NICs of a connection.
func (o *Observation) peers(conn int32) (from, to int32) { return o.Conns[conn].From, o.Conns[conn].To }

// eachWait calls f for what packets waited anywhere.
func (r *reading) eachWait(f func(Wait)) {
	if r.seen.Packets == nil {
		return
	}
	for _, w := range r.seen.Packets.Waits {
		f(w)
	}
}

// waitsOf calls f for the waits of one connection's packets.
func (r *reading) waitsOf(conn int32, f func(Wait)) {
	for _, w := range r.waits[r.first[conn]:r.first[conn+1]] {
		f(w)
	}
}

// trouble returns the delays of a message.
func (r *reading) trouble(m int32) Trouble {
	if r.seen.Packets == nil {
		if r.seen.Paced == nil {
			return Trouble{Port: -1}
		}
		s := r.seen.Silences[m]
		return Trouble{Port: -1, Held: r.seen.Paced[m], Late: s.Time, Timeouts: s.Timeouts}
	}
	return r.seen.Packets.Troubles[m]
}
