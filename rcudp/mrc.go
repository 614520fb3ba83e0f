package rcudp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"railyard/cc"
	"railyard/param"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// CarryMRC makes MRC carry a connection instead of its rc.QP. Package mrc has both ends, one for each direction;
// this file runs them as conn.go runs RC. The rc.QP stays for its states.

// mrcEnds are the MRC ends of a connection.
type mrcEnds struct {
	peer *mrcPeer
	send transport.Sender
	recv transport.Refuser

	ours, theirs uint32 // first PSNs

	posted   []posted // incomplete WRITEs, from
	oldest   uint32   // this message on
	told     map[uint16]immediate
	receives []uint64
	plane    int // next plane in turn
	left     int // packets left of its burst
}

// posted is a WRITE of ours.
type posted struct {
	rc.Request
}

// immediate is an incomplete WRITE with immediate from the peer.
type immediate struct {
	imm uint32
	len int64
}

// mrcPeer is the state that all connections to an address share.
type mrcPeer struct {
	transport.Peer
	maker transport.Maker
	users int
}

// peerKey is the key of peers; ends of different MTU share nothing.
type peerKey struct {
	addr netip.Addr
	mtu  int
}

// MRCOptions are the agreed settings of the two ends of an MRC connection, and the pacing of this end.
type MRCOptions struct {
	Values param.Values // values of the endpoint's Carrier
	CC     cc.Make
	MTU    int
	Theirs uint32 // first PSN of the peer's WRITEs
	Seed   uint64
}

// Segments returns the packets of an MTU that leave in one system call.
func Segments(mtu int) int {
	return min(maxSegments, max(1, batchBytes/(mtu+maxHeads/(maxSegments+1))))
}

// errNoCarrier is the error for an endpoint whose Config has no Carrier with a Wire.
var errNoCarrier = errors.New("the endpoint has no carrier with a wire format: Config.Carrier")

// CarryMRC makes a new connection an MRC connection. Its Ports are the entropy values.
func (e *Endpoint) CarryMRC(c *Conn, o *MRCOptions) error {
	if e.cfg.Carrier == nil || e.cfg.Carrier.Wire == nil {
		return errNoCarrier
	}
	planes := max(1, len(e.cfg.Planes))
	common := transport.Common{MTU: unit.Bytes(o.MTU), Planes: planes, IPv6: e.cfg.Labels, CC: o.CC}
	for _, p := range c.Ports {
		ev := uint32(p)
		if e.cfg.Labels {
			ev |= (ev*0x9e37 | 1) << 16 // any label but none
		}
		common.EVs = append(common.EVs, ev)
	}
	if name, fault := e.cfg.Carrier.Check(o.Values, common); fault != "" {
		return fmt.Errorf("%s %s", name, fault)
	}
	key := peerKey{c.Peer, o.MTU}
	path := cc.Path{Line: c.pace.Line, MTU: common.MTU}
	p := e.mrcPeers[key]
	if p == nil {
		maker := e.cfg.Carrier.New(o.Values, common)
		p = &mrcPeer{maker: maker, Peer: maker.Peer(path, o.Seed)}
		if e.mrcPeers == nil {
			e.mrcPeers = map[peerKey]*mrcPeer{}
		}
		e.mrcPeers[key] = p
	}
	p.users++
	c.mrc = &mrcEnds{peer: p, send: p.Sender(o.Seed), theirs: o.Theirs,
		recv: p.maker.Receiver(path, o.Seed).(transport.Refuser), told: map[uint16]immediate{}}
	for plane := range planes {
		if e.down>>plane&1 != 0 {
			c.mrc.send.PlaneIs(c.now, plane, false)
			c.mrc.recv.PlaneIs(c.now, plane, false)
		}
	}
	return nil
}

// dropMRC closes the MRC sender and receiver of a connection.
func (e *Endpoint) dropMRC(c *Conn) {
	if c.mrc == nil {
		return
	}
	if c.mrc.peer.users--; c.mrc.peer.users == 0 {
		for key, p := range e.mrcPeers {
			if p == c.mrc.peer {
				delete(e.mrcPeers, key)
			}
		}
	}
	c.mrc = nil
}

// ErrMRCVerb is the error for verbs that MRC does not have.
var ErrMRCVerb = errors.New("an MRC queue pair carries WRITE and WRITE with immediate only")

// post hands a WRITE to the sender.
func (c *Conn) postMRC(now unit.Time, r *rc.Request) error {
	m := c.mrc
	switch state := c.QP.State(); {
	case state != rc.ReadyToSend && state != rc.SendQueueDrain:
		return fmt.Errorf("posting in state %v", state)
	case r.Verb != rc.Write && r.Verb != rc.WriteImm:
		return fmt.Errorf("%v: %w", r.Verb, ErrMRCVerb)
	case r.Unprotected:
		return errors.New("a local key or range is wrong")
	}
	t := transport.Request{ID: 1, Bytes: r.Len, Tells: r.Verb == rc.WriteImm}
	if err := m.send.Post(now, t); err != nil {
		return err
	}
	m.posted = append(m.posted, posted{*r})
	return nil
}

