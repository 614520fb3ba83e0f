package sim

import (
	"cmp"
	"slices"

	"railyard/internal/engine"
	"railyard/internal/explain"
	"railyard/internal/scenario"
	"railyard/unit"
)

// schedule sets timers for the plan's failures and recoveries. The initial state has been set up already (setup).
// At one time links change before their ends detect it, and ends before routes converge.
func (r *Run) schedule() {
	q, events := r.Net.Q, r.Plan.Events
	for i := range events {
		if e := &events[i]; !e.FromStart() {
			q.Push(engine.OfRun, e.At, kindLink, int32(i), 0)
		}
	}
	r.clock(kindNotice, func(i int) (unit.Time, bool) {
		return events[i].At + events[i].Detect, events[i].Noticed && !events[i].FromStart()
	})
	r.clock(kindConverge, func(i int) (unit.Time, bool) {
		return r.known(i), events[i].Heard && !events[i].FromStart()
	})
	for i, incident := range r.Plan.Incidents {
		q.Push(engine.OfRun, incident.When(), kindIncident, int32(i), 0)
	}
}

// known returns the time at which all routes account for an event.
func (r *Run) known(i int) unit.Time { return r.Plan.Events[i].At + r.Plan.Events[i].Converge }

// clock schedules one event for all changes of the plan at one time, so that routes are computed once when a switch
// fails with all its links. The event's operand is the position of its first change in r.due.
func (r *Run) clock(kind engine.Kind, due func(i int) (unit.Time, bool)) {
	type moment struct {
		at    unit.Time
		event int32
	}
	var all []moment
	for i := range r.Plan.Events {
		if at, is := due(i); is {
			all = append(all, moment{at, int32(i)})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	for i, m := range all {
		if i == 0 || all[i-1].at != m.at {
			r.Net.Q.Push(engine.OfRun, m.at, kind, int32(len(r.due)), 0)
			r.due = append(r.due, nil)
		}
		last := len(r.due) - 1
		r.due[last] = append(r.due[last], m.event)
	}
}

// happens executes an event of the plan.
func (r *Run) happens(kind engine.Kind, a int) {
	p := r.Plan
	switch kind {
	case kindLink:
		r.SetLink(p.Events[a].Link, StateBehind(&p.Events[a]))
	case kindNotice:
		links := make([]int, 0, len(r.due[a]))
		for _, i := range r.due[a] {
			links = append(links, p.Events[i].Link)
		}
		r.moved(func() { r.Notice(links) })
	case kindConverge:
		r.converge(r.due[a])
	case kindIncident:
		p.Incidents[a].Apply(r)
	}
}

// converge updates routes for events of one time.
func (r *Run) converge(events []int32) {
	change := map[int]bool{}
	for _, i := range events {
		e := &r.Plan.Events[i]
		change[e.Link] = e.Up
	}
	r.moved(func() { r.ConvergeAll(change) })
}

// Storm starts or stops the continuous PFC pauses of a NIC.
func (r *Run) Storm(nic int32, on bool) { r.Hosts.Storm(nic, on) }

// Kill ends all processes of a server.
func (r *Run) Kill(d scenario.Death) {
	for gpu := d.GPUs[0]; gpu < d.GPUs[1]; gpu++ {
		r.Exec.Kill(gpu)
	}
	r.dead = append(r.dead, d)
}

// MaxMoves is the maximum number of tracked connections at route changes, and of their stored paths.
const MaxMoves = 100_000

// paths are the paths of all connections whose packets take a single one, nil for others.
func (r *Run) paths() (all [][]int32) {
	if conns := r.Hosts.Conns(); r.Setup.LB.Fixed() && r.Plan.Default().Carried == nil && conns > 0 &&
		conns <= MaxMoves {
		all = make([][]int32, conns)
		for c := range all {
			all[c] = r.Hosts.Path(int32(c))
		}
	}
	return all
}

// moved executes a change of routes and counts the connections with a new path. It counts those whose path was
// broken and others, which a table of buckets would keep on their path.
func (r *Run) moved(change func()) {
	before := r.paths()
	change()
	if before == nil {
		return
	}
	m := explain.Move{At: r.Net.Q.Now(), Of: len(before), Before: map[int32][]int32{}}
	for c, now := range r.paths() {
		if slices.Equal(before[c], now) {
			continue
		}
		m.Moved++
		m.Before[int32(c)] = before[c]
		if !slices.ContainsFunc(before[c], func(p int32) bool { return r.Net.Ports[p].Down }) {
			m.Needless++
		}
	}
	r.moves = append(r.moves, m)
	// with a link that flaps for hours, a partial list would mislead
	if r.kept += len(m.Before); r.kept > MaxMoves {
		for i := range r.moves {
			r.moves[i].Before = nil
		}
	}
}
