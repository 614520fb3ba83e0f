package host

import (
	"slices"

	"railyard/cc"
	"railyard/entropy"
	"railyard/internal/engine"
	"railyard/internal/fabric"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/unit"
)

// Event kinds of hosts. Kinds from KindUser on belong to the caller.
const (
	KindRx      engine.Kind = fabric.KindHost + iota // A port, B packet: the last bit is in
	KindTx                                           // A port: it may send
	KindPace                                         // A sender: its next packet is due
	KindCC                                           // timer, A sender
	KindTimeout                                      // A sender: local ACK timeout
	KindPost                                         // A message: the work request reached the NIC
	KindDeliver                                      // A message: the receiving GPU sees it
	KindDrain                                        // A NIC: its receive buffer has drained to xON
	KindGrant                                        // A NIC: its next grant of credit is due
	// B end of a connection: the transport protocol requests a call
	KindTick
	KindCNP              // A receiver, B its port: it answers a mark
	KindUser engine.Kind = 32
)

// Bond is how a NIC with two ports (a link bundle to a switch pair) distributes its packets.
type Bond uint8

// Bond modes.
const (
	BondHash     Bond = iota // a flow's hash picks its port
	BondAffinity             // queue pairs use ports in turn, as mlx5 RoCE LAG does
	BondSpray                // each packet takes the port that is free
)

// Config is the configuration that all NICs of a run share.
type Config struct {
	RC       rc.Config
	Services []Service    // services that connections may use
	Strict   uint8        // classes of data that go before others, and
	Weights  [classes]int // shares of a port among the other classes
	Latency  unit.Time    // work request to NIC, and packet in NIC to GPU
	Bond     Bond
	// SourcePorts is the number of UDP source ports that each end of a queue pair uses in turn; below 2: one.
	SourcePorts int
	// Choose makes senders' choosers of source ports. nil, or no chooser: the ports are used in turn.
	Choose entropy.Make
	// IPv6: RC's frames have 20 bytes more. Ends of protocols have their own IP version.
	IPv6 bool
	// Interval is over how long switches measure available bandwidth, for congestion signaling.
	Interval unit.Time
	PCIe     unit.Rate // payload rate between GPU and NIC, each way; 0: no limit
	RxXOff   unit.Bytes
	RxXOn    unit.Bytes
	Reorder  Reorder // memory of a NIC for RC packets that it cannot place yet
	// Markings are by NIC, for NICs that mark RC's packets differently from their services.
	Markings map[int32]Marking
}

// nic is one network card.
type nic struct {
	ports    []int32
	element  engine.Element // its host
	loc      uint16
	slow     bool // there are buses
	pausing  bool
	storming bool      // whether it pauses its switch regardless of its buffer
	split    bool      // the bundle no longer sprays
	rxFree   unit.Time // time at which everything received is written to GPU memory
	pcie     unit.Rate // rate of its slowest bus
	line     unit.Rate // rate of one port
	buses    []int32
	over     []int32   // ports over which it sprays
	granter  *granter  // nil unless a connection needs its credit
	store    *rc.Store // data that its responders store; nil: they place every packet immediately
	detoured unit.Time // time at which all data that pass through its own memory have left it
}

// sender is the requester end of a queue pair, with its pacing. Each packet reads four cache lines of 64 bytes: the
// sender's first one, the pacer's and two of the queue pair (TestLines).
type sender struct {
	next    int32 // next in the port's ring
	nic     int32
	port    int32
	dst     int32
	hash    uint32
	loc     uint16
	class   uint8 // class of its service
	tos     uint8
	service uint8
	extra   uint8 // bytes of telemetry in each of its packets
	inRing  bool
	timer   bool // a timeout event is under way
	stuck   bool // data are to be sent and the window is full
	sprayed bool
	pulled  bool           // its receiver pulls
	ending  ending         // state of its connection
	paths   *entropy.Paths // nil: its data also take the ports in turn
	paceAt  unit.Time      // time of the set pacing event; unit.Never: none
	timerAt unit.Time      // time for which the controller's timer is set
	// time for which pacing delayed packets on a free port; while it delays one, minus the start
	held unit.Time

	pace     cc.Pacer  // Ctl is nil without congestion control
	windowed unit.Time // likewise for the window

	qp rc.QP

	stuckAt unit.Time // time since which its window is full, valid while stuck
	watched unit.Time // time of the timeout event under way
	turn    entropy.Turn
	tag     int32 // the queue pair's index among those of the same peers
	first   int32 // message posted first, -1 for none
	last    int32 // and last
	_       [32]byte
}

