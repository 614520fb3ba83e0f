package rcudp

import (
	"net/netip"

	"railyard/rc"
	"railyard/unit"
)

// A switch that trims (docs/references.md, trimming) keeps a datagram's headers, adjusts the lengths of IP and UDP,
// and sets a DSCP that no other packet has. Its ICRC was trimmed too and covers the missing payload, so it cannot
// be verified. A datagram therefore counts as trimmed if it has such a DSCP and no valid ICRC. An untrimmed one has
// a valid ICRC under any DSCP, which the ICRC does not cover. Only the queue pair and PSN of a trimmed datagram are
// used, and only from the queue pair's own peer. A forged one can cause at most a retransmission.

// TrimDSCP are the DSCPs of trimmed datagrams: trimmed in the fabric, and at the port to their receiver. They may
// be equal.
type TrimDSCP struct{ DSCP, LastHop uint8 }

func (t *TrimDSCP) mask() uint64 {
	if t == nil {
		return 0
	}
	return 1<<(t.DSCP&63) | 1<<(t.LastHop&63)
}

// trimmed processes a datagram that a switch trimmed to its headers.
func (e *Endpoint) trimmed(now unit.Time, src netip.AddrPort, tos uint8, b []byte) {
	h := &e.in
	k := &e.kinds[b[0]]
	if err := h.DecodeBTH(b); err != nil || k.take == nil || !k.paced {
		e.Count.Malformed++ // only packets with data are ever trimmed
		return
	}
	c := e.addressed(src)
	if c == nil {
		return
	}
	e.Count.Trimmed++
	if tos&3 == ce {
		e.marked(now, c, k)
	}
	if h.Opcode.IsResponse() {
		c.QP.AnswerTrimmed(now, h.PSN)
		return
	}
	t := e.cfg.Trim
	a := &e.answer
	c.QP.Trimmed(h.PSN, t.LastHop != t.DSCP && tos>>2 == t.LastHop, a)
	if a.Reply {
		e.answers(c)
	}
	if a.Verdict == rc.OutOfOrder {
		e.needs(now, c)
	}
}

// answers sends the responder's answers.
func (e *Endpoint) answers(c *Conn) {
	p := e.answer.Packet
	p.Marked, c.echo = c.echo, false
	if c.FarEnd {
		p.VA = uint64(e.came)
	}
	e.push(control{c, p, c.Service.tos()})
}
