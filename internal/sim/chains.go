package sim

import (
	"fmt"
	"slices"

	"railyard/internal/explain"
	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/unit"
)

// mostChains bounds how many closed chains of pauses are remembered.
const mostChains = 10_000

// chains recognises closed chains of pauses. A chain is closed by a pause, or by data in flight when their sender
// was paused. A port is therefore checked when it is paused, and again when that pause is repeated; by then all
// data have arrived. It ends when one of its ports resumes.
//
// It belongs to the whole run and reads all switches: a run in parts would first need a barrier.
type chains struct {
	net     *Network
	find    *fabric.Chains
	since   []unit.Time // by port and priority: paused from then on
	again   []bool      // by port and priority: to be checked again
	in      map[int32][]int32
	seen    explain.Chains
	stormed int32 // the port and priority that a watchdog stormed last
}

func newChains(n *Network) *chains {
	slots := len(n.Net.Ports) * queue.Classes
	return &chains{net: n, find: fabric.NewChains(n.Net), since: make([]unit.Time, slots),
		again: make([]bool, slots), in: map[int32][]int32{}, stormed: -1}
}

func at(port int32, prio int) int32 { return port*queue.Classes + int32(prio) }

// hear processes the trace of pauses.
func (c *chains) hear(now unit.Time, what string, port int32, prio int) {
	switch slot := at(port, prio); what {
	case "pause":
		c.since[slot], c.again[slot] = now, true
		c.look(now, port, prio)
	case "storm":
		c.stormed = slot
	case "resume":
		for _, i := range slices.Clone(c.in[slot]) {
			c.end(now, i, slot)
		}
		c.stormed = -1
	}
}

// repaused looks at a port again.
func (c *chains) repaused(port int32, prio int) {
	if slot := at(port, prio); c.again[slot] {
		c.again[slot] = false
		c.look(c.net.Net.Q.Now(), port, prio)
	}
}

func (c *chains) look(now unit.Time, port int32, prio int) {
	if len(c.in[at(port, prio)]) > 0 {
		return
	}
	held := c.find.Through(port, prio)
	if held == nil {
		return
	}
	if c.seen.Count++; len(c.seen.All) == mostChains {
		return
	}
	row := explain.Chain{Closed: now, Cause: -1}
	began := held[0]
	for i, h := range held {
		since := c.since[at(h.Port, h.Class)]
		row.Ports = append(row.Ports, explain.ChainPort{Port: h.Port, Priority: h.Class, Paused: since,
			Bytes: unit.Bytes(h.Bytes), Flow: h.QP})
		if first := row.Ports[row.First].Paused; since < first {
			row.First, began = i, h
		}
		c.in[at(h.Port, h.Class)] = append(c.in[at(h.Port, h.Class)], int32(len(c.seen.All)))
	}
	row.Cause = c.net.Net.PauseCause(began.Port, began.Class)
	c.seen.All = append(c.seen.All, row)
}

// end records that a port of a chain resumes.
func (c *chains) end(now unit.Time, i, slot int32) {
	row := &c.seen.All[i]
	row.Ended, row.By = now, slot/queue.Classes
	switch {
	case slot == c.stormed:
		row.How = explain.ByWatchdog
	case c.net.Net.Ports[row.By].Down:
		row.How = explain.ByCable
	default:
		row.How = explain.ByItself
	}
	for _, p := range row.Ports {
		s := at(p.Port, p.Priority)
		if c.in[s] = slices.DeleteFunc(c.in[s], func(x int32) bool { return x == i }); len(c.in[s]) == 0 {
			delete(c.in, s)
		}
	}
}

// locked describes the pauses that persist and block one another.
func (r *Run) locked() string {
	if r.chains == nil {
		return ""
	}
	for i := range r.chains.seen.All {
		if c := &r.chains.seen.All[i]; c.How == explain.Stands {
			return fmt.Sprintf(": %d paused ports wait for one another since %v, beginning with %s",
				len(c.Ports), c.Closed, r.PortName(c.Ports[c.First].Port))
		}
	}
	return ""
}