// receiver is the responder end. It is another element than the sender and learns of messages by their packets. The
// order of messages was fixed when they were posted, before their first packet left. Of most packets it reads two
// cache lines, both of the queue pair.
type receiver struct {
	qp      rc.QP
	lastCNP unit.Time
	src     int32
	hash    uint32
	loc     uint16
	service uint8
	marked  bool // a packet since the last answer was marked, and the service echoes that
	turn    entropy.Turn
	ce      int64
	cut     int64  // data packets that arrived as headers
	done    int32  // message finished last, -1 for none
	pieces  int32  // received pieces of the next message
	flow    int32  // index of the flow at its NIC's granter
	final   uint32 // last packet before its sender had no more data,
	ends    bool   // whether that packet has arrived
	_       [64]byte
}

// Message is one WRITE (or a chain of them above 2 GiB) between two GPUs.
type Message struct {
	Conn   int32
	next   int32 // next message of the connection, written once, when that one is posted
	Bytes  unit.Bytes
	Tag    int64
	Posted unit.Time // time of the application's request
	Done   unit.Time // time at which the receiving GPU has it; 0 while in flight
}

// Counters are the transport's totals.
type Counters struct {
	CNPs, Acks, Naks       int64
	NaksReceived           int64 // RC: the others were lost
	OutOfOrder             int64 // data packets that overtook the expected one
	Trimmed                int64 // data packets that arrived as headers
	Retransmissions        int64
	Timeouts               int64
	EarlyTimeouts          int64 // early timeouts of selective recovery, before the ACK timeout
	Duplicates             int64
	DataPackets, DataBytes int64 // sent, retransmissions included
	HeldPeak               int   // maximum of packets that one receiver stored out of order
	NoRoom                 int64 // data packets that NICs dropped because their reorder memory was full
	Failed                 int64 // queue pairs in error
}

// Hosts runs all NICs of a network. NICs, rings, senders and receivers belong to the node of their NIC, and only
// its events write them. A partition belongs to no node.
type Hosts struct {
	Net      *fabric.Net
	Messages []Message
	partition

	// OnDeliver is called when a message is in the receiver's memory, and OnFail when a queue pair gives up on a
	// message.
	OnDeliver func(msg int32)
	OnFail    func(conn int32, s rc.Status)
	// OnRate sees every change of a sender's rate; nil by default.
	OnRate func(conn int32, r unit.Rate)

	cfg       *Config
	base      engine.Kind // offset of the kinds of its events
	wired     []int32     // by port of a NIC connected to an edge: the edge's port; nil: none
	ip        int         // additional bytes of RC's frames compared with IPv4
	nics      []nic
	buses     []bus
	senders   []sender
	receivers []receiver
	take      [256]Taker // handler of each opcode
	rings     rings
	carried   []ends        // by connection of a transport protocol; its length ends with the highest one
	pieces    map[int32]int // missing pieces of messages above rc.MaxMessage on such connections
	wide      bool          // there are widePorts
	lanes     *lanes        // nil: no service names a protocol
	peers     map[peerKey]*peer
	hosts     map[engine.Element]*transport.Host // hosts whose transport runs in software
	summed    Counters                           // counters of ends at the last summation
	silences  map[int32]Silence                  // by connection: its silence after failures
	ccTimers  *engine.Timers
	memory    *rc.Memory
	rkey      uint32
}

// partition is the state that NICs on one event queue share. It has sums that none of them reads, and scratch space
// that is empty between two events. There is one today.
type partition struct {
	Count   Counters
	scratch rc.Packet
	answer  rc.Answer
	inHand  int32        // the packet that is taken
	told    cc.Telemetry // decoded telemetry of the packet
	saying  transport.Packet

	arriving coming // packets
	leaving  coming // connections whose packet leaves; negative: none
}

// New returns the hosts of a network; NICs and connections are added next.
func New(net *fabric.Net, cfg *Config) *Hosts {
	h := &Hosts{Net: net, cfg: cfg, take: takers(), rings: newRings(len(net.Ports)), memory: rc.NewMemory(0x1000)}
	if cfg.IPv6 {
		h.ip = roce.IPv6More
	}
	h.rkey = h.memory.Register(0, 1<<62, rc.LocalWrite|rc.RemoteWrite)
	h.ccTimers = engine.NewTimers(net.Q, 0)
	if slices.ContainsFunc(cfg.Services, func(s Service) bool { return s.Telemetry != roce.NoTelemetry }) {
		net.StampAll(cfg.Interval)
	}
	h.wide = len(net.Ports) >= widePorts
	h.protocols()
	return h
}

