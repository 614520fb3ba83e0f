package rcudp

import (
	"fmt"
	"net"
	"net/netip"

	"railyard/cc"
	"railyard/entropy"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Conn is one queue pair of an endpoint: the protocol machine, who is at the
// other end, and the pace at which it may send.
type Conn struct {
	QP      rc.QP
	QPN     uint32
	DestQPN uint32
	Peer    netip.Addr
	Peers   []netip.Addr // of the peer on each plane, for MRC, Peer first; nil: Peer alone
	Ports   []uint16     // UDP source ports; more than one are taken in turn, packet by packet
	// Choose makes the chooser among several ports for requests; nil, or where it makes none: in turn.
	Choose entropy.Make

	// Service is the treatment of the packets; nil: as the endpoint's Config says, from Add on.
	Service *Service

	// OnComplete and OnReceive see finished work requests and receives, with
	// the endpoint locked.
	OnComplete func(rc.Completion)
	OnReceive  func(rc.Received)
	// OnEstablished sees the first packet that reaches a queue pair in RTR, OnError
	// its step to ERR, with the NAK by which the responder ended it, if it was that.
	OnEstablished func()
	OnError       func(why roce.Syndrome)
	// OnRate sees every change of the rate; nil when nobody cares. Of a controller with a window that is
	// what its window lets go in a round trip, and changes below a hundredth are left out: each answer
	// makes one.
	OnRate func(now unit.Time, r unit.Rate)

	// FarEnd: our acknowledgements say how long we have kept what they answer (farend.go).
	FarEnd bool

	// Paced holds the connection to its line rate too; without it only a rate
	// that congestion control has lowered is paced.
	Paced bool

	CNPs, CE, Timeouts int64

	cfg         *rc.Config
	mem         *rc.Memory
	mrc         *mrcEnds // nil: the connection is RC's
	pace        cc.Pacer
	maxInFlight unit.Bytes

	end            *Endpoint // that it was added to
	flow           int32     // at the endpoint's granter; below zero: none
	posted, begins bool      // it has to ask for credit; nothing was under way when something was posted

	greeted bool
	failed  bool
	echo    bool // a request since the last answer came in marked
	turn    entropy.Turn
	paths   *entropy.Paths
	burst   unit.Time
	now     unit.Time
	told    unit.Rate      // to OnRate
	udp     []*net.UDPAddr // by plane
	lastCNP unit.Time
}

// NewConn returns a connection in RESET. mem are the regions the peer may
// reach, line the rate that is not exceeded, maxInFlight how many payload bytes
// may be under way at a time: what the peer's socket buffer holds.
func NewConn(cfg *rc.Config, mem *rc.Memory, ctl cc.Controller, line unit.Rate, maxInFlight unit.Bytes) *Conn {
	c := &Conn{QP: rc.NewQP(cfg, mem), cfg: cfg, mem: mem, pace: cc.Pacer{Line: line},
		maxInFlight: maxInFlight,
		flow:        -1}
	c.SetController(0, ctl)
	return c
}

// SetController puts the connection under a controller, nil for none: it begins anew.
func (c *Conn) SetController(now unit.Time, ctl cc.Controller) {
	if ctl == nil {
		ctl = cc.None{Line: c.pace.Line}
	}
	c.now, c.pace.MTU, c.pace.Named = now, unit.Bytes(c.cfg.MTU), c.cfg.Named
	c.pace.Start(ctl)
	c.decide()
}

// Rate returns the rate that congestion control currently allows.
func (c *Conn) Rate() unit.Rate {
	if r, ok := c.rateMRC(); ok {
		return r
	}
	return c.pace.Rate
}

// SetInFlight says how many payload bytes may be under way at a time.
func (c *Conn) SetInFlight(b unit.Bytes) { c.maxInFlight = b }

// SetPeer says where packets go and where they come from.
func (c *Conn) SetPeer(a netip.Addr) { c.Peer, c.udp = a.Unmap(), nil }

// remote is the peer's address on a plane.
func (c *Conn) remote(plane uint8) netip.Addr {
	if int(plane) < len(c.Peers) {
		return c.Peers[plane]
	}
	return c.Peer
}

// Restart forgets what the connection has learned and counted, as a queue pair
// in RESET does: pace, rate and the limit of what is under way are new.
func (c *Conn) Restart(now unit.Time, ctl cc.Controller, maxInFlight unit.Bytes) {
	c.maxInFlight, c.lastCNP, c.turn, c.paths = maxInFlight, 0, entropy.Turn{}, nil
	c.CNPs, c.CE, c.Timeouts, c.greeted, c.failed, c.echo = 0, 0, 0, false, false, false
	c.told, c.FarEnd = 0, false
	c.DestQPN, c.Peer, c.Peers, c.udp = 0, netip.Addr{}, nil, nil
	if c.posted, c.begins = false, false; c.end != nil {
		c.end.forget(c)
	}
	c.SetController(now, ctl)
}

// Controller returns the connection's congestion control.
func (c *Conn) Controller() cc.Controller { return c.pace.Ctl }

// port returns the source port of the next packet.
func (c *Conn) port(now unit.Time, p *rc.Packet) uint16 {
	switch {
	case len(c.Ports) == 1:
		return c.Ports[0]
	case p.Opcode <= maxRC && !p.Opcode.IsResponse():
		if c.Choose != nil && c.paths == nil {
			c.paths = entropy.NewPaths(c.Choose(len(c.Ports), c.QPN))
		}
		return c.Ports[c.paths.Next(now, p.PSN, &c.turn, len(c.Ports))]
	}
	return c.Ports[c.turn.Next(len(c.Ports))]
}

// ready reports whether there is something to send, pacing aside.
func (c *Conn) ready() bool { return c.QP.Responding() || c.QP.Pending() && !c.blocked() }

// blocked reports that no new packet may go; what was lost may, but not without credit.
func (c *Conn) blocked() bool {
	in := c.QP.InFlightBytes()
	return (c.noRoom(in) || c.pace.Blocked(in)) && !c.QP.PastWindow() || c.pace.Broke()
}

// noRoom reports that as much is under way as the peer's socket buffer holds.
func (c *Conn) noRoom(in unit.Bytes) bool { return in > 0 && in >= c.maxInFlight }

// take produces the next packet if the pace allows one now.
func (c *Conn) take(now unit.Time, p *rc.Packet) bool {
	if c.pace.NextAt > now {
		return false
	}
	if c.QP.NextResponse(p) {
		if c.QP.State() == rc.Error { // what was to be said before it died is said
			c.drain()
		}
		return true
	}
	if c.blocked() || !c.QP.Next(now, p) {
		return false
	}
	// The packet that fills a window asks for the ACK that opens it again, and the one behind which nothing
	// goes before the receiver grants more asks for its own.
	if in := c.QP.InFlightBytes(); (c.noRoom(in) || c.pace.Asks(in)) && !c.QP.Resending() ||
		c.pace.Empties(int64(roce.DataLen(p.Opcode, int(p.Payload))+roce.PreambleIFG)) {
		c.QP.Ask(now, p)
	}
	c.pace.Launched(now, p.PSN, p.AckReq, p.Again)
	return true
}

// sent charges a packet of so many wire bytes to the pacer.
func (c *Conn) sent(now unit.Time, wire int) {
	c.now = now
	if c.pace.Spent(now, int64(wire)) {
		c.decide()
	}
	if c.Paced || c.pace.Rate < c.pace.Line {
		c.pace.Delay(now, int64(wire), c.burst)
	}
}

// acknowledged tells the controller of newly acknowledged bytes; false: it does not want to know.
func (c *Conn) acknowledged(now unit.Time, p *rc.Packet, a cc.Ack) bool {
	una, _, _ := c.QP.Sequence()
	psn := una
	if about, ok := p.About(); ok {
		psn = about
	}
	c.now = now
	a.InFlight, a.Marked = c.QP.InFlightBytes(), p.Marked
	return c.pace.Acknowledged(now, una, psn, a)
}

func (c *Conn) notified(now unit.Time) {
	c.now = now
	c.pace.Ctl.OnCNP(now)
	c.decide()
}

// tick runs the controller's timers that are due, one by one: a real clock may
// be late by several. After a long sleep only the last ones matter.
func (c *Conn) tick(now unit.Time) {
	c.now = now
	for i := 0; c.pace.Timer <= now; i++ {
		at := c.pace.Timer
		if i == maxLate {
			at = now
		}
		c.pace.OnTimer(at)
		c.decide()
		c.ask(at)
		if i > maxLate {
			c.pace.Timer = now + unit.Millisecond
		}
	}
}

const maxLate = 10_000

// decide reads the controller's decision.
func (c *Conn) decide() {
	if changed := c.pace.Decide(c.now); c.OnRate != nil {
		c.tell(changed)
	}
	if c.cfg.Named {
		c.QP.Window(uint64(c.pace.Window / c.pace.MTU))
	}
}

// tell says which rate is allowed now, if that has changed.
func (c *Conn) tell(changed bool) {
	r := c.pace.Rate
	if c.pace.Window > 0 {
		if x, ok := c.pace.Ctl.Signal(c.now, cc.SignalRate); ok {
			c.tellRate(min(r, unit.Rate(x)))
			return
		}
	}
	if changed && r != c.told {
		c.told = r
		c.OnRate(c.now, r)
	}
}

// tellRate says what a window lets go in a round trip, if that is another rate by a hundredth or more.
func (c *Conn) tellRate(r unit.Rate) {
	if r > c.told+c.told/100 || r < c.told-c.told/100 {
		c.told = r
		c.OnRate(c.now, r)
	}
}

// drain hands over what finished and returns how much that was.
func (c *Conn) drain() (n int64) {
	if c.mrc != nil {
		return c.drainMRC()
	}
	for {
		d, ok := c.QP.PopCompletion()
		if !ok {
			break
		}
		n++
		if c.OnComplete != nil {
			c.OnComplete(d)
		}
	}
	for {
		r, ok := c.QP.PopReceived()
		if !ok {
			break
		}
		n++
		if c.OnReceive != nil {
			c.OnReceive(r)
		}
	}
	if !c.failed && c.QP.State() == rc.Error {
		if c.failed = true; c.OnError != nil {
			c.OnError(c.QP.Fault())
		}
	}
	return n
}

// Post appends a work request. What is sent needs its bytes; a READ without a
// place for the answer throws it away.
func (c *Conn) Post(r *rc.Request) error {
	if r.Verb < rc.Read && r.Len > 0 && r.Data == nil {
		return fmt.Errorf("%v of %d bytes without a buffer", r.Verb, r.Len)
	}
	if c.mrc != nil {
		return c.postMRC(c.now, r)
	}
	if c.pace.Credited() && c.end != nil {
		c.begins = c.begins || c.QP.Idle()
		c.posted, c.end.posted = true, true
	}
	err := c.QP.Post(r)
	if c.QP.State() == rc.Error { // it had no usable buffer
		c.drain()
	}
	return err
}

// Modify changes the state; what it flushes is handed over.
func (c *Conn) Modify(to rc.State, psn uint32) error {
	err := c.QP.Modify(to, psn)
	if err == nil {
		c.modifiedMRC(to)
	}
	c.drain()
	return err
}

// Service is the treatment of a connection's packets, the sockets' side of what host.Service is in the
// simulator: several connections share one, and those of an endpoint may differ.
type Service struct {
	DSCP    uint8     // of data and acknowledgements
	CNPDSCP uint8     // of congestion notifications
	CNPGap  unit.Time // at most one CNP per connection in so long; unit.Never: none
}

// tos is the type of service of data and acknowledgements.
func (s *Service) tos() uint8 { return s.DSCP<<2 | ect0 }

// service returns the service of connections that request none.
func (c *Config) service() Service {
	return Service{DSCP: *c.DataDSCP, CNPDSCP: *c.CNPDSCP, CNPGap: c.CNPGap}
}
