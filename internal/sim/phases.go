package sim

import (
	"fmt"
	"slices"

	"railyard/internal/engine"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"
)

// mirrors moves circuits by phases of the jobs. A transfer whose map is in force begins immediately. Others wait
// until nothing is in flight, not even an acknowledgement. Then mirrors move to the map of the transfer that has
// waited longest, and all transfers of that map begin.
type mirrors struct {
	r       *Run
	now     int // -1: the first map is none of the phases'
	to      int // -1: nothing moves
	dark    map[int]bool
	on      []scenario.LinkEvent // changes at the end of the mirrors' move
	changed map[int]bool
	waiting []waiting
	looking bool
	whole   *topo.Routes // over all circuits
}

// waiting is a transfer that has not begun.
type waiting struct {
	op       int32
	from, to int
	bytes    unit.Bytes
	phase    int // -1: any
}

// settle is the interval at which the run checks whether acknowledgements have arrived.
const settle = unit.Microsecond

// newMirrors is nil where circuits do not move by phases.
func newMirrors(r *Run) *mirrors {
	if len(r.Plan.Phases) == 0 {
		return nil
	}
	m := &mirrors{r: r, now: -1, to: -1, dark: map[int]bool{},
		whole: r.Graph.Reroute(nil, nil, scenario.Besides(r.Setup.LB, r.Setup.Scheduled))}
	for _, l := range r.Plan.Dark {
		m.dark[l] = true
	}
	for i := range r.Plan.Phases {
		ph := &r.Plan.Phases[i]
		dark := func(l int) bool { return m.dark[l] }
		if m.now < 0 && !slices.ContainsFunc(ph.Lit, dark) &&
			!slices.ContainsFunc(ph.Dark, func(l int) bool { return !m.dark[l] }) {
			m.now = i
		}
	}
	return m
}

// holds records a transfer that cannot begin now.
func (m *mirrors) holds(op int32, from, to int, bytes unit.Bytes) bool {
	class := m.r.Exec.DAG.Ops[op].Class
	phase := slices.IndexFunc(m.r.Plan.Phases, func(ph scenario.Phase) bool { return slices.Contains(ph.Of, class) })
	if m.to < 0 && (phase < 0 || phase == m.now) {
		return false
	}
	m.waiting = append(m.waiting, waiting{op, from, to, bytes, phase})
	m.look()
	return true
}

// look moves mirrors when a transfer waits and nothing is in flight.
func (m *mirrors) look() {
	if m.to >= 0 || m.looking || len(m.waiting) == 0 || m.r.carrier.flying > 0 {
		return
	}
	if m.r.Net.InUse() > 0 {
		m.looking = true
		m.r.Net.Q.Push(engine.OfRun, m.r.Net.Q.Now()+settle, kindMirrors, 0, 0)
		return
	}
	m.move()
}

// move takes circuits down.
func (m *mirrors) move() {
	p := m.r.Plan
	m.to = m.waiting[0].phase
	now := m.r.Net.Q.Now()
	off, on := p.Moved(&p.Phases[m.to], m.dark, now, now+p.Mirrors)
	m.on, m.changed = on, map[int]bool{}
	m.apply(off)
	m.r.Net.Q.Push(engine.OfRun, now+p.Mirrors, kindMirrors, 1, 0)
}

// apply changes links; the plan's events contain the change.
func (m *mirrors) apply(events []scenario.LinkEvent) {
	for i := range events {
		e := &events[i]
		m.r.SetLink(e.Link, StateBehind(e))
		if m.dark[e.Link] = !e.Up; e.Up {
			delete(m.dark, e.Link)
		}
		m.changed[e.Link] = e.Up
	}
	m.r.Plan.Events = append(m.r.Plan.Events, events...)
}

// due checks again, or completes a mirror movement. Routes then change immediately, and transfers of this map
// begin.
func (m *mirrors) due(arrived bool) {
	if !arrived {
		m.looking = false
		m.look()
		return
	}
	m.apply(m.on)
	m.r.moved(func() { m.r.ConvergeAll(m.changed) })
	m.now, m.to = m.to, -1
	begin := m.waiting
	m.waiting = nil
	for _, w := range begin {
		if w.phase >= 0 && w.phase != m.now {
			m.waiting = append(m.waiting, w)
			continue
		}
		m.r.carrier.send(w.op, w.from, w.to, w.bytes)
	}
	m.look()
}

// mostMaps bounds how many maps of circuits are looked at for ideal times.
const mostMaps = 16

// maps returns the routes of each map that circuits have had so far; nil: none.
func (r *Run) maps() (all []*topo.Routes) {
	if len(r.Plan.Dark) == 0 {
		return nil
	}
	down, seen := map[int]bool{}, map[string]bool{}
	for i := range r.Plan.Events {
		e := &r.Plan.Events[i]
		if e.At > r.Net.Q.Now() {
			break
		}
		if down[e.Link] = !e.Up; e.Up {
			delete(down, e.Link)
		}
		if next := i + 1; next < len(r.Plan.Events) && r.Plan.Events[next].At == e.At {
			continue
		}
		if set := fmt.Sprint(down); !seen[set] && len(all) < mostMaps { // fmt sorts maps
			seen[set] = true
			all = append(all, r.Graph.Reroute(down, nil, scenario.Besides(r.Setup.LB, r.Setup.Scheduled)))
		}
	}
	return all
}
