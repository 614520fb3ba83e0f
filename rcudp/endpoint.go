package rcudp

import (
	"fmt"
	"net/netip"
	"slices"

	"railyard/cc"
	"railyard/entropy"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Config is the configuration that all connections of an endpoint share. Zero values take the
// defaults in brackets. A connection may have DSCPs and a gap of its own: Conn.Service.
type Config struct {
	Addr     netip.Addr          // ours
	DataDSCP *uint8              // data and acknowledgements [24]; 0 is a DSCP, too
	CNPDSCP  *uint8              // congestion notifications [48]
	CNPGap   unit.Time           // minimum time between two CNPs of a connection [50 us]
	Carrier  *transport.Protocol // protocol of connections that RC does not carry, one with a Wire; nil: all are RC
	Planes   []netip.Addr        // ours on each plane, for its Carrier, Addr first [Addr alone]
	Labels   bool                // entropy values of MRC have a high half, in the flow label (IPv6)
	Trim     *TrimDSCP           // DSCP of trimmed packets; nil: no switch trims
	Burst    unit.Time           // time by which pacing may be late and still catch up
	Coarse   unit.Time           // minimum time from now of MRC's timers [when they are due]
	Credit   cc.Terms            // terms of credit granted to requesters [0.99 of the line, 16 packets at a time]
}

func (c *Config) fill() {
	if c.DataDSCP == nil {
		c.DataDSCP = new(uint8(24)) // the DSCP of the scenarios and of the switches in the source documents
	}
	if c.CNPDSCP == nil {
		c.CNPDSCP = new(uint8(48))
	}
	if c.CNPGap == 0 {
		c.CNPGap = 50 * unit.Microsecond
	}
	if c.Credit == (cc.Terms{}) {
		c.Credit = cc.Terms{Share: 0.99, Packets: 16}
	}
}

// ECN field values.
const (
	ect0 = 2
	ce   = 3
)

// Counters are an endpoint's totals. The first block counts drops.
type Counters struct {
	Truncated  int64 `json:"truncated"`       // shorter than its headers
	Malformed  int64 `json:"malformed"`       // wrong version, unknown or foreign opcode, impossible padding
	UnknownQP  int64 `json:"unknown_qp"`      // no such queue pair
	WrongPeer  int64 `json:"wrong_peer"`      // the queue pair belongs to another address
	BadPKey    int64 `json:"bad_pkey"`        // packets of another partition
	BadICRC    int64 `json:"bad_icrc"`        // damaged, or with wrong lengths
	Refused    int64 `json:"refused"`         // the queue pair is not connected, or the request is not allowed
	Duplicates int64 `json:"duplicates"`      // seen before
	OutOfOrder int64 `json:"out_of_order"`    // beyond a gap
	NotReady   int64 `json:"not_ready"`       // no receive was posted
	Received   int64 `json:"received"`        // datagrams
	Sent       int64 `json:"sent"`            // datagrams
	SentBytes  int64 `json:"sent_bytes"`      // payload, retransmissions included
	Again      int64 `json:"retransmissions"` // data packets retransmitted
	Acks       int64 `json:"acks_sent"`
	Naks       int64 `json:"naks_sent"`
	NaksIn     int64 `json:"naks_received"`
	Timeouts   int64 `json:"timeouts"`
	Trimmed    int64 `json:"trimmed"`  // datagrams that a switch trimmed to their headers
	CE         int64 `json:"ce_marks"` // datagrams received with congestion experienced
	CNPsSent   int64 `json:"cnps_sent"`
	CNPs       int64 `json:"cnps_received"`
}

// Datagram is one UDP datagram to send: Head, Payload and Tail in turn, from BTH to ICRC. Head and Tail are in the
// buffer passed to Next, the payload is in the application's buffer.
type Datagram struct {
	Conn    *Conn
	Plane   uint8
	Port    uint16 // UDP source port
	Label   uint16 // low bits of the flow label, for MRC over IPv6
	TOS     uint8
	Head    []byte // BTH and extension headers
	Payload []byte
	Tail    []byte // padding and ICRC
}

// Len returns the bytes of the datagram.
func (d *Datagram) Len() int { return len(d.Head) + len(d.Payload) + len(d.Tail) }

// Append appends the whole datagram to b.
func (d *Datagram) Append(b []byte) []byte {
	return append(append(append(b, d.Head...), d.Payload...), d.Tail...)
}

// Endpoint is one address with its queue pairs. It is not safe for concurrent use; Device locks it.
type Endpoint struct {
	Count Counters

	cfg       Config
	service   Service // service of connections without their own
	conns     map[uint32]*Conn
	kinds     [256]kind // by opcode
	ring      []*Conn   // connections in the order of their turns
	turn      int
	stay      int // consecutive datagrams of the connection whose turn it is
	control   []control
	granter   granter
	posted    bool // a request was posted, to a connection that needs credit
	sum       roce.Summer
	dataFirst bool
	now       unit.Time // of Next
	waited    unit.Time // delay of the packet that Input processes next, since its arrival
	hops      uint8     // switches that it has passed
	came      unit.Time // arrival of what Input processes now
	tells     bool      // the datagram that Next encodes reports how long the acknowledged packet was held
	finished  int64     // completions handed over while taking datagrams
	trims     uint64    // DSCPs that trimmed datagrams have, a bit each
	in        roce.Header
	out       roce.Header
	plane     uint8  // plane of the current input
	label     uint32 // low bits of its flow label
	mrcPeers  map[peerKey]*mrcPeer
	mrcHead   roce.MRC
	mrcIn     transport.Packet
	mrcOut    transport.Packet
	asked     questions
	down      uint32 // planes whose port of ours does not work
	packet    rc.Packet
	answer    rc.Answer
	ip        [roce.IPv6Len]byte
	udp       [roce.UDPLen]byte
}

// NewEndpoint returns an endpoint without queue pairs.
func NewEndpoint(cfg Config) *Endpoint {
	cfg.fill()
	cfg.Addr = cfg.Addr.Unmap()
	e := &Endpoint{cfg: cfg, service: cfg.service(), conns: map[uint32]*Conn{}, kinds: kinds(),
		trims: cfg.Trim.mask()}
	e.granter.Slack = cfg.Burst
	return e
}

// Add makes a queue pair known under its number.
func (e *Endpoint) Add(c *Conn) error {
	if e.conns[c.QPN] != nil {
		return fmt.Errorf("queue pair number %#x is taken", c.QPN)
	}
	e.conns[c.QPN] = c
	e.ring = append(e.ring, c)
	if c.Service == nil {
		c.Service = &e.service
	}
	c.lastCNP, c.burst, c.end = -unit.Never/2, e.cfg.Burst, e
	return nil
}

// Remove deletes a queue pair and its pending packets. Later packets to it count as unknown.
func (e *Endpoint) Remove(c *Conn) {
	e.forget(c)
	e.dropMRC(c)
	e.asked.forget(c)
	c.end = nil
	delete(e.conns, c.QPN)
	e.packet, e.answer = rc.Packet{}, rc.Answer{} // packet and answer may refer to sent data
	e.Silence(c)
	for i := range e.ring {
		if e.ring[i] == c {
			e.ring = slices.Delete(e.ring, i, i+1)
			if e.turn > i {
				e.turn--
			}
			break
		}
	}
}

// InputBy is Input for an arrival by a plane, with the low 16 bits of its flow label.
func (e *Endpoint) InputBy(now unit.Time, src netip.AddrPort, plane uint8, label uint16, tos uint8, seg int,
	b []byte) {
	e.plane, e.label = plane, uint32(label)
	e.Input(now, src, tos, seg, b)
	e.plane, e.label = 0, 0
}

// local is our address on a plane.
func (e *Endpoint) local(plane uint8) netip.Addr {
	if int(plane) < len(e.cfg.Planes) {
		return e.cfg.Planes[plane]
	}
	return e.cfg.Addr
}

// Input processes one datagram from src with type of service tos. seg is the datagram's position in its batch,
// which is the first guess at its IPv4 identification. The bytes are not kept.
func (e *Endpoint) Input(now unit.Time, src netip.AddrPort, tos uint8, seg int, b []byte) {
	e.Count.Received++
	e.came = now - e.waited
	if len(b) < roce.BTHLen+roce.ICRCLen {
		e.Count.Truncated++
		return
	}
	h := &e.in
	isMRC := roce.Opcode(b[0]).IsMRC()
	if e.trims>>(tos>>2)&1 != 0 && !e.icrcHolds(src, seg, b) {
		if isMRC {
			e.inputMRC(now, src, tos, e.plane, b, true)
			return
		}
		e.trimmed(now, src, tos, b)
		return
	}
	if isMRC {
		if !e.icrcHolds(src, seg, b) {
			e.Count.BadICRC++
			return
		}
		e.inputMRC(now, src, tos, e.plane, b[:len(b)-roce.ICRCLen], false)
		return
	}
	n, err := h.Decode(b[:len(b)-roce.ICRCLen])
	switch {
	case err == roce.ErrTruncated:
		e.Count.Truncated++
		return
	case err != nil, e.kinds[h.Opcode].take == nil, len(b)-n-roce.ICRCLen < int(h.Pad), len(b)&3 != 0:
		e.Count.Malformed++
		return
	}
	c := e.addressed(src)
	switch {
	case c == nil:
		return
	case !e.icrcHolds(src, seg, b):
		e.Count.BadICRC++
		return
	}
	k := &e.kinds[h.Opcode]
	if tos&3 == ce {
		e.marked(now, c, k)
	}
	body := b[n : len(b)-roce.ICRCLen-int(h.Pad)]
	p := &e.packet
	*p = rc.Packet{Opcode: h.Opcode, Syndrome: h.Syndrome, AckReq: h.AckReq, Solicited: h.Solicited,
		Marked: h.BECN, PSN: h.PSN, Payload: int32(len(body)),
		RKey: h.RKey, Len: h.Len, MSN: h.MSN, VA: h.VA, SwapAdd: h.SwapAdd, Compare: h.Compare,
		Orig: h.Orig, Data: body}
	if !h.Opcode.IsResponse() {
		p.Marked, p.List = tos&3 == ce, h.BECN
	}
	if p.Imm = h.Imm; h.Opcode.HasIETH() {
		p.Imm = h.InvKey
	}
	k.take(e, now, c, p)
	e.finished += c.drain()
}

// addressed returns the queue pair of the header in e.in; nil if it is not for this endpoint, which is counted.
func (e *Endpoint) addressed(src netip.AddrPort) *Conn {
	h := &e.in
	c := e.conns[h.DestQP]
	switch {
	case c == nil:
		e.Count.UnknownQP++
	case !c.isPeer(src.Addr()):
		e.Count.WrongPeer++
	case h.PKey&0x7fff != roce.DefaultPKey&0x7fff:
		e.Count.BadPKey++
	default:
		return c
	}
	return nil
}

// response is the requester's side.
func (e *Endpoint) response(now unit.Time, c *Conn, p *rc.Packet) {
	nak := p.Opcode == roce.Acknowledge && !p.Syndrome.IsGood()
	if nak {
		e.Count.NaksIn++
	}
	n := c.QP.Acknowledged(now, p)
	c.paths.Answered(now, p, p.Marked)
	if n > 0 {
		ack := cc.Ack{Bytes: unit.Bytes(n) * unit.Bytes(c.cfg.MTU)}
		e.far(p, &ack)
		if c.acknowledged(now, p, ack) {
			c.decide()
		}
	}
	if p.Opcode == roce.Acknowledge && p.Syndrome.IsTrimmed() {
		psn, _ := p.Missing()
		c.pace.Trimmed(psn)
	}
	switch {
	case p.Opcode != roce.Acknowledge:
	case p.Syndrome == roce.NakSequence, p.Syndrome == roce.NakMissing:
		c.paths.Lost(now, p, entropy.Missing)
		c.pace.Lost(now, cc.LossNak, c.QP.InFlightBytes())
		c.decide()
	case p.Syndrome == roce.NakTrimmed:
		c.paths.Lost(now, p, entropy.Trimmed)
		c.pace.Lost(now, cc.LossTrimmed, c.QP.InFlightBytes())
		c.decide()
	case p.Syndrome == roce.NakTrimmedLast: // every path to the receiver ends in that queue
		c.pace.Lost(now, cc.LossTrimmedLast, c.QP.InFlightBytes())
		c.decide()
	}
	c.ask(now)
}

// request is the responder's side.
func (e *Endpoint) request(_ unit.Time, c *Conn, p *rc.Packet) {
	if c.cfg.Recovery == rc.Selective {
		if _, _, expect := c.QP.Sequence(); p.PSN != expect {
			p.Data = append([]byte(nil), p.Data...) // the queue pair stores it
		}
	}
	if !c.greeted && c.QP.State() == rc.ReadyToReceive {
		if c.greeted = true; c.OnEstablished != nil {
			c.OnEstablished()
		}
	}
	a := &e.answer
	c.QP.Data(p, a)
	switch a.Verdict {
	case rc.Duplicate:
		e.Count.Duplicates++
	case rc.OutOfOrder, rc.Reordered:
		e.Count.OutOfOrder++
	case rc.NotReady:
		e.Count.NotReady++
	case rc.Refused:
		e.Count.Refused++
	}
	if a.Reply {
		e.answers(c)
	}
}

// Next encodes the next datagram that may be sent at now into buf; id is its IPv4 identification. ok is false if no
// datagram may be sent yet. Control packets precede data, except for the first datagram after LetData.
func (e *Endpoint) Next(now unit.Time, buf []byte, id uint16, d *Datagram) (ok bool) {
	if e.now = now; e.posted {
		e.asks(now)
	}
	lead := e.dataFirst
	e.dataFirst = false
	return lead && e.nextData(now, buf, id, d) || e.nextControl(buf, id, d) || e.nextData(now, buf, id, d)
}

// NextControl is Next for the control packets of MRC at this time. A NIC has a queue for them and sends them
// immediately.
func (e *Endpoint) NextControl(now unit.Time, buf []byte, id uint16, d *Datagram) (ok bool) {
	for _, c := range e.ring {
		if c.mrc != nil && e.sayMRC(now, buf, c, id, d) {
			return true
		}
	}
	return false
}

// LetData sends one data datagram before the queued acknowledgements, so that they do not delay an application's
// answer.
func (e *Endpoint) LetData() { e.dataFirst = true }

func (e *Endpoint) nextData(now unit.Time, buf []byte, id uint16, d *Datagram) (ok bool) {
	if len(e.ring) == 0 {
		return false
	}
	for range len(e.ring) + 1 { // a connection that has sent too many gets another turn, too
		if e.turn >= len(e.ring) {
			e.turn, e.stay = 0, 0
		}
		c := e.ring[e.turn]
		if c.mrc != nil {
			if e.stay < maxStay && e.nextMRC(now, buf, c, id, d) {
				e.stay++
				return true
			}
			e.turn, e.stay = e.turn+1, 0
			continue
		}
		if e.stay < maxStay && c.take(now, &e.packet) {
			e.stay++
			e.launch(now, buf, c, id, d)
			return true
		}
		e.turn, e.stay = e.turn+1, 0
	}
	return false
}

// maxStay is the number of datagrams that one connection sends before the next one's turn: as many as fit one batch
// of segments.
const maxStay = 64

func (e *Endpoint) launch(now unit.Time, buf []byte, c *Conn, id uint16, d *Datagram) {
	p := &e.packet
	e.Count.SentBytes += int64(p.Payload)
	if p.Opcode == roce.Acknowledge {
		e.Count.Acks++
	}
	if p.Again {
		e.Count.Again++
	}
	e.encode(buf, c, p, c.Service.tos(), id, d)
	c.sent(now, d.Len()+overhead)
	if c.pace.Credited() && !p.Opcode.IsResponse() && c.pace.Charge(int64(d.Len()+overhead)) {
		c.ask(now)
	}
}

// overhead is the number of bytes on the wire around BTH to ICRC: UDP, IPv4, Ethernet,
// FCS, preamble and gap.
const overhead = roce.UDPLen + roce.IPv4Len + roce.EthernetLen + roce.FCSLen + roce.PreambleIFG

// encode writes p as a datagram of connection c.
func (e *Endpoint) encode(buf []byte, c *Conn, p *rc.Packet, tos uint8, id uint16, d *Datagram) {
	h := &e.out
	*h = roce.Header{Opcode: p.Opcode, Solicited: p.Solicited, Migrated: true, Pad: uint8(-p.Payload & 3),
		PKey: roce.DefaultPKey, DestQP: c.DestQPN,
		BECN: p.Marked || p.List, AckReq: p.AckReq, PSN: p.PSN, VA: p.VA, RKey: p.RKey, Len: p.Len,
		Syndrome: p.Syndrome, MSN: p.MSN,
		Imm: p.Imm, InvKey: p.Imm,
		SwapAdd: p.SwapAdd, Compare: p.Compare, Orig: p.Orig}
	k := &e.kinds[p.Opcode]
	if k.head != nil {
		k.head(h)
	}
	b := h.Append(buf[:0])
	if e.tells {
		b = e.kept(b, unit.Time(p.VA))
	}
	*d = Datagram{Conn: c, Port: c.port(e.now, p), TOS: tos, Head: b, Payload: p.Data}
	if k.zeros > 0 {
		d.Payload = zeros[:k.zeros]
	}
	d.Tail = append(b, zeros[:int(h.Pad)+roce.ICRCLen]...)[len(b):]
	e.Reseal(d, id)
	e.Count.Sent++
}

// Wake returns when Tick, or Next again, is due: unit.Never when only a datagram or a new request can change the
// state.
func (e *Endpoint) Wake(now unit.Time) unit.Time {
	at := e.granter.NextAt()
	for _, c := range e.ring {
		if c.mrc != nil {
			at = min(at, c.mrc.wake(now, e.cfg.Coarse))
			continue
		}
		at = min(at, c.QP.TimeoutAt(), c.pace.Timer)
		if c.pace.NextAt > now && c.ready() {
			at = min(at, c.pace.NextAt)
		}
	}
	return at
}

// Tick runs the timers that are due.
func (e *Endpoint) Tick(now unit.Time) {
	for _, c := range e.ring {
		if c.mrc != nil {
			e.tickMRC(now, c)
			continue
		}
		c.tick(now)
		before := c.QP.Timeouts
		if c.QP.TimeoutAt() <= now && c.QP.Timeout(now) {
			if c.QP.Timeouts > before || c.QP.Silent() {
				una, _, _ := c.QP.Sequence()
				c.paths.Heard(now, una, entropy.TimedOut)
			}
			if c.QP.Timeouts > before {
				e.Count.Timeouts++
				c.Timeouts++
				if c.QP.State() != rc.Error {
					c.pace.Lost(now, cc.LossTimeout, c.QP.InFlightBytes())
					c.decide()
				}
			}
			c.drain()
			c.ask(now)
		}
	}
	e.grant(now)
}