// sayMRC encodes the next control datagram of an MRC connection's ends.
func (e *Endpoint) sayMRC(now unit.Time, buf []byte, c *Conn, id uint16, d *Datagram) bool {
	m, p := c.mrc, &e.mrcOut
	for *p = (transport.Packet{}); m.recv.Say(now, p) || m.send.Say(now, p); *p = (transport.Packet{}) {
		if p.Kind == transport.Ack || p.Kind == transport.Nack {
			e.Count.Acks++
		}
		if p.Kind == transport.Nack {
			e.Count.Naks++
		}
		if e.sealMRC(buf, c, p, nil, id, d) {
			return true
		}
	}
	return false
}

// nextMRC encodes the next datagram of an MRC connection: control packets first, then data, planes in turn.
func (e *Endpoint) nextMRC(now unit.Time, buf []byte, c *Conn, id uint16, d *Datagram) bool {
	if c.now = now; e.sayMRC(now, buf, c, id, d) {
		return true
	}
	m, p := c.mrc, &e.mrcOut
	if m.send.InFlight() > 0 && m.send.InFlight() >= c.maxInFlight {
		return false
	}
	planes := max(1, len(e.cfg.Planes))
	plane, left := m.plane, m.left
	for range planes {
		if m.left == 0 {
			m.plane, m.left = (m.plane+1)%planes, mostStay(planes)
		}
		if *p = (transport.Packet{}); m.send.Next(now, m.plane, p) {
			m.left--
			return e.dataMRC(buf, c, id, d)
		}
		m.left = 0
	}
	// None may send now: the turn does not change, or a paced connection would always use the same plane.
	m.plane, m.left = plane, left
	return false
}

// mostStay returns the number of consecutive packets of a plane: as many as fit one batch of segments.
func mostStay(planes int) int {
	if planes == 1 {
		return maxStay
	}
	return 15
}

// dataMRC encodes the packet of data in e.mrcOut.
func (e *Endpoint) dataMRC(buf []byte, c *Conn, id uint16, d *Datagram) bool {
	m, p := c.mrc, &e.mrcOut
	if m.send.InFlight() >= c.maxInFlight {
		p.Flags |= transport.Asks
	}
	r := &m.posted[p.Message-m.oldest].Request
	e.Count.SentBytes += int64(p.Payload)
	if p.Flags&transport.Again != 0 {
		e.Count.Again++
	}
	return e.sealMRC(buf, c, p, r, id, d)
}

// sealMRC writes a packet as a datagram; false if there is no path for it.
func (e *Endpoint) sealMRC(buf []byte, c *Conn, p *transport.Packet, r *rc.Request, id uint16, d *Datagram) bool {
	h, x := &e.out, &e.mrcHead
	e.headMRC(c, p, r, h, x)
	var body []byte
	if p.Kind == transport.Data {
		body = r.Data[p.Offset : p.Offset+uint64(p.Payload)]
	}
	tos := c.Service.tos()
	b := x.Append(h, buf[:0])
	*d = Datagram{Conn: c, TOS: tos, Head: b, Payload: body, Plane: p.Plane}
	if d.Port, d.Label = e.portMRC(c, p.EV, p.Plane); d.Port == 0 {
		return false
	}
	d.Tail = append(b, zeros[:int(h.Pad)+roce.ICRCLen]...)[len(b):]
	e.Reseal(d, id)
	e.Count.Sent++
	return true
}

// portMRC returns the source port and, over IPv6, the flow label for a packet with an entropy value. It is the
// value's own port if a socket is bound to it or, for the receiver's answers, one of its plane's ports.
func (e *Endpoint) portMRC(c *Conn, ev uint32, plane uint8) (port, label uint16) {
	planes := max(1, len(e.cfg.Planes))
	n := len(c.Ports) / planes
	if n == 0 || int(plane) >= planes {
		return 0, 0
	}
	if e.cfg.Labels {
		label = uint16(ev >> 16)
	}
	if i := slices.Index(c.Ports, uint16(ev)); i >= 0 && i%planes == int(plane) {
		return c.Ports[i], label
	}
	return c.Ports[int(ev%uint32(n))*planes+int(plane)], label
}

// wake returns the time of the ends' next timer, not earlier than the minimum delay.
func (m *mrcEnds) wake(now, coarse unit.Time) unit.Time {
	at := min(m.send.At(), m.recv.At())
	if at > now {
		at = max(at, now+coarse)
	}
	return at
}

// MRCDue reports whether an MRC connection has a timer that is due.
func (e *Endpoint) MRCDue(now unit.Time) bool {
	for _, c := range e.ring {
		if c.mrc != nil && c.mrc.send.At() <= now {
			return true
		}
	}
	return false
}

