// Package window has the state of a connection's packets at both ends: which packets are sent and unacknowledged,
// and which have arrived. It is shared by protocols of package transport that number a connection's packets
// consecutively. They decide when a packet is lost, and which path it takes.
//
// Packets are numbered from 0 in 64 bits here; the wire has the low 32.
package window

import (
	"errors"
	"math/bits"

	"railyard/rc"
	"railyard/transport"
	"railyard/unit"
)

// State is the state of a packet that was sent.
type State uint8

// States of packets.
const (
	Flying State = iota // in flight, as far as the sender knows
	Lost                // lost: to be retransmitted
	Done                // acknowledged
)

// Slot is one packet from its transmission until it and all earlier packets are acknowledged.
type Slot struct {
	Sent    unit.Time // time of its latest transmission
	Offset  uint64    // offset in its message, in packets of
	Bytes   uint64    // so many
	Message uint32
	Payload uint32
	Path    uint16 // path of its latest transmission, in the protocol's numbers
	Tries   uint8  // number of retransmissions
	State   State
	Last    bool // whether it ends its message
	Tells   bool
}

// message is one that was posted and is not acknowledged.
type message struct {
	transport.Request
	last uint64 // PSN of its last packet, once it was sent
}

// few is the number of packets for which an end first allocates memory.
const few = 8

// Out is a sender's side. It has memory for the packets in flight.
type Out struct {
	slots     []Slot // a ring by number
	size      uint64 // most that it grows to
	mtu       uint64
	una, next uint64 // the oldest packet that is not acknowledged, the next new one

	messages []message // from head on: messages that are not acknowledged
	head     int
	current  int    // index in messages of the message whose packets are built
	offset   uint64 // in it
	first    uint32 // number of messages[0]

	lost     []uint64 // a ring: packets to be retransmitted, in the order of Lose
	lostHead int
	lostLen  int

	flying      int
	flyingBytes unit.Bytes
	done        []transport.Completion
	failed      bool
}

// NewOut returns an Out for a maximum number of packets, a power of two.
func NewOut(packets int, mtu unit.Bytes) Out {
	if packets&(packets-1) != 0 {
		panic("window: not a power of two")
	}
	return Out{size: uint64(packets), mtu: uint64(mtu)}
}

// grow doubles the room for packets, and for those to be retransmitted.
func (o *Out) grow() {
	slots := make([]Slot, min(max(few, 2*len(o.slots)), int(o.size)))
	for psn := o.una; psn < o.next; psn++ {
		slots[psn&uint64(len(slots)-1)] = o.slots[psn&uint64(len(o.slots)-1)]
	}
	o.slots = slots
}

// room makes the list of packets to retransmit as long as the list of packets.
func (o *Out) room() {
	lost := make([]uint64, len(o.slots))
	for i := range o.lostLen {
		lost[i] = o.lost[(o.lostHead+i)&(len(o.lost)-1)]
	}
	o.lost, o.lostHead = lost, 0
}

// Close gives back the room for packets, when all messages are acknowledged and no other follows.
func (o *Out) Close() {
	o.slots, o.lost, o.messages, o.done = nil, nil, nil, nil
	o.lostHead, o.lostLen, o.head, o.current = 0, 0, 0, 0
}

// What Post refuses.
var (
	errNegative = errors.New("window: a message has less than no bytes")
	errFailed   = errors.New("window: the connection was given up")
)

// Post adds a message.
func (o *Out) Post(r transport.Request) error {
	if r.Bytes < 0 {
		return errNegative
	}
	if o.failed {
		return errFailed
	}
	if o.head > 0 && o.head == len(o.messages) { // all are acknowledged: start anew in the same memory
		o.first += uint32(o.head)
		o.messages, o.head, o.current = o.messages[:0], 0, 0
	} else if o.head > 64 && o.head > len(o.messages)/2 {
		o.first += uint32(o.head)
		o.messages = append(o.messages[:0], o.messages[o.head:]...)
		o.current -= o.head
		o.head = 0
	}
	o.messages = append(o.messages, message{Request: r})
	return nil
}

// Unsent reports whether there is a packet that was never sent, and a slot for it.
func (o *Out) Unsent() bool {
	return o.current < len(o.messages) && o.next-o.una < o.size && !o.failed
}

// Waiting reports whether some message is not acknowledged as a whole.
func (o *Out) Waiting() bool { return o.head < len(o.messages) && !o.failed }

// More reports whether data are left to be sent for the first time.
func (o *Out) More() bool { return o.current < len(o.messages) && !o.failed }

// New builds the next packet that was never sent; it leaves now by a path. Unsent must be true.
func (o *Out) New(now unit.Time, path int) (psn uint64, s *Slot) {
	m := &o.messages[o.current]
	left := uint64(m.Bytes) - o.offset
	if psn = o.next; psn-o.una == uint64(len(o.slots)) {
		o.grow()
	}
	s = &o.slots[psn&uint64(len(o.slots)-1)]
	*s = Slot{Sent: now, Offset: o.offset, Bytes: uint64(m.Bytes), Message: o.first + uint32(o.current),
		Payload: uint32(min(left, o.mtu)), Path: uint16(path), Last: left <= o.mtu, Tells: m.Tells}
	o.offset += uint64(s.Payload)
	if s.Last {
		m.last = psn
		o.current++
		o.offset = 0
	}
	o.next++
	o.fly(s, 1)
	return psn, s
}

func (o *Out) fly(s *Slot, n int) {
	o.flying += n
	o.flyingBytes += unit.Bytes(n) * unit.Bytes(s.Payload)
}

