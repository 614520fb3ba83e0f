package rc

import "railyard/roce"

// mostHeaders is the maximum of bytes on an IPv4 wire of a request packet without payload: with preamble, gap and
// the longest headers, those of an atomic.
const mostHeaders = roce.BaseLen + roce.AtomicETHLen + roce.PreambleIFG

// Wire returns the largest number of bytes of a full packet on the wire.
func (c *Config) Wire() int64 { return int64(c.MTU) + mostHeaders }

// Idle reports that everything posted is acknowledged.
func (q *QP) Idle() bool { return q.una == q.end }

// Backlog returns a lower bound of the posted and unsent bytes on the wire. The error is at most a packet's headers
// for each packet, and a packet for each retransmission. Lost packets count until they are retransmitted; a READ
// counts as its request. Counting stops at the given limit.
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