// frame is the length of RC's frame.
func (h *Hosts) frame(opcode roce.Opcode, payload int) int {
	return roce.DataLen(opcode, payload) + h.ip
}

// AddNIC adds a NIC with one or more ports; loc is its locator in the routing
// tables. Its number is also its address.
func (h *Hosts) AddNIC(ports []int32, loc uint16) int32 {
	n := nic{ports: ports, over: ports, loc: loc, line: h.Net.Rate(ports[0])}
	n.element = engine.Node(h.Net.Ports[ports[0]].Node)
	h.nics = append(h.nics, n)
	id := int32(len(h.nics) - 1)
	h.remember(id)
	if h.cfg.PCIe > 0 && h.cfg.PCIe < n.line*unit.Rate(len(ports)) {
		h.Share(Bus{h.cfg.PCIe, []int32{id}})
	}
	return id
}

// Reserve allocates memory for the given connections and messages, so that the tables are not copied while they
// grow.
func (h *Hosts) Reserve(conns, messages int) {
	h.senders = slices.Grow(h.senders, conns)
	h.receivers = slices.Grow(h.receivers, conns)
	h.Messages = slices.Grow(h.Messages, messages)
}

// Connect sets up a queue pair of a service that carries data from one NIC to another. tag distinguishes several
// pairs between the same peers, ports are the NIC's ports that reach the peer, and hash is the digest of its
// 5-tuple. Both ends pass INIT and RTR to RTS with starting PSN psn.
func (h *Hosts) Connect(service int, src, dst int32, ports []int32, tag int32, hash, psn uint32) int32 {
	c := int32(len(h.senders))
	n := &h.nics[src]
	sv := &h.cfg.Services[service]
	if sv.Protocol != nil {
		return h.carry(service, src, dst, tag, hash, psn)
	}
	class, tos := h.marks(src, sv)
	h.rings.use(class)
	s := sender{service: uint8(service), class: class, tos: tos, tag: tag,
		paths: h.chooser(hash),
		extra: uint8(sv.Telemetry.Len()), pulled: sv.Credit.Pulls,
		next: -1, first: -1, last: -1, qp: rc.NewQP(&h.cfg.RC, nil), nic: src, dst: dst, hash: hash,
		loc:     h.nics[dst].loc,
		timerAt: unit.Never, paceAt: unit.Never,
		pace: cc.Pacer{Line: n.line, Rate: n.line, MTU: unit.Bytes(h.cfg.RC.MTU), Named: h.cfg.RC.Named}}
	if h.cfg.Bond == BondSpray && len(n.ports) > 1 {
		s.pace.Line = n.line * unit.Rate(len(n.ports))
		s.pace.Rate = s.pace.Line
	}
	r := receiver{service: uint8(service), qp: rc.NewQP(&h.cfg.RC, h.memory), src: src, hash: hash,
		loc: n.loc, done: -1, lastCNP: -unit.Never / 2}
	for _, st := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
		// The walk RESET-INIT-RTR-RTS cannot be refused for fresh pairs. A responder needs no more than RTR.
		if s.qp.Modify(st, psn) != nil || st != rc.ReadyToSend && r.qp.Modify(st, psn) != nil {
			panic("host: fresh queue pair refused " + st.String())
		}
	}
	if store := h.nics[dst].store; store != nil {
		r.qp.KeepIn(store)
	}
	h.senders = append(h.senders, s)
	h.receivers = append(h.receivers, r)
	h.ccTimers.Grow(len(h.senders))
	h.join(c)
	h.usePorts(c, ports)
	h.regulate(c)
	h.decide(c)
	h.reline(c)
	return c
}

// RKey is the key of all NICs' memory, which every WRITE carries; packets do not keep it.
func (h *Hosts) RKey() uint32 { return h.rkey }

// Conns returns the number of connections.
func (h *Hosts) Conns() int { return len(h.senders) }

// Peers returns the NICs of a connection.
func (h *Hosts) Peers(c int32) (src, dst int32) { return h.senders[c].nic, h.senders[c].dst }

