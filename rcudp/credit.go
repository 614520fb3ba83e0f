package rcudp

import (
	"railyard/cc"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Credit on sockets: a connection whose controller needs credit requests it from its peer. An endpoint grants to
// all requesters in turn, at a share of the highest line rate of its connections. A receiver does not depend on its
// sender's algorithm, because it grants by its own parameters. What READ brings back is answered, not requested,
// and needs no credit. A peer without support for credit never grants.

// granter is the granter of an endpoint.
type granter struct {
	cc.Granter
	conns []*Conn // connections by flow; nil: closed
	line  unit.Rate
}

// ask pushes a request for credit, if one is due.
func (c *Conn) ask(now unit.Time) {
	if c.end == nil || !c.pace.Credited() {
		return
	}
	if c.posted = false; c.begins {
		c.begins = false
		c.pace.Begin(now)
	}
	if total, ok := c.pace.Ask(now, c.QP.Backlog(c.pace.Ahead())); ok {
		c.end.say(c, roce.CreditRequest, total)
	}
}

// say queues a request or a grant; both travel as CNPs do.
func (e *Endpoint) say(c *Conn, opcode roce.Opcode, total int64) {
	e.push(control{c, rc.Packet{Opcode: opcode, VA: uint64(total)}, c.Service.CNPDSCP << 2})
}

// asks makes connections with newly posted data send requests.
func (e *Endpoint) asks(now unit.Time) {
	e.posted = false
	for _, c := range e.ring {
		if c.posted {
			c.ask(now)
		}
	}
}

// requested processes a request at the receiver.
func (e *Endpoint) requested(now unit.Time, c *Conn, _ *rc.Packet) {
	e.join(c)
	e.granter.Asked(c.flow, int64(e.in.Credit))
	e.grant(now)
}

// needs grants credit for a trimmed packet before its sender requests it. The sender must have requested before, or
// use this end's algorithm.
func (e *Endpoint) needs(now unit.Time, c *Conn) {
	if c.flow < 0 && !c.pace.Credited() {
		return
	}
	e.join(c)
	e.granter.Needs(c.flow, c.cfg.Wire())
	e.grant(now)
}

// join adds a connection to the granter.
func (e *Endpoint) join(c *Conn) {
	if c.flow >= 0 {
		return
	}
	g := &e.granter
	g.line = max(g.line, c.pace.Line)
	c.flow = g.Join(e.cfg.Credit, c.cfg.Wire(), 0)
	if int(c.flow) == len(g.conns) {
		g.conns = append(g.conns, nil)
	}
	g.conns[c.flow] = c
}

// forget ends a connection's requests.
func (e *Endpoint) forget(c *Conn) {
	if c.flow >= 0 {
		e.granter.Leave(c.flow)
		e.granter.conns[c.flow], c.flow = nil, -1
	}
}

// grant pushes the grants that are due.
func (e *Endpoint) grant(now unit.Time) {
	for {
		flow, total, ok := e.granter.Next(now, e.granter.line)
		if !ok {
			return
		}
		if c := e.granter.conns[flow]; c != nil {
			e.say(c, roce.CreditGrant, total)
		}
	}
}

// granted receives a grant for the sender: it may send more.
func (e *Endpoint) granted(now unit.Time, c *Conn, _ *rc.Packet) {
	if c.pace.Credited() && c.pace.Granted(now, int64(e.in.Credit)) {
		c.ask(now)
	}
}
