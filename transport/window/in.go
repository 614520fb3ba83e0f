package window

import "railyard/transport"

// In is a receiver's side. It has room for what waits.
type In struct {
	slots   []entry // a ring by number
	size    uint64  // most that it grows to
	ordered bool
	expect  uint64 // all PSNs before it have arrived
	high    uint64 // no packet from here on has arrived
	mtu     uint64

	got     []partly // without order: a ring of messages by number, as long as slots
	arrived []uint32 // messages that are whole, and not popped

	Received uint64 // payload, each byte once
	Late     uint32 // packets that arrived out of order
	Twice    int64  // packets that arrived twice
	Beyond   int64  // packets too far ahead to be stored
	Peak     int    // maximum of packets that waited for an earlier one
	held     int
}

// entry is one packet that arrived before earlier ones.
type entry struct {
	message uint32
	here    bool
	last    bool
}

// partly is the number of packets of a message that have arrived; none once all have.
type partly struct{ message, packets uint32 }

// NewIn returns an In that records a number of packets beyond the oldest missing one, a power of two. With order,
// messages arrive in the order of their packets. Without order, each arrives when all its packets have.
func NewIn(packets int, mtu uint64, ordered bool) In {
	if packets&(packets-1) != 0 {
		panic("window: not a power of two")
	}
	return In{size: uint64(packets), mtu: mtu, ordered: ordered}
}

// grow makes room for a packet. Partly received messages have packets from the oldest missing one on, so there are
// no more messages than packets.
func (in *In) grow(psn uint64) {
	n := uint64(max(few, 2*len(in.slots)))
	for psn-in.expect >= n {
		n *= 2
	}
	n = min(n, in.size)
	slots, got := make([]entry, n), []partly(nil)
	for p := in.expect; p < in.high; p++ {
		slots[p&(n-1)] = in.slots[p&uint64(len(in.slots)-1)]
	}
	if !in.ordered {
		got = make([]partly, n)
	}
	for _, m := range in.got {
		if m.packets > 0 {
			got[uint64(m.message)&(n-1)] = m
		}
	}
	in.slots, in.got = slots, got
}

// Close frees the memory for waiting packets, when all messages have arrived and no other will.
func (in *In) Close() { in.slots, in.got, in.arrived = nil, nil, nil }

// Full makes a packet's number of its low half.
func (in *In) Full(psn uint32) uint64 { return full(psn, in.expect) }

// Verdict classifies a packet that arrived.
type Verdict uint8

// Verdicts.
const (
	Fresh  Verdict = iota // the payload is new and is written to memory
	Before                // a duplicate
	Ahead                 // the packet is too far ahead
)

// Take notes a data packet.
func (in *In) Take(p *transport.Packet) Verdict {
	psn := in.Full(p.PSN)
	switch {
	case psn-in.expect >= 1<<63: // below
		in.Twice++
		return Before
	case psn-in.expect >= in.size:
		in.Beyond++
		return Ahead
	case psn-in.expect >= uint64(len(in.slots)):
		in.grow(psn)
	}
	e := &in.slots[psn&uint64(len(in.slots)-1)]
	if e.here {
		in.Twice++
		return Before
	}
	*e = entry{p.Message, true, p.Flags&transport.Last != 0}
	in.Received += uint64(p.Payload)
	if psn != in.high {
		in.Late++
	}
	in.high = max(in.high, psn+1)
	if !in.ordered {
		in.count(p)
	}
	in.held++
	in.advance()
	in.Peak = max(in.Peak, in.held)
	return Fresh
}

// Counter reports what every receiver of this package counts, by its name in package transport.
func (in *In) Counter(name string) (n int64, ok bool) {
	switch name {
	case transport.CounterReordered:
		return int64(in.Late), true
	case transport.CounterDuplicates:
		return in.Twice, true
	case transport.CounterHeldPeak:
		return int64(in.Peak), true
	case transport.CounterPlaced:
		return int64(in.Received), true
	}
	return 0, false
}

// count notes a packet of a message that needs no order.
func (in *In) count(p *transport.Packet) {
	m := &in.got[p.Message&uint32(len(in.got)-1)]
	if m.packets == 0 {
		m.message = p.Message
	}
	if m.packets++; uint64(m.packets) == max(1, (p.Bytes+in.mtu-1)/in.mtu) {
		m.packets = 0
		in.arrived = append(in.arrived, p.Message)
	}
}

// advance moves past all consecutive packets that have arrived.
func (in *In) advance() {
	for in.expect < in.high {
		e := &in.slots[in.expect&uint64(len(in.slots)-1)]
		if !e.here {
			return
		}
		if in.ordered && e.last {
			in.arrived = append(in.arrived, e.message)
		}
		e.here = false
		in.expect++
		in.held--
	}
}

// Arrived pops a message that is whole.
func (in *In) Arrived() (message uint32, ok bool) {
	if len(in.arrived) == 0 {
		return 0, false
	}
	message = in.arrived[0]
	in.arrived = append(in.arrived[:0], in.arrived[1:]...)
	return message, true
}

// Holes reports whether a packet has arrived after a missing one.
func (in *In) Holes() bool { return in.high > in.expect }

// Expect is the oldest packet that has not arrived.
func (in *In) Expect() uint64 { return in.expect }

// High is the highest packet that has arrived, plus 1.
func (in *In) High() uint64 { return in.high }

// Bits returns which of 128 packets from base on have arrived.
func (in *In) Bits(base uint64) (bits [2]uint64) {
	for i := range uint64(128) {
		psn := base + i
		if psn >= in.high {
			break
		}
		if psn < in.expect || in.slots[psn&uint64(len(in.slots)-1)].here {
			bits[i>>6] |= 1 << (i & 63)
		}
	}
	return bits
}