// tickMRC runs the timers that are due.
func (e *Endpoint) tickMRC(now unit.Time, c *Conn) {
	m := c.mrc
	if c.now = now; m.send.At() <= now {
		m.send.Tick(now)
		late, _ := m.send.Counter(transport.CounterTimeouts)
		e.Count.Timeouts, c.Timeouts = e.Count.Timeouts+late-c.Timeouts, late
	}
	if m.recv.At() <= now {
		m.recv.Tick(now)
	}
	c.drain()
}

// BeginMRC sets the first PSN of this end's WRITEs.
func (c *Conn) BeginMRC(psn uint32) {
	if c.mrc != nil {
		c.mrc.ours = psn
	}
}

// kill ends the queue pair after a violation by its peer. The ends remain, to report it.
func (c *Conn) kill(why roce.Syndrome) {
	if c.QP.State() == rc.Error {
		return
	}
	_ = c.QP.Modify(rc.Error, 0)
	c.flushPosted()
	c.flushReceives()
	if c.OnError != nil {
		c.OnError(why)
	}
}

// PlaneIs sets whether the own port to a plane works.
func (e *Endpoint) PlaneIs(now unit.Time, plane int, up bool) {
	if plane >= 32 {
		return
	}
	if e.down &^= 1 << plane; !up {
		e.down |= 1 << plane
	}
	for _, c := range e.ring {
		if c.mrc != nil {
			c.mrc.send.PlaneIs(now, plane, up)
			c.mrc.recv.PlaneIs(now, plane, up)
		}
	}
}

// Counters of a connection by MRC, by the names that package mrc lists; false for any other connection.
func (c *Conn) Counter(name string) (n int64, ok bool) {
	if c.mrc == nil {
		return 0, false
	}
	n, ok = c.mrc.send.Counter(name)
	if more, also := c.mrc.recv.Counter(name); also {
		n, ok = n+more, true
	}
	return n, ok
}

// rateMRC returns the rate of one window per round trip; false for a connection of RC.
func (c *Conn) rateMRC() (unit.Rate, bool) {
	if c.mrc == nil {
		return 0, false
	}
	r, ok := c.mrc.send.Signal(c.now, cc.SignalRate)
	return unit.Rate(r), ok
}

// drainMRC delivers completions, and reports the rate of the window to the peer while it is used.
func (c *Conn) drainMRC() (n int64) {
	m := c.mrc
	if c.OnRate != nil && m.send.Pending() {
		if r, ok := c.rateMRC(); ok {
			c.tellRate(r)
		}
	}
	for c.mrc == m {
		message, ok := m.recv.Arrived()
		if !ok {
			break
		}
		n++
		if im, ok := m.told[uint16(message)]; ok {
			delete(m.told, uint16(message))
			c.receive(rc.Received{Status: rc.Success, Len: im.len, Imm: im.imm, HasImm: true, Write: true})
		}
	}
	for c.mrc == m {
		done, ok := m.send.Completed()
		if !ok || len(m.posted) == 0 {
			break
		}
		n++
		r := &m.posted[0].Request
		x := rc.Completion{ID: r.ID, Status: done.Status, Verb: r.Verb, Len: r.Len}
		m.posted = slices.Delete(m.posted, 0, 1)
		m.oldest++
		if c.OnComplete != nil {
			c.OnComplete(x)
		}
		if done.Status != rc.Success && c.QP.State() != rc.Error {
			_ = c.QP.Modify(rc.Error, 0)
			c.flushReceives()
		}
	}
	return n
}

// receive ends a receive of ours.
func (c *Conn) receive(r rc.Received) {
	m := c.mrc
	if len(m.receives) == 0 {
		return
	}
	r.ID = m.receives[0]
	m.receives = slices.Delete(m.receives, 0, 1)
	if c.OnReceive != nil {
		c.OnReceive(r)
	}
}

// flushPosted ends all WRITEs of ours.
func (c *Conn) flushPosted() {
	for m := c.mrc; m != nil && len(m.posted) > 0; {
		r := &m.posted[0].Request
		x := rc.Completion{ID: r.ID, Status: rc.Flushed, Verb: r.Verb, Len: r.Len}
		m.posted = slices.Delete(m.posted, 0, 1)
		if c.OnComplete != nil {
			c.OnComplete(x)
		}
	}
}

// flushReceives ends all posted receives, because the queue pair is in ERR.
func (c *Conn) flushReceives() {
	for c.mrc != nil && len(c.mrc.receives) > 0 {
		c.receive(rc.Received{Status: rc.Flushed})
	}
}

// modifiedMRC applies a state change of the queue pair to its MRC ends.
func (c *Conn) modifiedMRC(to rc.State) {
	m := c.mrc
	if m == nil || to != rc.Error && to != rc.Reset {
		return
	}
	if to == rc.Error {
		c.flushPosted()
		c.flushReceives()
	}
	if c.end != nil {
		c.end.dropMRC(c)
	}
	c.mrc = nil
}

// PostReceive appends a receive, for SEND or for a WRITE with immediate.
func (c *Conn) PostReceive(r rc.Receive) error {
	if c.mrc == nil {
		return c.QP.PostReceive(r)
	}
	c.mrc.receives = append(c.mrc.receives, r.ID)
	return nil
}
