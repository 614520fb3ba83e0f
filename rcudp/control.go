package rcudp

import (
	"slices"

	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Control packets are small, precede all data and are not paced: the acknowledgements that queue pairs give, and
// CNPs. Requests and the responses that carry data leave by nextData, because the pace is theirs. A new kind of
// control packet (a grant, a probe) is
//
//   - an opcode that roce encodes and decodes, and the fields it carries in rc.Packet;
//   - a row in kinds: who takes it, and how it is written where that is not as rc.Packet says;
//   - calls of push wherever it is due: in the taker of what it answers, or in Tick.

// kind describes an opcode to an endpoint.
type kind struct {
	take  func(e *Endpoint, now unit.Time, c *Conn, p *rc.Packet) // nil: not for our queue pairs
	paced bool                                                    // whether data is paced: marks are answered
	head  func(h *roce.Header)                                    // sets the header fields that differ; nil: none
	zeros int                                                     // reserved bytes after its headers
}

// kinds is the table of control packets: requests, responses, and the following ones.
func kinds() (k [256]kind) {
	for opcode := roce.Opcode(0); opcode <= maxRC; opcode++ {
		k[opcode] = kind{take: (*Endpoint).request, paced: true}
		if opcode.IsResponse() {
			k[opcode].take = (*Endpoint).response
		}
	}
	k[roce.Acknowledge].paced = false
	k[roce.CNP] = kind{take: (*Endpoint).notified, zeros: roce.CNPPadLen,
		head: func(h *roce.Header) { h.BECN, h.Migrated = true, false }}
	credit := func(h *roce.Header) { h.Credit = h.VA }
	k[roce.CreditGrant] = kind{take: (*Endpoint).granted, head: credit}
	k[roce.CreditRequest] = kind{take: (*Endpoint).requested, head: credit}
	return k
}

// maxRC is the last opcode of reliable connections (IBTA table 38).
const maxRC = 0x1f

// zeros are reserved bytes, padding, and the place of an ICRC.
var zeros [64]byte

// control is a queued control packet.
type control struct {
	conn *Conn
	p    rc.Packet
	tos  uint8
}

// maxControl bounds the queued control packets. Beyond it they are lost, as in a full NIC queue.
const maxControl = 1 << 16

func (e *Endpoint) push(ct control) {
	if len(e.control) < maxControl {
		e.control = append(e.control, ct)
	}
}

// Silence removes the queued control packets of a queue pair.
func (e *Endpoint) Silence(c *Conn) {
	e.control = slices.DeleteFunc(e.control, func(ct control) bool { return ct.conn == c })
}

func (e *Endpoint) nextControl(buf []byte, id uint16, d *Datagram) (ok bool) {
	if len(e.control) == 0 {
		return false
	}
	ct := e.control[0]
	if e.control = e.control[1:]; len(e.control) == 0 {
		e.control = nil
	}
	if ct.p.Opcode == roce.Acknowledge {
		e.Count.Acks++
		if !ct.p.Syndrome.IsGood() {
			e.Count.Naks++
		}
	}
	e.tells = ct.conn.FarEnd && ct.p.Opcode == roce.Acknowledge
	e.encode(buf, ct.conn, &ct.p, ct.tos, id, d)
	e.tells = false
	return true
}

// marked answers congestion experienced with a CNP, when one is due. Marked packets without pacing,
// acknowledgements and CNPs, are only counted, because a lower data rate would not shorten their queue. The DCQCN
// paper's notification point checks the flow's data only, and so does package host.
func (e *Endpoint) marked(now unit.Time, c *Conn, k *kind) {
	e.Count.CE++
	c.CE++
	c.echo = c.echo || k.paced
	if !k.paced || now-c.lastCNP < c.Service.CNPGap {
		return
	}
	c.lastCNP = now
	e.Count.CNPsSent++
	e.push(control{c, rc.Packet{Opcode: roce.CNP}, c.Service.CNPDSCP << 2})
}

// notified is the reaction point.
func (e *Endpoint) notified(now unit.Time, c *Conn, _ *rc.Packet) {
	e.Count.CNPs++
	c.CNPs++
	c.notified(now)
}
