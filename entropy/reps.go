package entropy

import (
	"railyard/param"
	"railyard/unit"
)

// reps reuses the ports of packets that arrived unmarked, once each, and draws a random port if it has none (Bonato
// et al., REPS: recycled entropy packet spraying, arXiv 2407.21625; docs/references.md, spraying). After a time-out
// it is frozen for some time. It then uses only its known ports repeatedly, because a random port may lead over the
// failed path.
var reps = Policy{Name: "reps", Title: "source ports recycled while they are good", Hears: true,
	Params: []param.Param{sourcePorts, ackEvery,
		{Name: "freeze", Kind: param.Duration, Min: "1us", Max: "10s",
			Doc: "how long after a time-out no new source port is tried"}},
	Defaults: param.Values{"source_ports": 128, "ack_every": 1, "freeze": 10 * unit.Millisecond},
	Check:    several,
	New: func(v param.Values) Make {
		freeze := param.Value[unit.Time](v, "freeze")
		return func(ports int, seed uint32) Chooser { return newREPS(ports, freeze, seed) }
	},
}

// Constants of the paper and uet-htsim: stored ports, and packets that explore after a freeze.
const (
	kept    = 8
	explore = 16
)

// REPS is the chooser of one sender.
type REPS struct {
	dice      dice
	ports     int
	ring      [kept]uint8
	head      int // position of the next good port
	known     int // entries of the ring that were ever filled
	fresh     int // values not used since they were cached
	next      int // while frozen: the entry to use
	frozen    bool
	thaw      unit.Time
	freeze    unit.Time
	exploring int // packets still to be sent by drawn ports
}

func newREPS(ports int, freeze unit.Time, seed uint32) *REPS {
	return &REPS{dice: dice(seed), ports: ports, freeze: freeze}
}

// Next returns the oldest good port that has not been reused, or a random one. While frozen, it returns the known
// ports in turn.
func (r *REPS) Next(now unit.Time) int {
	r.thawed(now)
	switch {
	case r.exploring > 0:
		r.exploring--
	case r.fresh > 0 && !r.frozen:
		r.fresh--
		return int(r.ring[(r.head-r.fresh-1+2*kept)%kept])
	case r.frozen && r.known > 0:
		r.next = (r.next + 1) % r.known
		return int(r.ring[r.next])
	}
	return r.dice.below(r.ports)
}

// Heard stores a port whose packet arrived unmarked.
func (r *REPS) Heard(now unit.Time, port int, f Feedback) {
	r.thawed(now)
	switch f {
	case Arrived:
		r.ring[r.head] = uint8(port)
		r.head = (r.head + 1) % kept
		r.known, r.fresh = min(r.known+1, kept), min(r.fresh+1, kept)
	case TimedOut:
		if !r.frozen && r.exploring == 0 {
			r.frozen, r.thaw = true, now+r.freeze
		}
	}
}

// thawed ends a freeze whose time is over. Known ports are discarded, and some packets explore.
func (r *REPS) thawed(now unit.Time) {
	if r.frozen && now > r.thaw {
		r.frozen, r.exploring = false, explore
		r.head, r.known, r.fresh, r.next = 0, 0, 0, 0
	}
}
