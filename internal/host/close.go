package host

import (
	"railyard/transport"
	"railyard/unit"
)

// ending is whether a connection will carry more.
type ending uint8

const (
	open    ending = iota
	closing        // the connection accepts no further message,
	closed         // all of its messages are acknowledged as well
)

// Close ends a connection: it accepts no further message. When all its messages are acknowledged, its congestion
// control stops, and other connections to the same peer no longer count it. Its numbers stay.
func (h *Hosts) Close(c int32) { h.senders[c].ending = closing }

// Closed reports whether a connection was closed and all its messages are acknowledged.
func (h *Hosts) Closed(c int32) bool { return h.senders[c].ending == closed }

// close closes a sender whose messages are acknowledged.
func (h *Hosts) close(c int32, s *sender) {
	s.ending, s.paths = closed, nil
	s.qp.Close()
	s.pace.Timer = unit.Never
	h.rearm(c, s)
}

// closeEnd releases the memory of a protocol's end.
func closeEnd(e transport.End) {
	if x, ok := e.(transport.Closer); ok {
		x.Close()
	}
}

// part removes an end whose messages are acknowledged from the ends of its peer.
func (h *Hosts) part(c int32, e *ends) {
	s := &h.senders[c]
	s.ending = closed
	of := h.peers[peerKey{int32(s.service), s.nic, s.dst}]
	before := c
	for h.carried[before].next != c {
		before = h.carried[before].next
	}
	h.carried[before].next = e.next
	switch {
	case before == c: // the connection was the only one
		of.last = -1
	case of.last == c:
		of.last = before
	}
	e.next = c
	closeEnd(e.send)
}
