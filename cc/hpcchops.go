package cc

import "railyard/unit"

// eachHop is a sender's state for one port of its path if per_hop is set: a window and its load. HPCC's simulator
// has it with MULTI_RATE (RdmaHw::UpdateRateHp). The smallest window applies. A single window for all ports follows
// the largest load, ACK by ACK. The maximum of two varying loads exceeds either mean, so a flow through several
// full ports would get less than a flow through one port.
type eachHop struct {
	load, reference float64
	stage           int
	told            bool // whether the current acknowledgement carried telemetry
}

// beginHops sets every port's window to the sender's window.
func (h *HPCC) beginHops() {
	for i := range h.each {
		h.each[i] = eachHop{load: 1, reference: h.reference}
	}
}

// meetHop takes a port's load since it was looked at last.
func (h *HPCC) meetHop(i int, load float64, since unit.Time) {
	e := &h.each[i]
	share := min(since, h.base).Seconds() / h.seconds
	e.load, e.told = float64((1-share)*e.load)+float64(share*load), true
}

// reactHops is react for every port apart.
func (h *HPCC) reactHops(over bool) {
	h.window = h.most
	for i := range h.each[:max(h.hops, 0)] {
		e := &h.each[i]
		w := e.reference
		if e.told {
			stage := 0
			if w, stage = h.next(e.reference, e.load, e.stage); over {
				e.reference, e.stage = w, stage
			}
			e.told = false
		}
		h.window = min(h.window, w)
	}
	if over {
		h.reference = h.window
	}
}
