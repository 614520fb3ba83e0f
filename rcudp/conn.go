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

// Conn is one queue pair of an endpoint: the protocol state, the peer, and the pacer.
type Conn struct {
	QP      rc.QP
	QPN     uint32
	DestQPN uint32
	Peer    netip.Addr
	Peers   []netip.Addr // address of the peer on each plane, for MRC, Peer first; nil: Peer alone
	Ports   []uint16     // UDP source ports; several are used in turn, packet by packet
	// Choose returns the chooser among several ports for requests; nil, or a nil result: in turn.
	Choose entropy.Make

	// Service is the treatment of the packets; nil: the default of the endpoint's Config, set by Add.
	Service *Service

	// OnComplete and OnReceive see finished work requests and receives, with
	// the endpoint locked.
	OnComplete func(rc.Completion)
	OnReceive  func(rc.Received)
	// OnEstablished is called for the first packet that reaches a queue pair in RTR. OnError is called for its
	// transition to ERR, with the responder's NAK if that ended the connection.
	OnEstablished func()
	OnError       func(why roce.Syndrome)
	// OnRate is called at every change of the rate; may be nil. For a controller with a window the rate is one
	// window per round trip. Changes below a hundredth are not reported, because each answer causes one.
	OnRate func(now unit.Time, r unit.Rate)

	// FarEnd: acknowledgements of this end report for how long it delayed the acknowledged packet (farend.go).
	FarEnd bool

	// Paced also limits the connection to its line rate. Without it, only a rate reduced by congestion control is
	// paced.
	Paced bool

	CNPs, CE, Timeouts int64

	cfg         *rc.Config
	mem         *rc.Memory
	mrc         *mrcEnds // nil: the connection uses RC
	pace        cc.Pacer
	maxInFlight unit.Bytes

	end            *Endpoint // the endpoint of the connection
	flow           int32     // index at the endpoint's granter; below zero: none
	posted, begins bool      // whether it needs credit; whether nothing was in flight at the last post

	greeted bool
	failed  bool
	echo    bool // a request since the last answer was received marked
	turn    entropy.Turn
	paths   *entropy.Paths
	burst   unit.Time
	now     unit.Time
	told    unit.Rate      // to OnRate
	udp     []*net.UDPAddr // by plane
	lastCNP unit.Time
}

// NewConn returns a connection in RESET. mem are the regions that the peer may access, and line is the rate limit.
// maxInFlight limits the payload bytes in flight to the size of the peer's socket buffer.
func NewConn(cfg *rc.Config, mem *rc.Memory, ctl cc.Controller, line unit.Rate, maxInFlight unit.Bytes) *Conn {
	c := &Conn{QP: rc.NewQP(cfg, mem), cfg: cfg, mem: mem, pace: cc.Pacer{Line: line},
		maxInFlight: maxInFlight,
		flow:        -1}
	c.SetController(0, ctl)
	return c
}

// SetController sets the controller of the connection, nil for none, and resets its state.
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

// SetInFlight sets the limit of payload bytes in flight.
func (c *Conn) SetInFlight(b unit.Bytes) { c.maxInFlight = b }

// SetPeer sets the destination of packets and the source of accepted ones.
func (c *Conn) SetPeer(a netip.Addr) { c.Peer, c.udp = a.Unmap(), nil }

// remote is the peer's address on a plane.
func (c *Conn) remote(plane uint8) netip.Addr {
	if int(plane) < len(c.Peers) {
		return c.Peers[plane]
	}
	return c.Peer
}

// Restart resets the connection's learned state and counters, as for a queue pair in RESET: pace, rate and the limit in
// flight are new.
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

// ready reports whether there are packets to send, regardless of pacing.
func (c *Conn) ready() bool { return c.QP.Responding() || c.QP.Pending() && !c.blocked() }

// blocked reports whether new packets must wait; retransmissions may be sent, but not without credit.
func (c *Conn) blocked() bool {
	in := c.QP.InFlightBytes()
	return (c.noRoom(in) || c.pace.Blocked(in)) && !c.QP.PastWindow() || c.pace.Broke()
}

// noRoom reports whether the data in flight fill the peer's socket buffer.
func (c *Conn) noRoom(in unit.Bytes) bool { return in > 0 && in >= c.maxInFlight }

// take returns the next packet if the pace allows one now.
func (c *Conn) take(now unit.Time, p *rc.Packet) bool {
	if c.pace.NextAt > now {
		return false
	}
	if c.QP.NextResponse(p) {
		if c.QP.State() == rc.Error { // answers queued before the failure are sent
			c.drain()
		}
		return true
	}
	if c.blocked() || !c.QP.Next(now, p) {
		return false
	}
	// The packet that fills a window requests the ACK that reopens it. A packet after which no data may be sent without
	// a new grant requests one, too.
	if in := c.QP.InFlightBytes(); (c.noRoom(in) || c.pace.Asks(in)) && !c.QP.Resending() ||
		c.pace.Empties(int64(roce.DataLen(p.Opcode, int(p.Payload))+roce.PreambleIFG)) {
		c.QP.Ask(now, p)
	}
	c.pace.Launched(now, p.PSN, p.AckReq, p.Again)
	return true
}

// sent charges the bytes of a packet on the wire to the pacer.
func (c *Conn) sent(now unit.Time, wire int) {
	c.now = now
	if c.pace.Spent(now, int64(wire)) {
		c.decide()
	}
	if c.Paced || c.pace.Rate < c.pace.Line {
		c.pace.Delay(now, int64(wire), c.burst)
	}
}

// acknowledged passes newly acknowledged bytes to the controller; false if the controller does not use them.
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

// tick runs the due timers of the controller one by one, because a real clock may be late by several. After a long
// sleep only the last ones matter.
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

// tell reports the allowed rate if it has changed.
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

// tellRate reports one window per round trip as a rate, if it changed by a hundredth or more.
func (c *Conn) tellRate(r unit.Rate) {
	if r > c.told+c.told/100 || r < c.told-c.told/100 {
		c.told = r
		c.OnRate(c.now, r)
	}
}

// drain delivers completed requests and returns their number.
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

// Post appends a work request. Outgoing data need their bytes; the answer of a READ without a buffer is discarded.
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

// Modify changes the state; flushed requests are delivered as completions.
func (c *Conn) Modify(to rc.State, psn uint32) error {
	err := c.QP.Modify(to, psn)
	if err == nil {
		c.modifiedMRC(to)
	}
	c.drain()
	return err
}

// Service is the treatment of a connection's packets, the sockets' counterpart of the simulator's host.Service.
// Several connections share one, and connections of an endpoint may have different ones.
type Service struct {
	DSCP    uint8     // DSCP of data and acknowledgements
	CNPDSCP uint8     // of congestion notifications
	CNPGap  unit.Time // minimum time between two CNPs of a connection; unit.Never: none
}

// tos is the type of service of data and acknowledgements.
func (s *Service) tos() uint8 { return s.DSCP<<2 | ect0 }

// service returns the service of connections that request none.
func (c *Config) service() Service {
	return Service{DSCP: *c.DataDSCP, CNPDSCP: *c.CNPDSCP, CNPGap: c.CNPGap}
}