// Again returns the packet that has been lost for longest; it leaves now by a path. false: there is none.
func (o *Out) Again(now unit.Time, path int) (psn uint64, s *Slot, ok bool) {
	psn, s, ok = o.oldestLost()
	if !ok {
		return 0, nil, false
	}
	o.dropLost()
	s.State, s.Sent, s.Path = Flying, now, uint16(path)
	s.Tries = min(s.Tries, 254) + 1
	o.fly(s, 1)
	return psn, s, true
}

// AnyLost reports whether a packet waits to be sent again.
func (o *Out) AnyLost() bool {
	_, _, ok := o.oldestLost()
	return ok
}

// oldestLost skips packets that were acknowledged while they waited.
func (o *Out) oldestLost() (psn uint64, s *Slot, ok bool) {
	for o.lostLen > 0 {
		psn = o.lost[o.lostHead]
		if s = o.At(psn); s != nil && s.State == Lost {
			return psn, s, true
		}
		o.dropLost()
	}
	return 0, nil, false
}

func (o *Out) dropLost() {
	o.lostHead = (o.lostHead + 1) & (len(o.lost) - 1)
	o.lostLen--
}

// Lose marks a packet in flight as one to retransmit; false: it is not in flight.
func (o *Out) Lose(psn uint64) bool {
	s := o.At(psn)
	if s == nil || s.State != Flying {
		return false
	}
	if len(o.lost) < len(o.slots) {
		o.room()
	}
	if o.lostLen == len(o.lost) {
		o.tidy()
	}
	s.State = Lost
	o.fly(s, -1)
	o.lost[(o.lostHead+o.lostLen)&(len(o.lost)-1)] = psn
	o.lostLen++
	return true
}

// tidy removes packets from the ring that have arrived meanwhile. There is always a free entry: all other packets
// are in the window, and a packet in the window is in flight.
func (o *Out) tidy() {
	n := o.lostLen
	head := o.lostHead
	o.lostLen = 0
	for i := range n {
		psn := o.lost[(head+i)&(len(o.lost)-1)]
		if s := o.At(psn); s != nil && s.State == Lost {
			o.lost[(head+o.lostLen)&(len(o.lost)-1)] = psn
			o.lostLen++
		}
	}
}

// At is the packet of a number; nil: it was never sent, or is forgotten.
func (o *Out) At(psn uint64) *Slot {
	if psn-o.una >= o.next-o.una {
		return nil
	}
	return &o.slots[psn&uint64(len(o.slots)-1)]
}

// Full returns the number of a packet in flight, given its low half.
func (o *Out) Full(psn uint32) uint64 { return full(psn, o.una) }

// full returns the number nearest to another number whose low half is psn.
func full(psn uint32, near uint64) uint64 { return near + uint64(int64(int32(psn-uint32(near)))) }

// Ack records the arrival of a packet; false: it was known.
func (o *Out) Ack(psn uint64) (s *Slot, news bool) {
	s = o.At(psn)
	if s == nil || s.State == Done {
		return s, false
	}
	if s.State == Flying {
		o.fly(s, -1)
	}
	s.State = Done
	return s, true
}

// Told calls a function with each packet that an answer reports and that is not yet removed: all before Expect, and
// those in its bits.
func (o *Out) Told(p *transport.Packet, came func(psn uint64)) {
	una := o.una
	for psn := una; psn < min(o.Full(p.Expect), o.next); psn++ {
		came(psn)
	}
	base := o.Full(p.Base)
	for w, word := range p.Bits {
		for ; word != 0; word &= word - 1 {
			if psn := base + uint64(w<<6+bits.TrailingZeros64(word)); psn-una < o.next-una {
				came(psn)
			}
		}
	}
}

// Advance forgets the oldest packets that have arrived and completes their messages.
func (o *Out) Advance() {
	for o.una < o.next && o.slots[o.una&uint64(len(o.slots)-1)].State == Done {
		o.una++
	}
	for o.head < o.current && o.messages[o.head].last < o.una {
		o.complete(rc.Success)
	}
}

func (o *Out) complete(s rc.Status) {
	if id := o.messages[o.head].ID; id != 0 {
		o.done = append(o.done, transport.Completion{ID: id, Status: s})
	}
	o.head++
}

// Fail ends the oldest message with a status, and flushes all others.
func (o *Out) Fail(why rc.Status) {
	for o.head < len(o.messages) {
		o.complete(why)
		why = rc.Flushed
	}
	o.failed, o.lostLen, o.flying, o.flyingBytes = true, 0, 0, 0
	o.current, o.una = len(o.messages), o.next
}

// Failed reports whether it gave up.
func (o *Out) Failed() bool { return o.failed }

// Completed pops a completion.
func (o *Out) Completed() (c transport.Completion, ok bool) {
	if len(o.done) == 0 {
		return c, false
	}
	c = o.done[0]
	o.done = append(o.done[:0], o.done[1:]...)
	return c, true
}

// Flying returns the number of packets in flight.
func (o *Out) Flying() int { return o.flying }

// InFlight is their payload.
func (o *Out) InFlight() unit.Bytes { return o.flyingBytes }

// Range is the oldest packet that is not acknowledged, and the next new one.
func (o *Out) Range() (una, next uint64) { return o.una, o.next }

// Fill writes the fields of a packet about itself, with its time stamp.
func (s *Slot) Fill(psn uint64, p *transport.Packet) {
	*p = transport.Packet{Kind: transport.Data, PSN: uint32(psn), Message: s.Message, Payload: s.Payload,
		Offset: s.Offset, Bytes: s.Bytes, Sent: s.Sent, Flags: transport.Stamped}
	if s.Tries > 0 {
		p.Flags |= transport.Again
	}
	if s.Last {
		p.Flags |= transport.Last
		if s.Tells {
			p.Flags |= transport.Tells
		}
	}
}
