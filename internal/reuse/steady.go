package reuse

import (
	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/unit"
)

// Long messages repeat themselves in their middles. A lab that reaches one state twice, except for sequence numbers,
// skips the repetitions that end before a message does and before a post. It compares states each time one connection,
// the anchor, has sent a number of packets, the stride.

// steady looks for repetitions in a lab.
type steady struct {
	conns  []int32 // connections of the group, by their numbers in the stand
	ports  []int32 // of the group
	anchor int32   // anchor in conns; -1: none
	port   int32   // port by which the anchor sends
	frames int64   // frames that have left that port
	next   uint64  // sequence number of the anchor at which states are compared
	look   uint64  // events that the lab fires before it chooses an anchor
	seen   [8]sim.Moment
	known  int // moments in seen; the latest is at known-1
}

// A stride is a multiple of the packets between two acknowledgements.
const (
	leastStride = 64
	enough      = 2000 // packet-hops: a jump over fewer is not worth it
)

// begin forgets the lab's last group.
func (s *steady) begin() {
	s.conns, s.ports, s.anchor, s.look, s.known = s.conns[:0], s.ports[:0], -1, 0, 0
}

// knows adds a connection of the group, after its ports got labels.
func (s *steady) knows(l *lab, conn int32) {
	s.conns, s.ports = append(s.conns, conn), s.ports[:0]
	for _, p := range l.of.ports {
		if int(p) < len(l.Net.Ports) {
			s.ports = append(s.ports, p)
		}
	}
	s.known = 0
}

// comes reports whether the anchor has sent another stride.
func (s *steady) comes(l *lab) bool {
	if s.anchor < 0 {
		if l.Net.Q.Popped() >= s.look {
			s.choose(l)
		}
		return false
	}
	frames := l.Net.Ports[s.port].TxFrames
	if frames == s.frames {
		return false
	}
	s.frames = frames
	return l.Hosts.Next(s.anchor) >= s.next
}

// choose makes the connection with the longest rest of a message the anchor.
func (s *steady) choose(l *lab) {
	most := uint64(3 * s.stride(l))
	for _, c := range s.conns {
		if p, sends, _, calm := l.Hosts.Position(c); sends && calm && p.End-p.Next > most {
			most, s.anchor = p.End-p.Next, c
		}
	}
	s.known = 0
	if s.anchor < 0 {
		s.look = l.Net.Q.Popped() + 256 + 8*uint64(len(s.conns))
		return
	}
	s.port = l.Hosts.Port(s.anchor)
	s.frames = l.Net.Ports[s.port].TxFrames
	s.after(l)
}

// stride returns the packets of the anchor between two comparisons.
func (s *steady) stride(l *lab) int {
	every := l.Setup.Host.RC.AckEvery
	return (leastStride + every - 1) / every * every
}

// after sets the next sequence number at which states are compared.
func (s *steady) after(l *lab) {
	n := uint64(s.stride(l))
	s.next = (l.Hosts.Next(s.anchor)/n + 1) * n
}

// leap compares the lab's state with earlier ones and skips repetitions before a time of the group.
func (l *lab) leap(until unit.Time) {
	s := &l.steady
	if p, sends, _, _ := l.Hosts.Position(s.anchor); !sends || p.End-p.Next < uint64(s.stride(l)) {
		s.anchor, s.look = -1, l.Net.Q.Popped()+64
		return
	}
	s.after(l)
	if s.known == len(s.seen) {
		first := s.seen[0]
		copy(s.seen[:], s.seen[1:])
		s.known--
		s.seen[s.known] = first // for its room
	}
	m := &s.seen[s.known]
	if !l.Moment(m, s.conns, s.ports) {
		s.known = 0
		return
	}
	s.known++
	for i := s.known - 2; i >= 0; i-- {
		if was := &s.seen[i]; was.Same(m) {
			l.jump(was, m, min(was.Times(m), int64((until-l.now())/(m.At-was.At))))
			return
		}
	}
}

// jump skips a number of repetitions of the events between two moments.
func (l *lab) jump(was, m *sim.Moment, times int64) {
	s := &l.steady
	if l.whole || times <= 0 || times*was.Hops(m) < enough || !l.Net.Quiet() {
		return
	}
	l.sampled()
	from, took := l.now(), unit.Time(times)*(m.At-was.At)
	for i, p := range s.ports {
		if n := was.Bytes(m, i); n > 0 {
			l.links = append(l.links, result.LinkRow{Start: int64(from), Length: int64(took), Port: l.label(p),
				Bytes: times * n, Queued: int64(l.Net.Ports[p].Queued)})
		}
	}
	l.Repeat(was, m, times, s.conns, s.ports)
	l.skipped += times * was.Hops(m)
	l.base -= took
	s.known = 0
}

// sampled adds the link samples since its last call to the group's rows.
func (l *lab) sampled() {
	for _, row := range l.Samples() {
		if row.Port = l.label(row.Port); row.Port >= 0 {
			row.Start = max(0, row.Start-int64(l.base))
			l.links = append(l.links, row)
		}
	}
	l.Sample(l.interval)
}

// foresight returns the time of the run before which no message is posted to a lab's group: the execution's next
// event, or the first possible delivery of another lab. If a post is earlier nevertheless, the history of the group
// is simulated again.
func (r *Run) foresight(l *lab) unit.Time {
	at := unit.Never
	if len(r.bells) > 0 {
		at = r.bells[0].At
	}
	for _, o := range r.labs {
		if o != l && !o.parked() {
			at = min(at, o.when()+o.soonest())
		}
	}
	return at
}

// soonest returns a lower bound of the time until a lab delivers a message.
func (l *lab) soonest() unit.Time {
	least := unit.Never / 2
	for _, c := range l.steady.conns {
		p, sends, idle, _ := l.Hosts.Position(c)
		switch {
		case idle:
		case !sends || p.Una < p.First:
			return 0
		default:
			mtu := unit.Bytes(l.Setup.Host.RC.MTU)
			least = min(least, unit.Serialize(unit.Bytes(p.End-p.Next-1)*mtu, l.Hosts.Line(c)))
		}
	}
	return least
}
