package falcon

import (
	"railyard/cc"
	"railyard/internal/rng"
	"railyard/transport"
	"railyard/unit"
)

// flow is one path of a connection: a flow label that switches hash, and a window. The label's two low bits are the
// flow's number (Isekai: kFlowIdMask), so that acknowledgements identify their flow.
type flow struct {
	ctl    cc.Controller
	window unit.Bytes
	gap    unit.Time // time between packets if the window is below one; else 0
	next   unit.Time // not before
	label  uint32
	plane  uint8

	flying  unit.Bytes
	acked   unit.Bytes // bytes acknowledged since the controller's last call
	rtt     unit.Time  // smoothed; 0 before one was measured
	newest  unit.Time  // RACK: send time of the newest packet that has arrived
	reached unit.Time  // RACK: how long that one took
	sent    int        // packets since the last request for an acknowledgement
	credit  int64      // weighted turns: unused bytes of its share
	plb     plb
	heardAt unit.Time // time at which an acknowledgement last named it
	since   unit.Time // time at which the flow took its path; feedback on earlier packets is ignored
	silent  bool      // a packet remained unanswered while other paths were answered
}

// plb counts the acknowledgements of a round on a path (Isekai: ComputePlb; Qureshi et al., SIGCOMM 2022).
type plb struct{ acked, late, rounds int }

const (
	labelBits = 20
	flowBits  = 2
	noFlow    = -1
)

// relabel moves a flow to a path of some plane.
func (f *flow) relabel(now unit.Time, id int, r *rng.Stream, plane uint8) {
	f.since, f.newest = now, 0
	f.label = uint32(r.Intn(1<<(labelBits-flowBits)))<<flowBits | uint32(id)
	f.plane, f.silent = plane, false
	f.plb = plb{}
}

// decide reads the controller.
func (f *flow) decide(mtu unit.Bytes, line unit.Rate) {
	d := f.ctl.Decision()
	f.window, f.gap = d.Window, 0
	if f.window == 0 {
		f.window = 1 << 40 // no window
	}
	if d.Rate < line && d.Rate > 0 {
		f.gap = unit.Serialize(mtu, d.Rate)
	}
}

// heard adds a measured round trip to the smoothed one (Isekai: rtt_smoothing_alpha 0.75).
func (f *flow) heard(rtt unit.Time) {
	if f.rtt == 0 {
		f.rtt = rtt
		return
	}
	f.rtt = (3*f.rtt + rtt) / 4
}

// congested counts acknowledged packets, late or not. It reports that the path should be left: in each of several
// rounds, a round being a window, most packets were late.
func (p *plb) congested(s *settings, packets int, late bool, window float64) bool {
	p.acked += packets
	if late {
		p.late += packets
	}
	if float64(p.acked) < window {
		return false
	}
	if float64(p.late) < s.PLBShare*float64(p.acked) {
		p.rounds = 0
	} else {
		p.rounds++
	}
	p.acked, p.late = 0, 0
	if p.rounds >= s.PLBRounds {
		p.rounds = 0
		return true
	}
	return false
}

// target returns the target round trip of a flow's controller; 0 if it has none, or before the first measurement.
func (f *flow) target() unit.Time {
	t, ok := f.ctl.Signal(0, "target_delay")
	if !ok {
		return 0
	}
	return unit.Time(t * float64(unit.Second))
}

// may reports whether a flow may send a packet now.
func (f *flow) may(now unit.Time) bool { return f.flying < f.window && f.next <= now }

// avoids reports whether a flow is silent while another is not. Such a flow gets no packets until it has a new
// path.
func (s *sender) avoids(f *flow) bool { return f.silent && s.silent < len(s.flows) }

// suspect records an unanswered packet of a flow. If other flows were acknowledged since then, its path is
// suspected.
func (s *sender) suspect(f *flow, sent unit.Time) {
	if f.silent || f.heardAt >= sent {
		return
	}
	for i := range s.flows {
		if s.flows[i].heardAt > sent {
			f.silent = true
			s.silent++
			return
		}
	}
}

// answered notes that a flow's path works.
func (s *sender) answered(now unit.Time, f *flow) {
	f.heardAt = now
	if f.silent {
		f.silent = false
		s.silent--
	}
}

