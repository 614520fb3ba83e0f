package entropy

import (
	"math/bits"

	"railyard/param"
	"railyard/unit"
)

// oblivious uses each port once a round, in a new random order every round, whatever happens to the packets
// (uet-htsim's uec_mp.cpp; docs/references.md, spraying). With one order, senders would collide on equal links
// again and again.
var oblivious = Policy{Name: "oblivious", Title: "source ports in changing orders",
	Params: []param.Param{sourcePorts}, Defaults: param.Values{"source_ports": 128},
	New: func(param.Values) Make {
		return func(ports int, seed uint32) Chooser { return newOblivious(ports, seed) }
	},
}

// Oblivious is the chooser of one sender.
type Oblivious struct {
	dice  dice
	ports int
	round int // a power of two, not below the number of ports
	i     int // of the round
	order int // order of the round: port numbers are combined with it by exclusive or
}

func newOblivious(ports int, seed uint32) *Oblivious {
	o := &Oblivious{dice: dice(seed), ports: ports, round: 1 << bits.Len(uint(ports-1))}
	o.order = o.dice.below(o.round)
	return o
}

// Next returns the next port of the round's order.
func (o *Oblivious) Next(unit.Time) int {
	for {
		i := o.i ^ o.order
		if o.i++; o.i == o.round {
			o.i, o.order = 0, o.dice.below(o.round)
		}
		if i < o.ports {
			return i
		}
	}
}

// Heard does nothing.
func (o *Oblivious) Heard(unit.Time, int, Feedback) {}
