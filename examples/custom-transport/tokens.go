// Package tokens adds a transport to Railyard: each of a connection's paths has tokens, one for a packet in flight.
// An acknowledgement gives the token back and, as in TCP, adds a part of one; a marked one takes half a token and a
// loss half of them, as DCTCP and Reno do. A packet takes the path with most free tokens, so slow paths carry less.
// Losses are retransmitted one by one: packets that later packets on their path overtook, and packets in flight for
// too long.
package tokens

import (
	"railyard/cc"
	"railyard/extend"
	"railyard/param"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// packets is the most that a connection remembers; maxTries the transmissions after which it gives up.
const (
	packets  = 4096
	maxTries = 50
)

// settings are the transport's parameters, and the common ones of all transports.
type settings struct {
	transport.Common
	Paths   int       `yaml:"paths" range:"4,64" default:"16" doc:"paths of a connection, over all planes in turn"`
	Tokens  int       `yaml:"tokens" range:"1,64" default:"32" doc:"packets in flight on a path at first"`
	Timeout unit.Time `yaml:"timeout" range:"10us,1s" default:"1ms" doc:"time in flight after which a packet is lost"`
}

var parameters = param.In[settings]()

func init() {
	extend.Transport(&transport.Protocol{Name: "tokens", Title: "Tokens", Words: "token transport: a window for each path",
		Params: parameters.Params(), Defaults: parameters.Defaults(),
		Signals: []cc.Term{{Name: cc.SignalWindow, Unit: "B", Doc: "tokens of all paths, as bytes"}},
		Counters: []cc.Term{{Name: "timeouts", Doc: "packets that were in flight for too long"},
			{Name: "early", Doc: "packets that later ones of their path overtook"}},
		Needs: cc.Needs{Switch: "ECN", NIC: "64 paths and 4,096 packets per connection"},
		Check: func(param.Values, transport.Common) (name, fault string) { return "", "" },
		New: func(v param.Values, c transport.Common) transport.Maker {
			s := parameters.Read(v)
			s.Common, s.Planes = c, max(1, c.Planes)
			return &maker{s}
		}})
}

// maker makes ends; connections share nothing but settings.
type maker struct{ settings }

func (m *maker) Peer(cc.Path, uint64) transport.Peer { return m }
func (m *maker) State() (connection, peer int)       { return packets*24 + m.Paths*16, 0 }
func (m *maker) Sender(seed uint64) transport.Sender { return m.sender(uint32(seed)) }

func (m *maker) sender(first uint32) *sender {
	s := &sender{settings: &m.settings, out: window.NewOut(packets, m.MTU), first: first, lookAt: unit.Never,
		paths: make([]path, m.Paths)}
	for i := range s.paths {
		s.paths[i].tokens = float64(m.Tokens)
	}
	return s
}

// Receiver remembers as many packets as senders have.
func (m *maker) Receiver(cc.Path, uint64) transport.Receiver {
	return &receiver{in: window.NewIn(packets, uint64(m.MTU), false)}
}

// Wire is a frame's length: RoCEv2's headers with an address in each packet; answers have 16 bytes of bitmap.
func (m *maker) Wire(p *transport.Packet) int {
	n := roce.AckLen + 16
	if p.Kind == transport.Data {
		n = roce.DataLen(roce.WriteOnly, int(p.Payload))
	}
	if m.IPv6 {
		n += roce.IPv6More
	}
	return n
}

// path is one path of a connection: its tokens, packets in flight, the send time of the newest arrived packet, and
// the time of its latest reduction.
type path struct {
	tokens      float64
	flying      int
	newest, cut unit.Time
}

// sender is a connection's sending end.
type sender struct {
	*settings
	window.Stall
	out             window.Out
	paths           []path
	first           uint32 // entropy value of path 0
	down            uint64 // planes whose port does not work
	lookAt          unit.Time
	timeouts, early int64
}

func (s *sender) Post(now unit.Time, r transport.Request) error {
	err := s.out.Post(r)
	s.note(now)
	return err
}

// pick returns the path of a plane with most free tokens, -1 for none.
func (s *sender) pick(plane int) int {
	best, most := -1, 0.0
	for i := plane; i < len(s.paths); i += s.Planes {
		if free := s.paths[i].tokens - float64(s.paths[i].flying); free >= 1 && free > most {
			best, most = i, free
		}
	}
	return best
}

func (s *sender) sendable() bool { return s.out.AnyLost() || s.out.Unsent() }

func (s *sender) Ready(_ unit.Time, plane int) bool {
	return s.down>>plane&1 == 0 && s.sendable() && s.pick(plane) >= 0
}

// Next makes the packet that leaves now, lost ones first.
func (s *sender) Next(now unit.Time, plane int, p *transport.Packet) bool {
	defer s.note(now)
	if !s.Ready(now, plane) {
		return false
	}
	i := s.pick(plane)
	psn, slot, again := s.out.Again(now, i)
	if !again {
		psn, slot = s.out.New(now, i)
	}
	s.paths[i].flying++
	slot.Fill(psn, p)
	p.EV, p.Plane = s.first+uint32(i), uint8(plane)
	s.lookAt = min(s.lookAt, s.due(slot))
	return true
}

// due returns when a packet in flight is lost: each retransmission doubles the limit.
func (s *sender) due(slot *window.Slot) unit.Time { return slot.Sent + s.Timeout<<min(slot.Tries, 5) }

// Take takes an answer: packets that have arrived give tokens back, and what they overtook is lost.
func (s *sender) Take(now unit.Time, p *transport.Packet) (place bool) {
	if p.Kind != transport.Ack || s.out.Failed() {
		return false
	}
	gain := 1.0
	if p.Flags&transport.Marked != 0 {
		gain = -0.5
	}
	s.out.Told(p, func(psn uint64) {
		slot := s.out.At(psn)
		flying := slot != nil && slot.State == window.Flying
		if slot, news := s.out.Ack(psn); news {
			x := &s.paths[slot.Path]
			if flying {
				x.flying--
			}
			if slot.Tries == 0 {
				x.newest = max(x.newest, slot.Sent)
			}
			if gain > 0 {
				x.tokens = min(x.tokens+gain/x.tokens, float64(packets/len(s.paths)))
			} else {
				x.tokens = max(1, x.tokens+gain)
			}
		}
	})
	una, next := s.out.Range()
	for psn := una; psn < min(next, una+128); psn++ {
		slot := s.out.At(psn)
		if slot.State == window.Flying && slot.Tries == 0 && slot.Sent < s.paths[slot.Path].newest {
			s.early++
			s.lose(now, psn, slot)
		}
	}
	s.out.Advance()
	s.note(now)
	return false
}

// lose retransmits a packet. Its path loses half of its tokens, once in a time-out.
func (s *sender) lose(now unit.Time, psn uint64, slot *window.Slot) {
	x := &s.paths[slot.Path]
	if x.flying--; now >= x.cut {
		x.tokens, x.cut = max(1, x.tokens/2), now+s.Timeout
	}
	s.out.Lose(psn)
}

func (s *sender) At() unit.Time { return s.lookAt }

// Tick loses packets that have been in flight for too long, and gives the connection up after too many attempts.
func (s *sender) Tick(now unit.Time) {
	if now < s.lookAt {
		return
	}
	s.lookAt = unit.Never
	una, next := s.out.Range()
	for psn := una; psn < next; psn++ {
		slot := s.out.At(psn)
		switch {
		case slot.State != window.Flying:
		case s.due(slot) > now:
			s.lookAt = min(s.lookAt, s.due(slot))
		case slot.Tries >= maxTries:
			s.out.Fail(rc.RetryExceeded)
			s.lookAt = unit.Never
			return
		default:
			s.timeouts++
			s.lose(now, psn, slot)
		}
	}
	s.note(now)
}

// PlaneIs has what is in flight by a broken port sent by others.
func (s *sender) PlaneIs(now unit.Time, plane int, up bool) {
	if plane >= s.Planes {
		return
	}
	s.down &^= 1 << plane
	if up {
		return
	}
	s.down |= 1 << plane
	una, next := s.out.Range()
	for psn := una; psn < next; psn++ {
		if slot := s.out.At(psn); slot.State == window.Flying && int(slot.Path)%s.Planes == plane {
			s.lose(now, psn, slot)
		}
	}
	s.note(now)
}

// note keeps account of how long no path had a token.
func (s *sender) note(now unit.Time) {
	shut := s.sendable()
	for plane := 0; plane < s.Planes && shut; plane++ {
		shut = !s.Ready(now, plane)
	}
	s.Note(now, shut)
}

func (s *sender) Pending() bool                           { return s.out.More() || s.out.AnyLost() }
func (s *sender) Completed() (transport.Completion, bool) { return s.out.Completed() }
func (s *sender) InFlight() unit.Bytes                    { return s.out.InFlight() }
func (s *sender) Say(unit.Time, *transport.Packet) bool   { return false }
func (s *sender) Touch(*transport.Packet, bool)           {}

func (s *sender) Signal(_ unit.Time, name string) (float64, bool) {
	sum := 0.0
	for i := range s.paths {
		sum += s.paths[i].tokens
	}
	return sum * float64(s.MTU), name == cc.SignalWindow
}

func (s *sender) Counter(name string) (int64, bool) {
	switch name {
	case "timeouts":
		return s.timeouts, true
	case "early":
		return s.early, true
	}
	return 0, false
}

// receiver is a connection's receiving end: it answers each packet with what has arrived.
type receiver struct {
	in   window.In
	last transport.Packet
	due  bool
}

func (r *receiver) Take(_ unit.Time, p *transport.Packet) (place bool) {
	if p.Kind != transport.Data || p.Flags&transport.Trimmed != 0 {
		return false
	}
	v := r.in.Take(p)
	if v != window.Ahead {
		r.last, r.due = *p, true
	}
	return v == window.Fresh
}

// Say makes the answer: all before Expect, and a bitmap that ends at the latest packet.
func (r *receiver) Say(_ unit.Time, p *transport.Packet) bool {
	if !r.due {
		return false
	}
	r.due = false
	base := r.in.Expect()
	if last := r.in.Full(r.last.PSN); last >= base+128 {
		base = last - 127
	}
	*p = transport.Packet{Kind: transport.Ack, Flags: r.last.Flags & transport.Marked, Plane: r.last.Plane,
		EV: r.last.EV, PSN: r.last.PSN, Expect: uint32(r.in.Expect()), Base: uint32(base), Bits: r.in.Bits(base),
		Bytes: r.in.Received, Late: r.in.Late}
	return true
}

func (r *receiver) At() unit.Time                          { return unit.Never }
func (r *receiver) Tick(unit.Time)                         {}
func (r *receiver) PlaneIs(unit.Time, int, bool)           {}
func (r *receiver) Arrived() (uint32, bool)                { return r.in.Arrived() }
func (r *receiver) Counter(name string) (n int64, ok bool) { return r.in.Counter(name) }
func (r *receiver) Touch(*transport.Packet, bool)          {}
