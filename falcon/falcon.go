// Package falcon is Google's Falcon transport without I/O: one connection over up to four paths, a delay
// window per path (Swift), acknowledgements with bitmaps, early retransmission (RACK and tail-loss probes),
// and paths that are left when they stay congested (PLB). It needs no lossless network.
//
// What is public: the OCP Falcon specification (revision 0.9, March 2024) and Isekai, the simulator that
// Google published with it (falcon-transport/isekai, Apache 2.0), whose defaults and rules this follows;
// files say which. It carries WRITEs as Falcon's push transactions, on an ordered connection: any order on
// the wire and in memory, completions in order.
//
// What is ours, because the public texts leave it open or because our fabrics need it:
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
	Params: []param.Param{
		{Name: "paths", Kind: param.Count, Min: "1", Max: "4",
			Doc: "flow labels of a connection, each with its own window"},
		{Name: "weighted", Kind: param.Flag,
			Doc: "false: the path with most room in its own window (third generation); true: in turn by windows' shares, below a limit of all paths (second generation)"},
		{Name: "window", Kind: param.Count, Min: "64", Max: "4096",
			Doc: "packets that a receiver distinguishes; a power of two"},
		{Name: "ack_count", Kind: param.Count, Min: "1", Max: "128",
			Doc: "packets of a path per acknowledgement, at most"},
		{Name: "ack_delay", Kind: param.Duration, Min: "0ns", Max: "1ms",
			Doc: "how long an acknowledgement may wait for more"},
		{Name: "ask_every", Kind: param.Count, Min: "1", Max: "128",
			Doc: "one packet in N requests an immediate acknowledgement"},
		{Name: "reorder", Kind: param.Number, Min: "0", Max: "4",
			Doc: "RACK: round trips that a packet may be later than a later one of its path"},
		{Name: "probe_after", Kind: param.Number, Min: "0.1", Max: "100",
			Doc: "tail-loss probe: round trips without news until the oldest packet goes again"},
		{Name: "early", Kind: param.Count, Min: "0", Max: "250",
			Doc: "how often a packet may go again before its time-out"},
		{Name: "min_timeout", Kind: param.Duration, Min: "1us", Max: "1s",
			Doc: "retransmission time-out at least; else two round trips"},
		{Name: "retries", Kind: param.Count, Min: "1", Max: "30",
			Doc: "consecutive time-outs after which the connection is closed"},
		{Name: "plb", Kind: param.Flag, Doc: "leave paths that stay congested"},
		{Name: "plb_share", Kind: param.Number, Min: "0.01", Max: "1",
			Doc: "share of late packets that makes a round congested"},
		{Name: "plb_rounds", Kind: param.Count, Min: "1", Max: "100",
			Doc: "congested rounds in a row after which a path is left"},
		{Name: "plb_late", Kind: param.Number, Min: "1", Max: "10",
			Doc: "number of target delays above which a packet is late"},
		{Name: "psp", Kind: param.Flag, Doc: "packets are encrypted: 40 B more"},
	},
	// Isekai: default_config_generator.cc and rue/algorithm/swift.cc; RACK's and the probe's factors are
	// those of its example single_rack_p2p_800g_rack_tlp. A window of 512 is its third generation's. Seven
	// time-outs are RoCE's retries.
	Defaults: param.Values{"paths": 4, "weighted": false, "window": 512, "ack_count": 10,
		"ack_delay": 8 * unit.Microsecond, "ask_every": 10, "reorder": 0.25, "probe_after": 1.1, "early": 16,
		"min_timeout": 250 * unit.Microsecond, "retries": 7, "plb": true, "plb_share": 0.5, "plb_rounds": 5,
		"plb_late": 1.01, "psp": true},
	Signals: []cc.Term{
		{Name: cc.SignalRate, Unit: "bit/s", Doc: "the windows of all paths per round trip"},
		{Name: cc.SignalWindow, Unit: "B", Doc: "the windows of all paths"},
		{Name: cc.SignalDelay, Unit: "s", Doc: "the longest of the paths' smoothed round trips"},
	},
	Counters: []cc.Term{
		{Name: "rack", Doc: "packets retransmitted because later ones had come"},
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
	if n := param.Value[int](v, "window"); n&(n-1) != 0 {
		return "window", fmt.Sprintf("%d is not a power of two", n)
	}
	if c.Planes > 1<<flowBits {
		return "paths", fmt.Sprintf("are at most %d, distinguished by %d bits of the flow label (Isekai, host/falcon/rue/bits.h), and do not reach the %d planes of the NICs, as srd and mrc do",
			1<<flowBits, flowBits, c.Planes)
	}
	if n := param.Value[int](v, "paths"); n < c.Planes {
		return "paths", fmt.Sprintf("%d do not reach the %d planes of the NICs: at least one for each", n, c.Planes)
	}
	return "", ""
}

// settings are the settings that all connections share.
type settings struct {
	transport.Common
	paths, window, ackCount, askEvery, early, retries, plbRounds int
	weighted, plb, psp                                           bool
	reorder, probeAfter, plbShare, plbLate                       float64
	ackDelay, minTimeout                                         unit.Time
}

func settingsOf(v param.Values, c transport.Common) settings {
	count := func(name string) int { return param.Value[int](v, name) }
	flag := func(name string) bool { return param.Value[bool](v, name) }
	number := func(name string) float64 { return param.Value[float64](v, name) }
	s := settings{Common: c, paths: count("paths"), window: count("window"), ackCount: count("ack_count"),
		askEvery: count("ask_every"), early: count("early"), retries: count("retries"),
		plbRounds: count("plb_rounds"), weighted: flag("weighted"), plb: flag("plb"), psp: flag("psp"),
		reorder: number("reorder"), probeAfter: number("probe_after"), plbShare: number("plb_share"),
		plbLate: number("plb_late"), ackDelay: param.Value[unit.Time](v, "ack_delay"),
		minTimeout: param.Value[unit.Time](v, "min_timeout")}
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

// Peer returns what makes senders to one far NIC.
func (m *maker) Peer(path cc.Path, _ uint64) transport.Peer { return &peer{m, path} }

// Sender makes a connection's sending end.
func (p *peer) Sender(seed uint64) transport.Sender { return newSender(&p.m.settings, p.path, seed) }

// Receiver makes its receiving end.
func (m *maker) Receiver(cc.Path, uint64) transport.Receiver {
	return &receiver{s: &m.settings, in: window.NewIn(m.window, uint64(m.MTU), true), ackAt: unit.Never}
}

// Header bytes by layer, as Isekai counts them (common/constants.h): Falcon's base header and that of a
// push with its RDMA part; IPv6 always, because paths are flow labels; PSP's header and trailer where
// packets are encrypted.
const (
	ethernet  = 14 + 4 // and FCS
	ipUDP     = 40 + 8
	pspBytes  = 24 + 16
	pushBytes = 24 + 12 + 28
	ackBytes  = 24 + 8  // base ACK: window bases and time stamps beside the base header
	bitmap    = 16 + 16 // an extended ACK's 128 bits for data, and as many for requests and what they ask
)

// Wire is a frame's length.
func (m *maker) Wire(p *transport.Packet) int {
	n := ethernet + ipUDP
	if m.psp {
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

// State returns the bytes that a NIC keeps: the windows' entries are 32 and 1 bytes in hardware that packs them.
func (m *maker) State() (connection, peer int) { return m.paths*32 + m.window*32 + m.window/8 + 64, 0 }
