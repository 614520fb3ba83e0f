package explain

import (
	"slices"

	"railyard/internal/cause"
	"railyard/internal/fluid"
	"railyard/unit"
)

// mostStates bounds the states of links that a model tells apart: beyond, it has the mean of each link.
const mostStates = 32

// setStates finds from when on links have other rates, and when routes first avoid one.
func (m *model) setStates() {
	times, broken := []unit.Time{0}, unit.Never
	for _, events := range m.b.r.lives {
		for i := range events {
			e := &events[i]
			if times = append(times, e.At); e.Toggles && !e.Up {
				broken = min(broken, e.At+e.Converge)
			}
		}
	}
	if broken != unit.Never {
		m.broken = broken
	}
	slices.Sort(times)
	if times = slices.Compact(times); len(times) > 1 && len(times) <= mostStates {
		m.states = times
	}
}

// stateAt returns the state of links at a time.
func (m *model) stateAt(at unit.Time) int {
	i, begins := slices.BinarySearch(m.states, at)
	if !begins {
		i--
	}
	return max(0, i)
}

// weightOf returns the rate by which a switch weighs a port that it spreads packets over in a state.
func (m *model) weightOf(port int32, over spreadOver) unit.Rate {
	r, whole := m.b.r, over.routes == m.whole
	if len(m.states) == 0 {
		return m.usual(port, whole)
	}
	rate := r.graph.Links[port/2].Rate
	for i := range r.lives[int(port/2)] {
		e := &r.lives[int(port/2)][i]
		if e.At > m.states[over.state] {
			break
		}
		if rate = sends(port, e); !e.Up && !whole {
			rate = 0
		}
	}
	return rate
}

// moves returns the connections that take other ports in a replay from a time on: those that routes move and, where
// packets are spread by what ports carry, all between switches.
func (m *model) moves(at unit.Time, v without) []int32 {
	moved := m.moved[at]
	if at == 0 || !m.spread(v) && !(at == m.broken && m.b.r.seen.Rules.Entropy) {
		return moved
	}
	if _, begins := slices.BinarySearch(m.states, at); !begins && at != m.broken {
		return moved
	}
	moved = slices.Clone(moved)
	for c := range m.ways {
		if len(m.ways[c].sets) > 0 {
			moved = append(moved, int32(c))
		}
	}
	slices.Sort(moved)
	return slices.Compact(moved)
}

// spread reports whether packets are spread over ports one by one in a replay. Transports that choose paths by
// entropy do so evenly where nothing slows senders down: delays and marks then steer no packet around a slow link,
// though losses do around one that is down.
func (m *model) spread(v without) bool {
	if v.has(cause.Collision) || m.blindly() {
		return m.evenly
	}
	return m.steers && v.free
}

// blindly reports whether switches spread packets one by one whatever their ports carry.
func (m *model) blindly() bool {
	return slices.Contains([]string{"spray", "spray-random"}, m.b.r.plan.LB.Name)
}

// shares returns the ports of a connection with their shares where packets are spread one by one. Without collisions
// switches send to the least loaded of their own ports (cause.Collision), of which slow ones take less.
func (m *model) shares(w *wayOf, at unit.Time, v without) [][]fluid.Use {
	routes := 0
	if v.has(cause.FailedCapacity) || at < m.broken && m.evenly && !m.steers {
		routes = 1
	}
	if v.has(cause.Collision) && !v.has(cause.SlowLink) {
		return w.least[routes][m.stateAt(at)]
	}
	return w.even[routes]
}
