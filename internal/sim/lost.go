package sim

import (
	"cmp"
	"slices"

	"railyard/internal/explain"
	"railyard/unit"
)

// lost reports connections that have given up for good and servers that have failed; their peers are blocked for
// ever.
func (r *Run) lost() bool { return len(r.carrier.lost)+len(r.dead) > 0 }

// strand finds, in an idle network, the connections that are blocked on a broken path without a retry limit. A
// protocol whose NIC has no port left counts no retries.
func (r *Run) strand() {
	down := map[int]bool{}
	var since unit.Time
	for i := range r.Plan.Events {
		if e := &r.Plan.Events[i]; e.At <= r.Net.Q.Now() && e.Toggles {
			if down[e.Link] = !e.Up; !e.Up {
				since = e.At
			}
		}
	}
	off := map[int]bool{}
	for _, nic := range r.Graph.CutOff(down) {
		off[nic] = true
	}
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		if src, dst := r.Hosts.Peers(m.Conn); m.Done == 0 && (off[int(src)] || off[int(dst)]) {
			r.carrier.gaveUp(explain.Lost{Conn: m.Conn, At: max(since, m.Posted),
				Why: "no path is left, and its transport waits until one returns"})
		}
	}
	slices.SortStableFunc(r.carrier.lost, func(a, b explain.Lost) int { return cmp.Compare(a.At, b.At) })
}

// gaveUp records a connection that gave up, once.
func (c *carrier) gaveUp(l explain.Lost) {
	if !c.gone[l.Conn] {
		c.gone[l.Conn] = true
		c.lost = append(c.lost, l)
	}
}
