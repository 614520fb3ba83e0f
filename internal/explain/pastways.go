package explain

import (
	"maps"
	"slices"

	"railyard/internal/fluid"
	"railyard/internal/topo"
	"railyard/unit"
)

// pastWay is the ports that a connection had until a time.
type pastWay struct {
	until           unit.Time
	egress, ingress int32
	ports           []fluid.Use
}

// past notes which ports connections had before routes changed.
func (m *model) past() {
	r := m.b.r
	if !r.seen.Rules.Hashed || r.seen.Rules.SpreadsNIC { // of several paths at once only the present ones are known
		return
	}
	m.wholeAt, m.moved, m.formerly = unit.Never, map[unit.Time][]int32{}, map[int32][]formerWay{}
	began := unit.Time(0)
	for i := range r.seen.Moves {
		move := &r.seen.Moves[i]
		if m.wholeAt == unit.Never && !r.avoidsAt(began) {
			m.wholeAt = began
		}
		began = move.At
		m.moved[move.At] = append(m.moved[move.At], slices.Sorted(maps.Keys(move.Before))...)
		for c, path := range move.Before {
			w := &m.ways[c]
			was := pastWay{until: move.At, egress: w.egress, ingress: w.ingress}
			since := unit.Time(0)
			if n := len(w.was); n > 0 {
				since = w.was[n-1].until
			}
			for _, p := range path {
				switch {
				case r.graph.Nodes[r.seen.Ports[p].Node].Role == topo.Host:
					was.egress = p
				case r.peer(p).Role == topo.Host:
					was.ingress = p
				default:
					was.ports = append(was.ports, fluid.Use{Link: p, Share: 1, Holds: true})
					m.formerly[p] = append(m.formerly[p], formerWay{c, since, move.At})
				}
			}
			w.was = append(w.was, was)
		}
	}
}

// then returns a connection's path at a time, nil for its current path.
func (w *wayOf) then(at unit.Time) *pastWay {
	for i := range w.was {
		if at < w.was[i].until {
			return &w.was[i]
		}
	}
	return nil
}

// rerouted moves messages in flight to their new paths.
func (p *replay) rerouted() {
	for _, c := range p.m.moves(p.now, p.v) {
		if p.uses[c] == nil {
			continue
		}
		p.uses[c] = p.m.over(c, p.now, p.v)
		if flow := p.under[0][c]; flow > 0 {
			p.net.Move(p.now, flow-1, p.uses[c])
		}
		for k, part := range p.parts {
			p.sends[k][c] = p.m.over(c, p.now, p.v.with(upTo[k]))
			if flow := p.under[1+k][c]; flow > 0 {
				part.Move(p.now, flow-1, p.sends[k][c])
			}
		}
	}
}

// avoidsAt reports whether routes avoid a link at a time.
func (r *reading) avoidsAt(at unit.Time) bool {
	down := map[int]bool{}
	for i := range r.plan.Events {
		if e := &r.plan.Events[i]; e.Heard && e.At+e.Converge <= at {
			if down[e.Link] = !e.Up; e.Up {
				delete(down, e.Link)
			}
		}
	}
	return len(down) > 0
}
