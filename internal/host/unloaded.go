package host

import (
	"railyard/cc"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// regulate creates a connection's congestion control for its path, as its service defines it.
func (h *Hosts) regulate(c int32) {
	s, algorithm := &h.senders[c], h.Service(c).CC
	if algorithm == nil && h.cfg.RC.Recovery != rc.Selective {
		s.pace.Start(cc.None{Line: s.pace.Line})
		return
	}
	rtt, hops := h.unloaded(c)
	if s.qp.Unloaded(rtt); algorithm == nil {
		s.pace.Start(cc.None{Line: s.pace.Line})
		return
	}
	s.pace.Start(algorithm(cc.Path{Line: s.pace.Line, MTU: unit.Bytes(h.cfg.RC.MTU), RTT: rtt, Hops: hops,
		CoreMarks: h.coreMarks(c)}))
}

// coreMarks reports whether a switch before the last one marks packets to a connection's receiver.
func (h *Hosts) coreMarks(c int32) bool {
	for _, p := range h.nics[h.senders[c].dst].ports {
		if far := h.Net.Ports[h.wire(p)].Peer; !h.Net.SilentToHosts(far) {
			return false
		}
	}
	return true
}

// unloaded returns the time of a full packet and its acknowledgement without other traffic, and the number of
// switches in each direction.
func (h *Hosts) unloaded(c int32) (rtt unit.Time, hops int) {
	opcode := roce.WriteMiddle
	if h.cfg.RC.WriteOnly {
		opcode = roce.WriteOnly
	}
	s := &h.senders[c]
	extra, more := int(s.extra), h.cfg.Services[s.service].Telemetry.Grows()
	return h.roundTrip(c, h.frame(opcode, h.cfg.RC.MTU)+extra, roce.AckLen+h.ip+extra, more)
}

// roundTrip is unloaded for frames of the given sizes forth and back. If packets choose among ports, it uses the
// first port. Zero: no path leads there.
func (h *Hosts) roundTrip(c int32, data, ack, more int) (rtt unit.Time, hops int) {
	s, r := &h.senders[c], &h.receivers[c]
	there := h.Path(c)
	if s.sprayed {
		there = append([]int32{h.wire(s.port)}, there...)
	}
	in := h.Net.Ports[there[len(there)-1]].Peer
	if !h.reaches(s.dst, in) {
		return 0, 0
	}
	back := append([]int32{in}, h.Net.Path(in, r.src, r.loc, r.hash)...)
	hops = len(there) - 1
	return h.Net.AloneGrowing(there, data, more) + h.Net.Alone(back, ack+more*hops), hops
}
