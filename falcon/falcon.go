// Package falcon is Google's Falcon transport without I/O. A connection has up to four paths with a delay window
// each (Swift), and acknowledgements with bitmaps. It retransmits early (RACK and tail-loss probes) and changes
// paths under persistent congestion (PLB). It needs no lossless network.
//
// Sources: the OCP Falcon specification (revision 0.9, March 2024) and Isekai, the simulator that Google published
// with it (falcon-transport/isekai, Apache 2.0). Defaults and rules are Isekai's; each file names its source. It
// carries WRITEs as Falcon's push transactions, on an ordered connection: any order on the wire and in memory,
// completions in order.
//
// Choices of Railyard, where the public sources are silent or its fabrics need them:
//   - RACK looks at each path's packets alone. Isekai compares all packets of a connection with one round
//     trip, which takes the difference between two paths for loss.
//   - Packets ask for an acknowledgement by a count, not by chance (Isekai: one in ten, at random).
//   - A path gets a new label after a retransmission time-out, too, as in Protective ReRoute (Wetherall et
//     al., SIGCOMM 2023), and with several planes of switches the label is of another plane.
//   - There is no second window for the far NIC (ncwnd): simulated receivers take what comes.
//   - Targets are those of our Swift, from the path's own round trip, and paths begin with what they hold: Isekai's
//     25 us are for fabrics with more of it, and from its 32 packets a lone flow takes hundreds of round trips to line
//     rate. `profile: falcon` of cc.swift has Isekai's; in deep incasts nothing else keeps the first burst from being
//     dropped.
package falcon

