package mrc

import (
	"fmt"
	"testing"

	"railyard/transport"
	"railyard/unit"
)

// TestDefaultsByHand: the constants of the profile, as the documentation of the protocol has them.
func TestDefaultsByHand(t *testing.T) {
	const want = "map[ack_delay:0ps ack_every:4 active_evs:128 dynamic_range:false early:true ev_burst:1 evs:256 " +
		"exponential:true immediates:256 penalty:0 probe_every:0ps psn_range:4096 retries:7 timeout:0ps timeout_floor:10us]"
	if got := fmt.Sprint(Protocol.Defaults); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// ends are a sender with its own peer, and a receiver.
func ends(planes int) (*Sender, *Receiver) {
	m := newMaker(with(nil), transport.Common{MTU: 1000, Planes: planes})
	return newSender(newPeer(m, testPath, 1), 1), newReceiver(m, testPath, 1)
}

// TestReceiverTakesWhatItKnows: besides data, a receiver accepts only probes of the connection or of a path, and
// the answer to its own probe of a path.
func TestReceiverTakesWhatItKnows(t *testing.T) {
	kinds := []transport.Kind{transport.Ack, transport.Nack, transport.Probe, transport.Answer, transport.Control}
	for _, kind := range kinds {
		for _, code := range []uint8{AboutEV, AboutConnection, AboutPorts} {
			_, r := ends(1)
			way := &r.reverse.evs[0]
			way.fails, way.asked = 1, 3
			r.Take(10, &transport.Packet{Kind: kind, Code: code, PSN: way.id, Sent: 5, Bits: [2]uint64{1}})
			probe, answer := kind == transport.Probe, kind == transport.Answer
			if got, want := len(r.answers.list) > 0, probe && code == AboutEV; got != want {
				t.Errorf("%v about %d: it owes an answer about a path: %v", kind, code, got)
			}
			if got, want := len(r.sacks.queue) > 0, probe && code == AboutConnection; got != want {
				t.Errorf("%v about %d: it owes an answer about the connection: %v", kind, code, got)
			}
			if got, want := r.reverse.rtt == 7, answer && code == AboutEV; got != want {
				t.Errorf("%v about %d: its question is answered after %v", kind, code, r.reverse.rtt)
			}
			anew := probe && code == AboutConnection // the sender is alive again
			if got, want := way.fails == 0, answer && code == AboutEV || anew; got != want {
				t.Errorf("%v about %d: %d questions about a path have no answer", kind, code, way.fails)
			}
			if r.n.placed != 0 || r.n.malformed != 0 || r.expect != 0 {
				t.Errorf("%v about %d: it counts as data", kind, code)
			}
		}
	}
	_, r := ends(2)
	for plane, malformed := range []int64{0, 0, 1} {
		r.Take(10, &transport.Packet{Kind: transport.Data, PSN: uint32(plane), Plane: uint8(plane), Payload: 1,
			Bytes: 9})
		if r.n.malformed != malformed {
			t.Errorf("by plane %d of 2: %d malformed packets", plane, r.n.malformed)
		}
	}
}

// TestStampsAreEchoed: a SACK echoes a packet's stamp moved on by the delay at the receiver, so the round trip is
// without it; without a stamp it has none.
func TestStampsAreEchoed(t *testing.T) {
	for _, c := range []struct{ sent, waited, said unit.Time }{{0, 0, 0}, {1, 0, 101}, {1, 30, 131}, {900, 0, 1000}} {
		_, r := ends(1)
		r.Take(1000, &transport.Packet{Kind: transport.Data, Payload: 1, Bytes: 1, Sent: c.sent, Waited: c.waited,
			Flags: transport.Last | transport.Asks})
		var p transport.Packet
		if !r.Say(1100, &p) || p.Kind != transport.Ack || p.Sent != c.said ||
			p.Flags&transport.Stamped != 0 != (c.sent > 0) {
			t.Errorf("a stamp of %v comes back as %v, flags %b, want %v", c.sent, p.Sent, p.Flags, c.said)
		}
	}
}

// TestPlanesThatDoNotWork: when this end's port fails, packets in flight on its plane are retransmitted, and no
// more use it. All connections to the same NIC learn of it.
func TestPlanesThatDoNotWork(t *testing.T) {
	s, _ := ends(2)
	if err := s.Post(0, transport.Request{Bytes: 10_000}); err != nil {
		t.Fatal(err)
	}
	var p transport.Packet
	for i := range 4 {
		if p = (transport.Packet{}); !s.Next(unit.Time(i), i%2, &p) || int(p.Plane) != i%2 {
			t.Fatalf("packet %d goes by plane %d", i, p.Plane)
		}
	}
	s.PlaneIs(10, 1, true) // it does
	if s.InFlight() != 4000 || s.peer.planes() != 0b11 {
		t.Errorf("%v under way, planes %b", s.InFlight(), s.peer.planes())
	}
	s.PlaneIs(10, 1, false)
	if s.InFlight() != 2000 || s.peer.inFlight != 2000 || s.peer.planes() != 0b01 || s.Ready(10, 1) {
		t.Errorf("%v under way, planes %b, ready %v", s.InFlight(), s.peer.planes(), s.Ready(10, 1))
	}
	for _, psn := range []uint32{1, 3, 4} {
		if p = (transport.Packet{}); !s.Next(11, 0, &p) || p.PSN != psn || p.Flags&transport.Again != 0 != (psn < 4) {
			t.Errorf("packet %d goes, want %d", p.PSN, psn)
		}
	}
	s.PlaneIs(20, 1, true)
	if s.peer.planes() != 0b11 || !s.Ready(20, 1) {
		t.Error("a plane works again and is not used")
	}
}

// TestUsablePlanes: a working plane with good values is usable. One with only bad values is usable if no working
// plane has a better one.
func TestUsablePlanes(t *testing.T) {
	for name, c := range map[string]struct {
		down    []int
		without []int // planes whose values are all assumed bad
		usable  [3]bool
	}{
		"all":                           {nil, nil, [3]bool{true, true, true}},
		"one does not work":             {[]int{1}, nil, [3]bool{true, false, true}},
		"one has bad values alone":      {nil, []int{2}, [3]bool{true, true, false}},
		"all have":                      {nil, []int{0, 1, 2}, [3]bool{true, true, true}},
		"all that work have":            {[]int{0}, []int{1, 2}, [3]bool{false, true, true}},
		"the one that works has":        {[]int{0, 1}, []int{2}, [3]bool{false, false, true}},
		"one is down, one bad":          {[]int{0}, []int{1}, [3]bool{false, false, true}},
		"two are bad, the last is down": {[]int{2}, []int{0, 1}, [3]bool{true, true, false}},
	} {
		m := newMaker(with(map[string]any{"evs": 12, "active_evs": 6}), transport.Common{MTU: 1000, Planes: 3})
		p := newPeer(m, testPath, 1)
		for _, plane := range c.down {
			p.own &^= 1 << plane
		}
		for _, plane := range c.without {
			for i := plane; i < 12; i += 3 {
				p.evs.condemn(uint16(i))
			}
		}
		for plane, want := range c.usable {
			if got := p.usable(plane); got != want {
				t.Errorf("%s: plane %d is usable: %v, want %v", name, plane, got, want)
			}
		}
	}
}

// TestLastResort: on a plane with only bad values they take turns, without values of other planes.
func TestLastResort(t *testing.T) {
	p := testProfile(12, 6, 3)
	for i := range uint16(12) {
		if _, ok := p.resort(1); ok != (i >= 2) { // 1 is the first of plane 1
			t.Errorf("with values up to %d assumed bad plane 1 has one: %v", int(i)-1, ok)
		}
		p.condemn(i)
	}
	seen := map[uint16]int{}
	for range 40 {
		v, ok := p.resort(1)
		if !ok || v.number%3 != 1 || v.value != p.values[v.number] {
			t.Fatalf("value %d of plane %d: %v", v.number, v.number%3, ok)
		}
		seen[v.number]++
	}
	if len(seen) != 4 || seen[1] != 10 || seen[4] != 10 || seen[7] != 10 || seen[10] != 10 {
		t.Errorf("four values take turns: %v", seen)
	}
}

// TestReceiversCounters: each by its name.
func TestReceiversCounters(t *testing.T) {
	_, r := ends(1)
	r.n = receiverCounts{reordered: 1, held: 2, placed: 3, duplicates: 4, sacks: 5, malformed: 8}
	r.reverse.asked, r.reverse.changed, r.ports.updates = 9, 10, 11
	for name, want := range map[string]int64{transport.CounterReordered: 1, transport.CounterHeldPeak: 2,
		transport.CounterPlaced: 3, transport.CounterDuplicates: 4, "sacks": 5, "malformed": 8, "reverse_probes": 9,
		"reverse_changes": 10, "port_updates": 11} {
		if n, ok := r.Counter(name); !ok || n != want {
			t.Errorf("%s is %d, %v, want %d", name, n, ok, want)
		}
	}
	s, _ := ends(1)
	s.first = true
	s.n = senderCounts{again: 1, timeouts: 2, skipOnce: 3, always: 4, malformed: 5, penalties: 6, cuts: 7,
		nacks: [len(reasons)]int64{11, 12, 13, 14, 15, 16, 17}}
	s.probes.said, s.ports.updates = 21, 22
	e := &s.peer.evs
	e.skips, e.condemned, e.replaced, e.restored, e.rounds = 31, 32, 33, 34, 35
	for name, want := range map[string]int64{"retransmissions": 1, transport.CounterTimeouts: 2, "skip_once": 3,
		"always_skip": 4, "malformed": 5, "penalties": 6, "cuts": 7, "nack_trimmed": 11, "nack_trimmed_lasthop": 12,
		"nack_no_bitmap": 13, "nack_no_pkt_buffer": 14, "nack_no_resource": 15, "nack_psn_oor_window": 16,
		"nack_unexp_event": 17, "probes": 21, "port_updates": 22, "ev_skips": 31, "ev_bad": 32, "ev_replaced": 33,
		"ev_restored": 34, "ev_rounds": 35} {
		if n, ok := s.Counter(name); !ok || n != want {
			t.Errorf("%s is %d, %v, want %d", name, n, ok, want)
		}
	}
	s.first = false // another connection of its peer reports those
	for _, name := range []string{"ev_skips", "ev_bad", "ev_replaced", "ev_restored", "ev_rounds"} {
		if n, ok := s.Counter(name); !ok || n != 0 {
			t.Errorf("%s is %d, %v, reported twice", name, n, ok)
		}
	}
}
