package flows

import (
	"railyard/internal/engine"
	"railyard/internal/explain"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

// schedule sets timers for the plan's failures and recoveries, in the order of the packet carrier: links change
// before their ends detect it, and ends before routes converge.
func (r *Run) schedule() {
	events := r.Plan.Events
	for i := range events {
		if !events[i].FromStart() {
			r.push(events[i].At, ringLink, int32(i), 0)
		}
	}
	for i := range events {
		if e := &events[i]; e.Noticed && !e.FromStart() {
			r.push(e.At+e.Detect, ringNotice, int32(i), 0)
		}
	}
	for i := range events {
		if e := &events[i]; e.Heard && !e.FromStart() {
			r.push(e.At+e.Converge, ringRoutes, int32(i), 0)
		}
	}
	for i, incident := range r.Plan.Incidents {
		r.push(incident.When(), ringIncident, int32(i), 0)
	}
}

// happens executes an event of the plan. Of events of one time routes are computed once.
func (r *Run) happens(what, i int32) {
	r.clock()
	if what == ringIncident {
		r.Plan.Incidents[i].Apply(r)
		return
	}
	all := []int32{i}
	for b := r.bells.Peek(); b != nil && b.At == r.now && b.Of.what == what; b = r.bells.Peek() {
		all = append(all, r.bells.Pop().Of.a)
	}
	switch what {
	case ringLink:
		for _, i := range all {
			e := &r.Plan.Events[i]
			r.SetLink(e.Link, sim.StateBehind(e))
			for _, p := range []int32{int32(2 * e.Link), int32(2*e.Link + 1)} {
				r.net.SetRate(r.now, p, r.portRate(p))
				for _, s := range r.links.in[p] {
					r.net.SetRate(r.now, s, r.setRate(r.links.ports[s]))
				}
			}
		}
		r.rerouted(false)
	case ringNotice:
		links := make([]int, 0, len(all))
		for _, i := range all {
			links = append(links, r.Plan.Events[i].Link)
		}
		r.Notice(links)
		r.rerouted(true)
	case ringRoutes:
		change := map[int]bool{}
		for _, i := range all {
			e := &r.Plan.Events[i]
			change[e.Link] = e.Up
		}
		r.ConvergeAll(change)
		r.rerouted(true)
	}
}

// Kill ends all processes of a server.
func (r *Run) Kill(d scenario.Death) {
	for gpu := d.GPUs[0]; gpu < d.GPUs[1]; gpu++ {
		r.Exec.Kill(gpu)
	}
	r.dead = append(r.dead, d)
}

// clock advances the network's clock to the run's. The network has a clock of its own, and events without effect
// where no packets exist.
func (r *Run) clock() {
	q := r.Net.Q
	q.Push(engine.OfRun, r.now, engine.Kind(sim.KindNothing), 0, 0)
	for q.Now() < r.now {
		if q.Next() == nil {
			return
		}
	}
}

// rerouted recomputes the paths of all connections, and moves messages in flight to them.
func (r *Run) rerouted(routes bool) {
	m := explain.Move{At: r.now, Of: len(r.conns)}
	for c := range r.conns {
		k := &r.conns[c]
		was := r.broken(int32(c))
		moved := r.way(int32(c))
		if moved {
			if m.Moved++; !was {
				m.Needless++
			}
		}
		switch broken := r.broken(int32(c)); {
		case k.flow >= 0 && (moved || broken):
			k.rate = r.net.Sends(k.flow)
			k.left = r.net.Stop(r.now, k.flow)
			k.flow = -1
			r.resume(int32(c))
			k.rate = 0
		case k.retrying && !broken:
			r.converged(int32(c))
		case k.flow < 0 && k.first >= 0 && r.carried() != nil:
			r.resume(int32(c))
		}
	}
	if routes && r.rules.Hashed && m.Of > 0 && m.Of <= sim.MaxMoves {
		r.moves = append(r.moves, m)
	}
}

// since returns when the last link broke.
func (r *Run) since() (at unit.Time) {
	for i := range r.Plan.Events {
		if e := &r.Plan.Events[i]; e.At <= r.now && e.Toggles && !e.Up {
			at = e.At
		}
	}
	return at
}