import (
	"fmt"

	"railyard/cc"
	"railyard/param"
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// Protocol is Falcon's place in lists of protocols.
var Protocol = transport.Protocol{
	Name: "falcon", Title: "Falcon", Words: "Falcon: up to four paths per connection, a delay window on each",
	Params: parameters.Params(), Defaults: parameters.Defaults(),
	Signals: []cc.Term{
		{Name: cc.SignalRate, Unit: "bit/s", Doc: "the windows of all paths per round trip"},
		{Name: cc.SignalWindow, Unit: "B", Doc: "the windows of all paths"},
		{Name: cc.SignalDelay, Unit: "s", Doc: "the longest of the paths' smoothed round trips"},
	},
	Counters: []cc.Term{
		{Name: "rack", Doc: "packets retransmitted because later ones had arrived"},
		{Name: "probes", Doc: "tail-loss probes: packets retransmitted in silence"},
		{Name: "timeouts", Doc: "retransmission time-outs"},
		{Name: "repaths", Doc: "paths left: for congestion, or after a time-out"},
		{Name: cc.CounterCuts, Doc: "cuts of a path's window"},
	},
	Needs:    cc.Needs{Switch: "-", NIC: "clock, 4 windows and 1,024 packets per connection"},
	Ordered:  true,
	CC:       ownControl,
	Controls: []string{"swift", "dctcp", "timely", "none"},
	Check:    check,
	New:      func(v param.Values, c transport.Common) transport.Maker { return &maker{settings: settingsOf(v, c)} },
}

// ownControl is the default congestion control of each path.
const ownControl = "swift"

func check(v param.Values, c transport.Common) (name, fault string) {
	s := parameters.Read(v)
	if n := s.Window; n&(n-1) != 0 {
		return "window", fmt.Sprintf("%d is not a power of two", n)
	}
	if c.Planes > 1<<flowBits {
		return "paths", fmt.Sprintf("are at most %d, distinguished by %d bits of the flow label (Isekai, host/falcon/rue/bits.h), and do not reach the %d planes of the NICs, as srd and mrc do",
			1<<flowBits, flowBits, c.Planes)
	}
	if n := s.Paths; n < c.Planes {
		return "paths", fmt.Sprintf("%d do not reach the %d planes of the NICs: at least one for each", n, c.Planes)
	}
	return "", ""
}

// settings are the settings that all connections share. Defaults are those of Isekai: default_config_generator.cc
// and rue/algorithm/swift.cc. The factors of RACK and the probe are those of its example
// single_rack_p2p_800g_rack_tlp. A window of 512 is that of Falcon's third generation. Seven time-outs are RoCE's
// retries.
type settings struct {
	transport.Common
	Paths      int       `yaml:"paths" range:"1,4" default:"4" doc:"flow labels of a connection, each with its own window"`
	Weighted   bool      `yaml:"weighted" default:"false" doc:"false: the path with most room in its own window (third generation); true: in turn by windows' shares, below a limit of all paths (second generation)"`
	Window     int       `yaml:"window" range:"64,4096" default:"512" doc:"packets that a receiver distinguishes; a power of two"`
	AckCount   int       `yaml:"ack_count" range:"1,128" default:"10" doc:"packets of a path per acknowledgement, at most"`
	AckDelay   unit.Time `yaml:"ack_delay" range:"0ns,1ms" default:"8us" doc:"how long an acknowledgement may wait for more"`
	AskEvery   int       `yaml:"ask_every" range:"1,128" default:"10" doc:"one packet in N requests an immediate acknowledgement"`
	Reorder    float64   `yaml:"reorder" range:"0,4" default:"0.25" doc:"RACK: round trips that a packet may be later than a later one of its path"`
	ProbeAfter float64   `yaml:"probe_after" range:"0.1,100" default:"1.1" doc:"tail-loss probe: round trips without an answer until the oldest packet is retransmitted"`
	Early      int       `yaml:"early" range:"0,250" default:"16" doc:"how often a packet may go again before its time-out"`
	MinTimeout unit.Time `yaml:"min_timeout" range:"1us,1s" default:"250us" doc:"retransmission time-out at least; else two round trips"`
	Retries    int       `yaml:"retries" range:"1,30" default:"7" doc:"consecutive time-outs after which the connection is closed"`
	PLB        bool      `yaml:"plb" default:"true" doc:"leave paths that stay congested"`
	PLBShare   float64   `yaml:"plb_share" range:"0.01,1" default:"0.5" doc:"share of late packets that makes a round congested"`
	PLBRounds  int       `yaml:"plb_rounds" range:"1,100" default:"5" doc:"congested rounds in a row after which a path is left"`
	PLBLate    float64   `yaml:"plb_late" range:"1,10" default:"1.01" doc:"number of target delays above which a packet is late"`
	PSP        bool      `yaml:"psp" default:"true" doc:"packets are encrypted: 40 B more"`
}

// parameters are the keys of scenarios.
var parameters = param.In[settings]()

func settingsOf(v param.Values, c transport.Common) settings {
	s := parameters.Read(v)
	s.Common = c
	s.Planes = max(1, s.Planes)
	if s.CC == nil {
		s.CC = cc.Lookup(ownControl).Use("", 0)
	}
	return s
}

// maker makes ends that share the settings.
type maker struct{ settings }

// peer is nothing but the path: Falcon shares nothing between connections.
type peer struct {
	m    *maker
	path cc.Path
}

// Peer returns the maker of senders to one far NIC.
func (m *maker) Peer(path cc.Path, _ uint64) transport.Peer { return &peer{m, path} }

// Sender makes a connection's sending end.
func (p *peer) Sender(seed uint64) transport.Sender { return newSender(&p.m.settings, p.path, seed) }

// Receiver makes the receiving end of a connection.
func (m *maker) Receiver(cc.Path, uint64) transport.Receiver {
	return &receiver{s: &m.settings, in: window.NewIn(m.Window, uint64(m.MTU), true), ackAt: unit.Never}
}

// Header bytes by layer, as Isekai counts them (common/constants.h): Falcon's base header, and the header of a push
// with its RDMA part. IPv6 is always used, because flow labels select paths. Encrypted packets have PSP's header
// and trailer.
const (
	ethernet  = 14 + 4 // and FCS
	ipUDP     = 40 + 8
	pspBytes  = 24 + 16
	pushBytes = 24 + 12 + 28
	ackBytes  = 24 + 8  // base ACK: window bases and time stamps, besides the base header
	bitmap    = 16 + 16 // an extended ACK's 128 bits for data, and 128 for requests
)

// Wire is a frame's length.
func (m *maker) Wire(p *transport.Packet) int {
	n := ethernet + ipUDP
	if m.PSP {
		n += pspBytes
	}
	switch {
	case p.Kind == transport.Data:
		return n + pushBytes + int(p.Payload)
	case p.Bits != [2]uint64{}:
		return n + ackBytes + bitmap
	}
	return n + ackBytes
}

// State returns the bytes of connection state in a NIC: the windows' entries are 32 and 1 bytes in hardware that
// packs them.
func (m *maker) State() (connection, peer int) { return m.Paths*32 + m.Window*32 + m.Window/8 + 64, 0 }
