package entropy

import (
	"railyard/param"
	"railyard/unit"
)

// mixed reuses good ports once each. Without good ports it chooses as bitmap does (uet-htsim's uec_mp.cpp;
// docs/references.md, spraying).
var mixed = Policy{Name: "mixed", Title: "source ports recycled, else without those marked lately",
	Hears: true, Params: []param.Param{sourcePorts, ackEvery},
	Defaults: param.Values{"source_ports": 128, "ack_every": 0}, Check: several,
	New: func(param.Values) Make { return func(ports int, seed uint32) Chooser { return newMixed(ports, seed) } },
}

// Mixed is the chooser of one sender.
type Mixed struct {
	bitmap *Bitmap
	good   [1 << 8]uint8 // a ring: ports of packets that arrived unmarked
	head   uint8         // the oldest
	n      int
}

func newMixed(ports int, seed uint32) *Mixed { return &Mixed{bitmap: newBitmap(ports, seed)} }

// Next returns the good port that has waited longest, or what bitmap would.
func (m *Mixed) Next(now unit.Time) int {
	if m.n == 0 {
		return m.bitmap.Next(now)
	}
	i := m.good[m.head]
	m.head++
	m.n--
	return int(i)
}

// Heard stores good ports; if the store is full, the oldest is replaced.
func (m *Mixed) Heard(now unit.Time, port int, f Feedback) {
	m.bitmap.Heard(now, port, f)
	if f != Arrived {
		return
	}
	m.good[m.head+uint8(m.n)] = uint8(port)
	if m.n == len(m.good) {
		m.head++
	} else {
		m.n++
	}
}
