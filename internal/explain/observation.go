package explain

import (
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"
)

// Observation is what a fidelity saw its network do until some moment: beside the execution,
// all that explaining reads. Whoever fills it in keeps none of its slices from changing; it
// is read before the simulation goes on.
//
// A fidelity must provide messages (what was sent when, and when it was there), connections
// (who sends to whom), ports (what crossed them), the routes, and the rules by which bytes
// become time: from these follow completion times, ideals, bounds, the chain and what
// transfers had to share. What it counted or recorded beside goes into Counted and Recorded
// and is passed on as it is. Packets is for those that have packets.
type Observation struct {
	Fidelity string
	At       unit.Time // when it was made
	Routes   *topo.Routes
	Maps     []*topo.Routes // of each map that circuits had; nil: none moved
	Rules    Rules
	Messages []Message // in the order in which they were posted
	Conns    []Conn
	Ports    []Port // a link's at A and at B, link by link
	Ways     Ways
	Lost     []Lost           // connections that gave up, in the order of time
	Dead     []scenario.Death // servers whose processes have ended
	Moves    []Move           // of connections that have one way each, when routes changed

	Counted  result.Summary // counters that the fidelity has
	NaksLost int64          // RC: NAKs that never reached the sender
	Recorded result.Tables  // series that it recorded: Links, Pauses, Signals
	Story    []Happening    // what queues and rates did, in order; none unless asked for
	Limits   []string       // what it did not record, in words
	Cuts     []result.TableCut
	Chains   Chains // closed chains of pauses that were met
	Holds    []Hold // where the bytes were that ports were paused for; none recorded: nil
	Held     []Held // and whose they were: samples
	// PausesUntil is the time up to which pauses, holds and samples were recorded; 0: all were.
	PausesUntil unit.Time
	Packets     *Packets // nil: the fidelity knows no packets
	// Paced is by message the time for which its congestion control was what limited it; of a fidelity without packets.
	Paced []unit.Time
	// Silences is by message the time for which its connection waited after losses, of a fidelity without packets;
	// messages that lost nothing are not in it.
	Silences map[int32]Silence
}

// Silence is how long a connection waited after losses until it retransmitted.
type Silence struct {
	Time     unit.Time
	Timeouts int32 // local ACK timeouts during the wait
}

// Rules are how bytes become time, the same for all connections.
type Rules struct {
	MTU       unit.Bytes // payload of a full packet
	WriteOnly bool       // each packet has an address of its own
	// Frame is how long frames are, by their payload, where they are not RC's; nil.
	Frame      func(payload int) int
	More       int // bytes of an RC frame in addition to a frame over IPv4
	CutThrough bool
	NICLatency unit.Time   // at either end
	PCIe       unit.Rate   // between NIC and memory; 0 when it does not count
	Buses      []unit.Rate // by NIC: PCIe that is its own matter, or shared; 0: none; nil: nowhere
	Hashed     bool        // each connection has one way, Ways.Path; otherwise packets choose anew
	Spreads    bool        // a message's packets may take several ports of a switch at once
	SpreadsNIC bool        // and several of their NIC's
	Entropy    bool        // and hashing says which, by a value that the transport chooses
	Detours    bool        // packets go by other ways than the shortest too
	Direct     bool        // they do not, though all groups are on their ways: minimal routing
}

// Message is bytes that were handed to a NIC at once: a transfer, or a part of one.
type Message struct {
	Op, Conn int32
	Bytes    unit.Bytes
	Posted   unit.Time
	Done     unit.Time // the receiving GPU sees it; 0 while under way
}

// Conn is what carries messages one after the other: a queue pair, or a flow.
type Conn struct {
	From, To int32 // NICs
	Service  int   // among the plan's
	Port     int32 // by which it sends
	Home     int32 // the port by which it would send if nothing had failed
	Line     unit.Rate
	Most     unit.Bytes // payload in flight that it never exceeds; 0: nothing bounds it
	// that its transport's own window allows, whatever controls congestion; 0: nothing bounds it
	Own     unit.Bytes
	RTT     unit.Time  // of a full packet where nothing else is on its way
	Granted float64    // share of its receiver's line that is granted as credit; 0: it needs none
	Unasked unit.Bytes // of wire that a burst sends without credit,
	Pulls   bool       // a burst also sends what is granted during the burst
	Cuts    int64      // of its rate
	Marked  int64      // packets that came marked
	Again   int64      // packets sent once more
}

// Lost is a connection that gave up for good: its retries were exhausted.
type Lost struct {
	Conn int32
	At   unit.Time
	Why  string // as its completion says
}

// Move is what a change of routes made of connections' ways.
type Move struct {
	At       unit.Time
	Of       int // connections
	Moved    int // that take other ways since
	Needless int // moved connections whose old path had no failure
	// Before is the ports that each connection had until then, of those that moved; nil: not recorded.
	Before map[int32][]int32
}

// Port is one end of a link; what it sends.
type Port struct {
	Link, Node, Peer int32 // Peer: the port at the link's other end
	Rate             unit.Rate
	Flight           unit.Time  // from its last bit on the wire to where the peer can pass it on
	Bytes            unit.Bytes // on the wire, until now
	Used             bool       // something was sent, or begun
	Packets          PortPackets
}

// PortPackets is what only packets tell of a port.
type PortPackets struct {
	Frames, Marks, Drops      int64
	Trims                     int64 // packets cut to their headers
	PauseSent, PauseGot       int64 // PFC frames
	Paused                    unit.Time
	PausedBy                  int32 // egress port whose congestion made the peer pause it last, -1 for none
	QueuePeak                 unit.Bytes
	IngressPeak, HeadroomPeak unit.Bytes
}

// Ways tells which ports connections use, of those that are asked for.
type Ways interface {
	// Path is the ports that a connection has where each has one way (Rules.Hashed).
	Path(conn int32) []int32
	// Leaves is the ports of its NIC by which a connection's packets leave: one, or all among which they are spread.
	Leaves(conn int32) []int32
	// PathFrom is the ports of switches on the path of packets that leave by a port of the NIC (Rules.Hashed).
	PathFrom(conn, port int32) []int32
	// Back is the ports by which a connection's acknowledgements go where each has one way, from the receiver's on;
	// nil: they wait for nothing.
	Back(conn int32) []int32
	// Choices is hop by hop the ports of switches among which its bytes could go.
	Choices(conn int32) [][]int32
}

// Packets is what only a fidelity with packets tells: without it nothing is blamed on
// queues, pauses, rates held back or packets sent again.
type Packets struct {
	Troubles []Trouble // by message
	Waits    []Wait    // of sampled packets, by connection and port
}

// Trouble is what held up a message, taken down while it was under way.
type Trouble struct {
	Held    unit.Time // how long congestion control's pace kept its packets back,
	Window  unit.Time // its window,
	Credit  unit.Time // and the credit that it needed; one at a time
	Late    unit.Time // and how long it waited until the want of answers told it of losses
	Port    int32     // where its packets waited longest, or its queue pair's before; -1 for nowhere
	Again   int32     // packets that its queue pair retransmitted meanwhile,
	Trimmed int32     // and how many a switch had cut to their headers,
	Refused int32     // and how many the receiver's NIC dropped because its reorder memory was full
	// Timeouts is how often the local ACK timeout ran out.
	Timeouts int32
	Sampled  bool // its packets were examined
	Earlier  bool // Port is where an earlier message waited
}

// Wait is how long the sampled packets of one connection waited at one port: every
// sixteenth is looked at.
type Wait struct {
	Conn, Port int32
	Total      unit.Time
	Samples    int32
	MaxQueue   int32
}
