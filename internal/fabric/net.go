package fabric

import (
	"railyard/internal/engine"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// Event kinds of the fabric. Kinds from KindHost on belong to package host.
const (
	KindArrive  engine.Kind = iota // A port, B packet: a packet has entered a switch
	KindService                    // A port: an egress port is free again
	KindPFC                        // A port, B pauseFrame: a pause took effect
	KindRefresh                    // timer, A ingress: still congested, pause again
	KindExpire                     // timer, A egress: pause time is over
	KindPoll                       // A switch: watchdog poll
	KindHost    engine.Kind = 16
)

// Packet is one packet in flight, one cache line. Headers that follow from its
// queue pair and PSN are not stored; captures spell them out.
type Packet struct {
	next    int32
	Dst     int32 // destination NIC
	Loc     uint16
	Size    uint16 // frame bytes, FCS included, preamble and gap not
	Payload uint16
	Opcode  roce.Opcode
	Class   uint8 // queue in the switch it is in
	TOS     uint8 // DSCP and ECN bits
	Flags   uint8
	Synd    roce.Syndrome
	Hops    uint8
	Hash    uint32 // digest of the 5-tuple
	QP      int32  // destination queue pair; below zero: none, NIC ^QP sent it
	PSN     uint32
	In      int32  // ingress port
	enq     uint32 // time of queueing, in 1.024 ns
	VA      uint64
	Final   uint16    // destination after the region of Loc, while the packet is on a detour
	Level   uint8     // links between regions that the packet has crossed; see steer
	Came    uint8     // class in which it arrived at its ingress port, which accounts it to that class
	Len     uint32    // DMA length, or the MSN of an ACK
	Sent    unit.Time // time at which a probe left; its answer repeats this time
}

// Packet flags.
const (
	FlagAckReq uint8 = 1 << iota
	FlagAgain        // retransmission
	FlagTail         // cut-through: arrival of the tail
	FlagLeg          // the packet is on its detour to a region; Final is its destination
	FlagEcho         // BECN: of an ACK, the acknowledged packet was marked; of data, list the missing packets,
	// if receivers pull: the last packet that the sender has to send now
	FlagTrimmed // a switch has removed its payload
	FlagLastHop // with FlagTrimmed: trimmed at the port to the receiver, which the DSCP shows
)

// FlagINT: the packet has a telemetry header, which switches write into if it carries payload.
const FlagINT uint8 = 0x80

// ECN code points, the low two bits of TOS.
const (
	ECT0 uint8 = 2
	CE   uint8 = 3
)

// PortStats are the counters of one port, transmit side unless named ingress.
type PortStats struct {
	Marks, Drops        int64
	Trims               int64 // packets trimmed to their headers because the buffer was full
	Lost                int64 // sent into a broken link or corrupted on it
	PauseSent, PauseGot int64 // PFC frames with a quanta above zero
	ResumeSent          int64
	PausedFor           unit.Time // time that the peer paused it, any priority
	pausedSince         unit.Time
}

// portCfg is the cold part of a port.
type portCfg struct {
	rate     unit.Rate // the link's own rate; a port's Rate is the current one
	prop     unit.Time
	response unit.Time
	ber      float64
	noPFC    uint8   // priorities for which the port neither sends nor obeys pauses
	place    int16   // among its switch's ports
	erred    bool    // stream is there
	bitsLeft float64 // bits until the next bit error
	stream   rng.Stream
	past     *past // nil while its rate has never changed
}

// classQ is one class of one port: a list of packets and counters. Its peak is the one since TakePeak.
type classQ struct {
	head, tail, bytes, deficit, peak int32
}

// ingress is the PFC accounting of one (port, priority).
type ingress struct {
	shared, headroom int32
	peak, peakHead   int32
	held             int32 // its index in Switch.held plus 1; 0: it has never paused its peer
	pausing          bool
}

// Net is the network. State indexed by node, port or (port, class) belongs to the node, and only that node's events
// write it. A Partition belongs to no node.
type Net struct {
	Partition // state of one part, or of the whole network
	Ports     []route.Port
	Stats     []PortStats
	Sw        []Switch // by node; hosts have a zero Switch

	header   int // bytes that a cut-through switch reads
	switches int
	node     []int32      // owner of each port
	forward  []forward    // by node
	storms   []stormState // by (port, class); nil without watchdogs
	tables   tables
	cfg      []portCfg
	errors   []errorSource // by cable: port / 2
	classes  []classQ
	ing      []ingress
	usage    []usage   // by port; nil without telemetry
	interval unit.Time // interval of the measurement
	codes    []uint8   // by port: rates as codes of telemetry stamps; nil without telemetry
	causes   []int32   // by (port, priority): the latest cause of a pause, as returned by PauseCause
	hrLimit  []int32   // headroom
	// by class and port: peaks of queues since TakePeak; nil: TakePeak was never called
	peaks    [queue.Classes][]int32
	averages []average   // by (port, class); nil without WRED weights above 0
	detours  *detours    // nil: all packets take a shortest path
	informed []*informed // by node; nil: no chooser uses other switches' ports
	credits  *credits    // nil: no chooser uses neighbours' credits
	lags     *channels   // nil: every next hop is one cable
	beyond   []*beyond   // by port: known state of the next switch
	rings    *rings      // rings of a torus; nil: classes do not change on its rings
	sched    *scheduled  // nil: no scheduled fabric
	refresh  *engine.Timers
	expire   *engine.Timers

	Trace  func(at unit.Time, what string, port int32, prio int) // PFC and mark events; nil: off
	OnDrop func(pkt *Packet, port int32)
	// Repaused is called for pauses that keep a port paused; may be nil.
	Repaused func(port int32, prio int)

	// Tap receives the packets that cross tapped ports, and TapPFC the pause frames. Outgoing ones are reported
	// when the first bit leaves, incoming ones when the last bit arrives. p must not be kept.
	Tap    func(at unit.Time, port int32, out bool, p *Packet)
	TapPFC func(at unit.Time, port int32, out bool, prio, quanta int)

	// Fault decides the fate of each packet that leaves a port of FaultPort.
	Fault func(port int32, p *Packet) Fate
}

// Partition is the state that nodes on one event queue share: their clock, the slab of packets, and sums that no
// node reads. A packet that leaves a partition would be copied.
type Partition struct {
	Q       *engine.Queue
	Packets []Packet
	Waits   *WaitTable // queueing delay by flow and port; nil: off
	Totals

	told    []Told    // by packet; nil: no packet carries telemetry
	headers []headers // by packet; nil: no connection needs headers
	free    int32     // packets
	inUse   int
	tapped  int32 // the packet that Tap sees
	pollers int   // switches whose watchdog runs

	foreign []bool // nodes of other parts; nil: there are none
	send    func(Letter)
}

// Totals count what happened at all nodes of a partition.
type Totals struct {
	PacketHops, DataPacketHops int64
	Injected                   int64
	Marks, Drops               int64
	CorruptDrops               int64
	DownDrops                  int64
	NoRoute                    int64
	PauseFrames                int64 // pauses, refreshes included
	Pauses                     int64 // transitions from running to paused
	FullPauses                 int64 // of these pauses, those due to the full shared buffer below xOFF
	Storms                     int64
	StormDrops                 int64
	WREDDrops                  int64
	Trims, TrimmedBytes        int64 // packets trimmed to their headers, and their lost payload
	TrimDrops                  int64 // of Drops: trimmed packets
	Cells, CellsLost           int64 // sent over fabric links, of a scheduled fabric
	Requests, Grants           int64 // of credit
}

// Fate is the effect of a faulty link on a packet.
type Fate struct {
	Lost  bool
	Twice bool      // it arrives twice
	Late  unit.Time // extra delay of the packet, during which others may overtake it
	Marks bool      // whether the packet arrives with a congestion mark
	Cut   bool      // data arrive as headers, like a packet that a switch trimmed
	Last  bool      // with Cut: trimmed at the last hop
}

// Switch is one switch's state.
type Switch struct {
	Spec     *queue.Spec // nil for hosts
	Chooser  route.Chooser
	lossless uint8
	wred     uint8 // classes whose WRED examines every queued packet
	trims    uint8 // classes that trim packets without room
	shared   int64 // bytes used of the shared pool
	limit    int64 // size of the shared pool
	ports    []int32
	held     []holding // ingresses that have paused their peers
	stream   rng.Stream
	stormed  int           // queues that the watchdog empties
	steerer  route.Steerer // the chooser, if it is a Steerer
	regions  *route.Regions
}

// forward is the part of a switch that every packet reads: offsets into the flat tables of Tables. It has 40 bytes,
// so that it stays in the nearest cache.
type forward struct {
	fwd      int32 // codes by locator
	groups   int32
	near     int32 // attached NICs from nearBase: port
	nearBase int32
	nearLen  int32
	mtu      int32
	seed     uint32
	dscp     int32 // in tables.dscp
	groupsOf int32 // number of groups
	hashed   bool  // the chooser is a route.Hasher, with this seed
	slow     uint8 // reasons to look twice at every packet
}

// Bits of forward.slow.
const (
	slowCut      uint8 = 1 << iota // the port cuts through
	slowStorm                      // a watchdog drops packets for a stormed queue
	slowSteer                      // a chooser sends packets on detours
	slowAverage                    // WRED of some class has an average that packets passing by move
	slowInformed                   // a chooser uses the grades of neighbors
	slowRing                       // classes change along the rings of a torus
	slowChannel                    // some next hops are several cables
)

// tables holds the forwarding tables of all switches.
type tables struct {
	fwd     []int16 // by locator: a group, fwdAttached or fwdUnreachable
	groups  []group
	members []int32 // ports of the groups
	near    []int32
	dscp    []uint8 // 64 per distinct classification
}

// group is an equal-cost group: members[start:start+n].
type group struct{ start, n int32 }

// Codes in tables.fwd; others are groups.
const (
	fwdAttached    = -1
	fwdUnreachable = -2
)

// New returns an empty network; shift is the wheel's granularity (engine.New).
func New(shift uint) *Net {
	n := &Net{Partition: Partition{Q: engine.New(shift), free: -1}, header: headerLen}
	n.refresh = engine.NewTimers(n.Q, 0)
	n.expire = engine.NewTimers(n.Q, 0)
	return n
}

// slot numbers a (port, class) pair, class-major.
func (n *Net) slot(port int32, class int) int32 { return int32(class)*int32(len(n.Ports)) + port }

func (n *Net) portOf(slot int32) int32 { return slot % int32(len(n.Ports)) }

func (n *Net) classOf(slot int32) int { return int(slot) / len(n.Ports) }

// Alloc returns the index of a zeroed packet. It may move Packets, so pointers into the slab become invalid.
func (n *Net) Alloc() int32 {
	n.inUse++
	if i := n.free; i >= 0 {
		n.free = n.Packets[i].next
		n.Packets[i] = Packet{next: -1}
		return i
	}
	n.Packets = append(n.Packets, Packet{next: -1})
	if n.told != nil {
		n.told = append(n.told, Told{})
	}
	if n.headers != nil {
		n.headers = append(n.headers, headers{})
	}
	return int32(len(n.Packets) - 1)
}

// Free returns a packet to the pool.
func (n *Net) Free(i int32) {
	n.inUse--
	n.Packets[i].next = n.free
	n.free = i
}

// InUse returns how many packets exist.
func (n *Net) InUse() int { return n.inUse }

// Handle runs one fabric event.
func (n *Net) Handle(e *engine.Event) {
	switch e.Kind() {
	case KindArrive:
		n.Arrive(e.A, e.B)
	case KindService:
		n.service(e.A)
	case KindPFC:
		n.gotPFC(e.A, pauseFrame(e.B))
	case KindRefresh:
		if n.refresh.Live(e) {
			n.sendPause(e.A)
		}
	case KindExpire:
		if n.expire.Live(e) {
			n.unpause(n.portOf(e.A), n.classOf(e.A))
		}
	case KindPoll:
		n.poll(e.A)
	case KindVOQ:
		n.fromNIC(e.A, e.B)
	case KindEgress:
		n.sendToNIC(e.A)
	case KindCells:
		n.relay(e.A, e.B)
	case KindMessage:
		n.message(e.A, e.B)
	case KindTurn:
		n.turned(e.A, e.B)
	case KindGrade:
		n.grade(e.A)
	case KindTold:
		n.hear(e.A, e.B)
	case KindCredit:
		n.credited(e.A, e.B)
	}
}

// wire returns how long size frame bytes occupy the port, gap included.
func (n *Net) wire(tx *route.Port, size uint16) unit.Time {
	if tx.PsPerByte != 0 {
		return unit.Time(int32(size)+roce.PreambleIFG) * unit.Time(tx.PsPerByte)
	}
	return unit.Serialize(unit.Bytes(size)+roce.PreambleIFG, tx.Rate)
}

// Sent returns the wire bytes that have left a port by now. TxBytes counts a frame, and a pause frame after it,
// when its first bit leaves.
func (n *Net) Sent(port int32) int64 { return n.Ports[port].TxBytes - n.ahead(port) }

// Transmit puts packet pi on the wire of a port at now and schedules its arrival. now must not be before the port
// is free.
func (n *Net) Transmit(now unit.Time, port int32, tx *route.Port, pi int32, p *Packet) {
	ser := n.wire(tx, p.Size)
	tx.BusyUntil = now + ser
	tx.TxBytes += int64(p.Size) + roce.PreambleIFG
	tx.TxFrames++
	n.PacketHops++
	data := int64(0) // added without a branch: data and answers arrive in random order
	if p.Payload != 0 {
		data = 1
	}
	n.DataPacketHops += data
	delay := ser + tx.Flight
	if tx.Flags != 0 {
		if tx.Flags != flagStamp {
			if !n.special(port, tx, pi, p, &delay) {
				return
			}
		} else if p.told() { // the only flag of a working port with telemetry
			delay += n.stamp(port, tx, pi, p)
		}
	}
	n.Q.PushAfter(engine.Node(tx.Node), delay, engine.Kind(tx.Arrive), tx.Peer, pi)
}

// Port flags: reasons to leave the fast path of Transmit.
const (
	flagErrors uint8 = 1 << iota // the link has a bit error rate
	flagCut                      // the peer cuts through
	flagDown                     // the link is broken
	flagTapOut                   // a capture runs at this port
	flagTapIn                    // a capture runs at the peer
	flagFault                    // Fault decides losses
	flagLeaves                   // the peer is in another part
	flagStamp                    // a switch writes telemetry into packets
)

// headerLen is the number of bytes that a cut-through switch reads before it forwards: from Ethernet to BTH, over
// IPv4.
const headerLen = roce.EthernetLen + roce.IPv4Len + roce.UDPLen + roce.BTHLen

// OverIPv6 sets the longer IPv6 header for all packets.
func (n *Net) OverIPv6() { n.header = headerLen + roce.IPv6More }

// special handles broken, lossy and cut-through links, and links to other parts. It returns false if the packet is
// lost or passed to another part.
func (n *Net) special(port int32, tx *route.Port, pi int32, p *Packet, delay *unit.Time) bool {
	c := &n.cfg[port]
	if tx.Flags&flagDown != 0 {
		n.DownDrops++
		n.lose(port, pi, p)
		return false
	}
	if tx.Flags&flagStamp != 0 && p.told() {
		*delay += n.stamp(port, tx, pi, p)
	}
	n.tapped = pi
	if tx.Flags&flagTapOut != 0 {
		n.Tap(tx.BusyUntil-n.wire(tx, p.Size), port, true, p)
	}
	if tx.Flags&flagErrors != 0 {
		c.bitsLeft -= float64(p.Size) * 8
		if c.bitsLeft <= 0 {
			c.bitsLeft = exponential(&c.stream) / c.ber
			n.CorruptDrops++
			n.lose(port, pi, p)
			return false
		}
	}
	if tx.Flags&flagFault != 0 {
		fate := n.Fault(port, p)
		if fate.Lost {
			n.lose(port, pi, p)
			return false
		}
		if fate.Marks {
			p.TOS |= CE
		}
		if fate.Cut && p.Payload > 0 {
			p.Size, p.Payload = uint16(queue.MinTrim), 0
			if p.Flags |= FlagTrimmed; fate.Last {
				p.Flags |= FlagLastHop
			}
		}
		if *delay += fate.Late; fate.Twice {
			twin := n.Alloc() // moves the slab
			n.Packets[twin] = n.Packets[pi]
			n.beside(twin, pi)
			n.Injected++
			if tx.Flags&flagLeaves != 0 {
				n.leave(tx, engine.Kind(tx.Arrive), *delay, twin)
			} else {
				n.Q.PushAfter(engine.Node(tx.Node), *delay, engine.Kind(tx.Arrive), tx.Peer, twin)
			}
			p = &n.Packets[pi]
		}
	}
	if tx.Flags&flagTapIn != 0 {
		n.Tap(tx.BusyUntil+c.prop, tx.Peer, false, p)
	}
	if tx.Flags&flagCut != 0 && int(p.Size) > n.header {
		*delay -= unit.Serialize(unit.Bytes(int(p.Size)-n.header), tx.Rate)
	}
	if tx.Flags&flagLeaves != 0 {
		n.leave(tx, engine.Kind(tx.Arrive), *delay, pi)
		return false
	}
	return true
}

func (n *Net) lose(port int32, pi int32, p *Packet) {
	n.Drops++
	n.Stats[port].Lost++
	if n.tapped = pi; n.OnDrop != nil {
		n.OnDrop(p, port)
	}
	n.Free(pi)
}
