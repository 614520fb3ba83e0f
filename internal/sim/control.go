package sim

import (
	"railyard/cc"
	"railyard/internal/result"
)

// control returns the activity of congestion control by service, as each algorithm counts it.
func (r *Run) control() (all []result.Control) {
	for _, s := range r.Plan.Services {
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