// pick chooses the flow of a plane that sends next, -1 for none. Each flow has its own window. The next flow is the
// one with the most free window; equal flows take turns (Isekai: CLOSED_LOOP_MAX_OPEN_FCWND_RR_WHEN_TIE, the policy
// of its example of four paths, superblock_permutation_24_800g). A stalled path delays only the packets of its own
// window.
func (s *sender) pick(now unit.Time, plane int) int {
	if s.set.Weighted {
		return s.pickWeighted(now, plane)
	}
	best, room := noFlow, unit.Bytes(0)
	for k := range s.flows {
		i := (s.last + 1 + k) % len(s.flows)
		f := &s.flows[i]
		if int(f.plane) == plane && !s.avoids(f) && f.may(now) && f.window-f.flying > room {
			best, room = i, f.window-f.flying
		}
	}
	return best
}

// pickWeighted is the policy of Falcon's second generation (Isekai: OPEN_LOOP_FCWND_WEIGHTED_ROUND_ROBIN). The sum
// of the windows of a plane's flows limits the data in flight. Flows take turns in proportion to their windows. A
// congested path gets few packets but never none, and packets that wait there fill the common limit. The third
// generation's rate update engine returns no weights (Isekai: rue/algorithm/swift.h, SetResponse).
func (s *sender) pickWeighted(now unit.Time, plane int) int {
	var windows, flying unit.Bytes
	for i := range s.flows {
		if f := &s.flows[i]; int(f.plane) == plane && !s.avoids(f) {
			windows += f.window
			flying += f.flying
		}
	}
	if flying >= windows {
		return noFlow
	}
	best := noFlow
	for i := range s.flows {
		f := &s.flows[i]
		if int(f.plane) != plane || f.next > now || s.avoids(f) {
			continue
		}
		if best == noFlow || f.credit+int64(f.window) > s.flows[best].credit+int64(s.flows[best].window) {
			best = i
		}
	}
	return best
}

// charge records that a packet leaves on a flow: its turn ends, and its pacing interval begins.
func (s *sender) charge(now unit.Time, id int, payload uint32) {
	f := &s.flows[id]
	s.last = id
	f.flying += unit.Bytes(payload)
	if f.gap > 0 {
		f.next = now + f.gap
	}
	if !s.set.Weighted {
		return
	}
	var all int64
	for i := range s.flows { // smooth weighted round robin
		if g := &s.flows[i]; g.plane == f.plane {
			g.credit += int64(g.window)
			all += int64(g.window)
		}
	}
	f.credit -= all
}

// asks reports whether the next packet of a flow requests an acknowledgement. One in every N packets does, and
// packets that fill the window, and the last packet to send (Isekai: ack_request_percent,
// ack_request_fcwnd_threshold, op_boundary_ar_bit). Railyard also requests one per eighth of a window. Otherwise
// windows of few packets would be idle for a round trip.
func (s *sender) asks(f *flow, last bool) bool {
	f.sent++
	if eighth := unit.Bytes(8*f.sent)*s.set.MTU >= f.window; eighth || f.sent >= s.set.AskEvery ||
		f.window <= 2*s.set.MTU || f.flying >= f.window || last {
		f.sent = 0
		return true
	}
	return false
}

// leave moves a flow to another path, on another plane if several work.
func (s *sender) leave(now unit.Time, id int, elsewhere bool) {
	f := &s.flows[id]
	plane := f.plane
	if n := s.set.Planes; elsewhere || s.down>>plane&1 != 0 {
		for k := 1; k < n; k++ {
			if p := (int(f.plane) + k) % n; s.down>>p&1 == 0 {
				plane = uint8(p)
				break
			}
		}
	}
	s.move(now, id, plane)
	s.repaths++
}

func (s *sender) move(now unit.Time, id int, plane uint8) {
	f := &s.flows[id]
	if f.silent {
		s.silent--
	}
	f.relabel(now, id, &s.random, plane)
}

// tell passes a flow's acknowledgements to its controller.
func (s *sender) tell(now unit.Time, id int, rtt unit.Time, p *transport.Packet) {
	f := &s.flows[id]
	packets := max(1, int(f.acked/s.set.MTU))
	s.ack = cc.Ack{Bytes: f.acked, InFlight: f.flying, RTT: rtt, Marked: p.Flags&transport.Marked != 0}
	f.acked = 0
	target, window := f.target(), float64(f.window)/float64(s.set.MTU) // before the window changes, as in Isekai
	f.ctl.OnAck(now, &s.ack)
	f.decide(s.set.MTU, s.line)
	if target == 0 {
		target = f.target()
	}
	if s.set.PLB && rtt > 0 && target > 0 {
		late := float64(rtt) > s.set.PLBLate*float64(target)
		if f.plb.congested(s.set, packets, late, window) {
			s.leave(now, id, false)
		}
	}
}
