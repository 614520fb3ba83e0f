package rc

import "railyard/roce"

// mostHeaders bounds the bytes of a request packet on an IPv4 wire without its payload: preamble and gap
// included, with the longest of its headers, that of an atomic.
const mostHeaders = roce.BaseLen + roce.AtomicETHLen + roce.PreambleIFG

// Wire returns the largest number of bytes of a full packet on the wire.
func (c *Config) Wire() int64 { return int64(c.MTU) + mostHeaders }

// Idle reports that everything posted is acknowledged.
func (q *QP) Idle() bool { return q.una == q.end }

// Backlog returns what is posted and has to go, in bytes of wire: at least that, and at most a packet's
// headers more for each packet, and a packet for one that goes again. What is lost counts until it has gone
// again, a READ as its request. It stops counting once it has come to so much.
func (q *QP) Backlog(upto int64) (wire int64) {
	wire = int64(q.high-q.next) * q.cfg.Wire()
	if q.sel != nil {
		wire += int64(q.sel.pending) * q.cfg.Wire()
	}
	mtu := int64(q.cfg.MTU)
	for i := int(q.cur); i < len(q.wrs) && wire < upto; i++ {
		switch w := &q.wrs[i]; {
		case w.end <= q.high:
		case w.Verb.answered():
			wire += mostHeaders
		default:
			from := max(q.high, w.first)
			wire += w.Len - int64(from-w.first)*mtu + int64(w.end-from)*mostHeaders
		}
	}
	return wire
}