// Line returns the rate at which a connection may send if all cables work: its port's, or that of all ports of its
// NIC with spraying.
func (h *Hosts) Line(c int32) unit.Rate {
	n := &h.nics[h.senders[c].nic]
	if h.cfg.Bond == BondSpray || h.endsOf(c) != nil {
		return n.line * unit.Rate(len(n.ports))
	}
	return n.line
}

// Handle runs one host event.
func (h *Hosts) Handle(e *engine.Event) {
	switch e.Kind() - h.base {
	case KindRx:
		h.Rx(e.A, e.B)
	case KindTx:
		h.tx(e.A)
	case KindPace:
		s := &h.senders[e.A]
		if s.paceAt == h.Net.Q.Now() { // else the rate was raised meanwhile
			s.paceAt = unit.Never
			s.held += h.Net.Q.Now()
			h.ready(e.A, s)
		}
	case KindCC:
		if h.ccTimers.Live(e) {
			s := &h.senders[e.A]
			s.timerAt = unit.Never
			s.pace.OnTimer(h.Net.Q.Now())
			h.decide(e.A)
			if s.pace.Credited() {
				h.ask(e.A, s)
			}
		}
	case KindTimeout:
		h.timeout(e.A)
	case KindPost:
		h.post(e.A)
	case KindDeliver:
		m := &h.Messages[e.A]
		m.Done = h.Net.Q.Now()
		h.OnDeliver(e.A)
	case KindDrain:
		h.drained(e.A)
	case KindGrant:
		h.nics[e.A].granter.armed = false
		h.grant(e.A)
	case KindTick:
		h.tick(e.A, e.B)
	case KindCNP:
		h.notify(e.A, e.B)
	}
}

// SetLocator changes a NIC's locator after a rerouting.
func (h *Hosts) SetLocator(nic int32, loc uint16) {
	if h.nics[nic].loc == loc {
		return
	}
	h.nics[nic].loc = loc
	for i := range h.senders {
		if h.senders[i].dst == nic {
			h.senders[i].loc = loc
		}
		if h.receivers[i].src == nic {
			h.receivers[i].loc = loc
		}
	}
}

// Port returns the port by which a connection sends.
func (h *Hosts) Port(c int32) int32 { return h.wire(h.senders[c].port) }

// Path returns the ports of a connection's packets on the path that hashing selects. It starts at the NIC's port
// unless its packets take the ports in turn.
func (h *Hosts) Path(c int32) []int32 {
	s := &h.senders[c]
	port := h.wire(s.port)
	ports := h.Net.Path(port, s.dst, s.loc, s.hash)
	if s.sprayed {
		return ports
	}
	return append([]int32{port}, ports...)
}

// Leaves returns the ports of its NIC by which a connection's packets leave: one, or all with spraying.
func (h *Hosts) Leaves(c int32) []int32 {
	s := &h.senders[c]
	switch n := &h.nics[s.nic]; {
	case h.endsOf(c) != nil:
		return h.wires(n.ports)
	case s.sprayed:
		return h.wires(n.over)
	}
	return []int32{h.wire(s.port)}
}

// PathFrom returns the switch ports on the path of a connection's packets that leave by a port of its NIC, as far
// as hashing decides.
func (h *Hosts) PathFrom(c, port int32) []int32 {
	s := &h.senders[c]
	return h.Net.Path(port, s.dst, s.loc, s.hash)
}

// ChoicesFrom is Choices of packets that leave by a port of the NIC.
func (h *Hosts) ChoicesFrom(c, port int32) [][]int32 {
	s := &h.senders[c]
	return h.Net.Choices(port, s.dst, s.loc)
}

// Back returns the ports of a connection's acknowledgements on the path that hashing selects, starting at the
// receiver. It returns nil if acknowledgements precede data, or if the transport is not RC.
func (h *Hosts) Back(c int32) []int32 {
	s, r := &h.senders[c], &h.receivers[c]
	if h.Service(c).AcksFirst || h.endsOf(c) != nil {
		return nil
	}
	there := h.Path(c)
	if len(there) == 0 {
		return nil
	}
	in := h.Net.Ports[there[len(there)-1]].Peer
	if !h.reaches(s.dst, in) {
		return nil
	}
	return append([]int32{in}, h.Net.Path(in, r.src, r.loc, r.hash)...)
}

// Choices returns hop by hop the ports of switches among which a connection's packets are distributed.
func (h *Hosts) Choices(c int32) [][]int32 {
	s := &h.senders[c]
	return h.Net.Choices(h.wire(s.port), s.dst, s.loc)
}
