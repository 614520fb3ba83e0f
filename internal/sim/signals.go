package sim

import (
	"math"
	"slices"

	"railyard/cc"
	"railyard/internal/host"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/unit"
)

// maxSignalRows bounds the table of signals.
const maxSignalRows = 600_000

// signals records the signals of queue pairs' congestion control after its first action.
type signals struct {
	names [][]string // by service: its algorithm's signals, then the counter of rate reductions
	// by service: whether its algorithm counts rate reductions; one without a counter is recorded from the start
	cuts   []bool
	rows   []result.SignalRow
	last   [][]float64 // by queue pair: last recorded values; nil before its first reduction
	open   []int32     // queue pairs that are not closed, or have not been looked at since
	missed int64
	next   unit.Time // time of the next check
	now    []float64 // current values, by name
}

// signalsEvery is the minimum interval of sampled signals. The timers that raise rates take 55 us or longer. A NIC
// may reduce every 4 us; the counter has all reductions.
const signalsEvery = 50 * unit.Microsecond

func newSignals(services []scenario.Service) (x signals) {
	for _, s := range services {
		var names []string
		for _, term := range s.Signalled() {
			names = append(names, term.Name)
		}
		x.names = append(x.names, append(names, cc.CounterCuts))
		x.cuts = append(x.cuts, slices.ContainsFunc(s.Counted(),
			func(t cc.Term) bool { return t.Name == cc.CounterCuts }))
	}
	return x
}

// take samples all queue pairs.
func (x *signals) take(n *Network) {
	now := n.Net.Q.Now()
	if now < x.next {
		return
	}
	x.next = now + signalsEvery
	for c := len(x.last); c < n.Hosts.Conns(); c++ {
		x.last, x.open = append(x.last, nil), append(x.open, int32(c))
	}
	x.open = slices.DeleteFunc(x.open, func(c int32) bool {
		service := n.Hosts.ServiceOf(c)
		if src, _ := n.Hosts.Peers(c); len(x.names[service]) == 1 || !n.Hosts.Owns(src) {
			return true // no signals, or a queue pair of another part
		}
		if cuts, _ := n.Hosts.Counter(c, cc.CounterCuts); cuts > 0 || !x.cuts[service] {
			x.look(now, c, n.Hosts, x.names[service], float64(cuts))
		}
		return n.Hosts.Closed(c)
	})
}

// look records a queue pair whose first signal (the allowed rate or window) or number of reductions has changed.
func (x *signals) look(now unit.Time, c int32, h *host.Hosts, names []string, cuts float64) {
	x.now = x.now[:0]
	for _, name := range names[:len(names)-1] {
		v, _ := h.Signal(now, c, name)
		x.now = append(x.now, v)
	}
	x.now = append(x.now, cuts)
	last := x.last[c]
	if last == nil {
		last = make([]float64, len(names))
		for i := range last {
			last[i] = math.NaN() // unlike anything
		}
		x.last[c] = last
	} else if last[0] == x.now[0] && last[len(last)-1] == cuts {
		return
	}
	for i, v := range x.now {
		if v == last[i] {
			continue
		}
		last[i] = v
		if len(x.rows) >= maxSignalRows {
			x.missed++
			continue
		}
		x.rows = append(x.rows, result.SignalRow{At: int64(now), QP: c, Signal: names[i], Value: v})
	}
}

// control returns the actions of congestion control by service, as each algorithm counts them.
func (r *Run) control() []result.Control { return r.Controls(r.Plan.Services) }

// Controls returns what congestion control of services did in a network.
func (r *Network) Controls(services []scenario.Service) (all []result.Control) {
	for _, s := range services {
		c := result.Control{Service: s.Name, Algorithm: s.CC.Name, Title: s.CC.Title}
		if s.Carried != nil {
			c.Transport, c.Title = s.Carried.Name, s.Titled()
		}
		for _, k := range s.Counted() {
			c.Counters = append(c.Counters, result.Counter{Name: k.Name, Doc: k.Doc})
		}
		for _, x := range s.Signalled() {
			c.Signals = append(c.Signals, result.Signal{Name: x.Name, Unit: x.Unit, Doc: x.Doc})
		}
		all = append(all, c)
	}
	for conn := range int32(r.Hosts.Conns()) {
		c := &all[r.Hosts.ServiceOf(conn)]
		c.QueuePairs++
		c.Held += int64(r.Hosts.Held(conn).Sum())
		if cuts, _ := r.Hosts.Counter(conn, cc.CounterCuts); cuts > 0 {
			c.Acted++
		}
		for i := range c.Counters {
			n, _ := r.Hosts.Counter(conn, c.Counters[i].Name)
			c.Counters[i].Count += n
		}
	}
	return all
}
