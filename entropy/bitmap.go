package entropy

import (
	"railyard/param"
	"railyard/unit"
)

// bitmap uses ports as oblivious does and skips those with a penalty. Each skip lowers the penalty by one
// (uet-htsim's uec_mp.cpp; docs/references.md, spraying).
var bitmap = Policy{Name: "bitmap", Title: "source ports without those marked lately", Hears: true,
	Params:   []param.Param{sourcePorts, ackEvery},
	Defaults: param.Values{"source_ports": 128, "ack_every": 0}, Check: several,
	New: func(param.Values) Make { return func(ports int, seed uint32) Chooser { return newBitmap(ports, seed) } },
}

// penalties are those of uet-htsim, and the maximum penalty of a port.
var penalties = [...]uint8{Marked: 1, Trimmed: 4, Missing: 4, TimedOut: worst}

const worst = 15

// Bitmap is the chooser of one sender.
type Bitmap struct {
	order   *Oblivious
	penalty []uint8 // by port
}

func newBitmap(ports int, seed uint32) *Bitmap {
	return &Bitmap{newOblivious(ports, seed), make([]uint8, ports)}
}

// Next returns the next port without a penalty. Each call lowers only the penalty of the first skipped port. A
// sender whose ports are all bad therefore needs no round of skips. If all are bad, the last one checked is used.
func (b *Bitmap) Next(now unit.Time) (i int) {
	for skipped := range len(b.penalty) + 1 {
		if i = b.order.Next(now); b.penalty[i] == 0 {
			break
		}
		if skipped == 0 {
			b.penalty[i]--
		}
	}
	return i
}

// Heard adds to a port's penalty.
func (b *Bitmap) Heard(_ unit.Time, port int, f Feedback) {
	b.penalty[port] = min(b.penalty[port]+penalties[f], worst)
}
