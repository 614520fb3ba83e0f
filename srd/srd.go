// Package srd is AWS's Scalable Reliable Datagram without I/O: reliable and unordered, over as many paths as
// there are. What its NICs (Nitro, EFA) know of a far NIC they share among everybody who talks to it: a round
// trip and a share of the packets for each of up to 64 paths, one rate and one limit of what is in flight.
//
// What is public: amzn-drivers' kernel/linux/efa/SRD.txt (contexts per destination, at most once, any order,
// no segmentation, receivers without room drop), Shalev et al., "A Cloud-Optimized Transport Protocol for
// Elastic and Scalable HPC", IEEE Micro 40(6), 2020 (packets are sprayed; overloaded paths are avoided by
// their round trips; retransmission within microseconds; congestion control per connection over all paths,
// somewhat like BBR: a rate limit and a limit in flight, which follow the acknowledgements' arrival and rise
// of round trips on most paths; ordering is left to the layer above), and AWS's texts on ENA Express (News
// Blog, November 2022, and the EC2 User Guide: one flow from 5 to 25 Gbit/s, P99.9 latency down by up to 85
// %). That there are 64 paths is said in talks; we have no text of AWS's at hand.
//
// What is ours, because no constants are public: every number in Protocol's defaults, the rules in paths.go
// and rate.go that use them, when a packet counts as lost (sender.go, after RFC 8985), and the header's
// length: that of a RoCEv2 WRITE whose every packet says where its payload belongs. A message is one WRITE,
// cut into datagrams by the NIC.
package srd

import (
	"fmt"

	"railyard/cc"
	"railyard/param"
	"railyard/roce"
	"railyard/transport"
	"railyard/transport/window"
	"railyard/unit"
)

// Protocol is SRD's place in lists of protocols.
var Protocol = transport.Protocol{
	Name: "srd", Title: "SRD", Words: "SRD: datagrams in any order over many paths",
	Params: []param.Param{
		{Name: "paths", Kind: param.Count, Min: "1", Max: "256",
			Doc: "paths to each far NIC: source ports whose round trips are distinguished"},
		{Name: "window", Kind: param.Count, Min: "64", Max: "16384",
			Doc: "packets of a connection that may be out; a power of two"},
		{Name: "ack_every", Kind: param.Count, Min: "1", Max: "64", Doc: "packets per acknowledgement, at most"},
		{Name: "ack_delay", Kind: param.Duration, Min: "0ns", Max: "1ms",
			Doc: "how long an acknowledgement may wait for more"},
		{Name: "slow", Kind: param.Number, Min: "1.01", Max: "100",
			Doc: "multiple of the least round trip above which a path is overloaded"},
		{Name: "step", Kind: param.Number, Min: "0.01", Max: "1",
			Doc: "how much of its share an overloaded path loses per round trip; others gain a quarter"},
		{Name: "increase", Kind: param.Number, Min: "0.0001", Max: "1",
			Doc: "rate: increase per round trip without queues, of the line rate; at least a quarter of the rate"},
		{Name: "cut", Kind: param.Number, Min: "0.01", Max: "0.99",
			Doc: "rate: most that one cut takes where no arrivals were measured"},
		{Name: "gain", Kind: param.Number, Min: "1", Max: "10",
			Doc: "most in flight, in rate times least round trip"},
		{Name: "timeout", Kind: param.Duration, Min: "1us", Max: "1s",
			Doc: "time in flight after which a packet is lost, or three round trips of its path"},
		{Name: "retries", Kind: param.Count, Min: "1", Max: "255",
			Doc: "how often one packet goes again before its message fails"},
	},
	// Queues of one round trip, as NSCC aims at without trimming (docs/references.md, nscc).
	Defaults: param.Values{"paths": 64, "window": 4096, "ack_every": 4, "ack_delay": 2 * unit.Microsecond,
		"slow": 2.0, "step": 0.25, "increase": 0.02, "cut": 0.5, "gain": 2.0,
		"timeout": 50 * unit.Microsecond, "retries": 100},
	Signals: []cc.Term{
		{Name: cc.SignalRate, Unit: "bit/s", Doc: "the rate to the far NIC, of all connections together"},
		{Name: cc.SignalWindow, Unit: "B", Doc: "most in flight to it"},
		{Name: cc.SignalDelay, Unit: "s", Doc: "the mean of the paths' smoothed round trips"},
	},
	Counters: []cc.Term{
		{Name: "timeouts", Doc: "packets that were out for too long, or went again to probe silence"},
		{Name: "early", Doc: "packets retransmitted because later ones had arrived"},
		{Name: "shifts", Doc: "cuts of a path's share"},
		{Name: cc.CounterCuts, Doc: "cuts of the rate"},
	},
	Needs: cc.Needs{Switch: "-", NIC: "64 round trips per far NIC, 4,096 packets per connection"},
	Check: check,
	New:   func(v param.Values, c transport.Common) transport.Maker { return &maker{settingsOf(v, c)} },
}

func check(v param.Values, c transport.Common) (name, fault string) {
	if n := param.Value[int](v, "window"); n&(n-1) != 0 {
		return "window", fmt.Sprintf("%d is not a power of two", n)
	}
	if n := param.Value[int](v, "paths"); n < c.Planes {
		return "paths", fmt.Sprintf("%d do not reach the %d planes of the NICs: at least one for each", n, c.Planes)
	}
	return "", ""
}

// settings are the settings that all connections share.
type settings struct {
	transport.Common
	paths, window, ackEvery, retries int
	slow, step, increase, cut, gain  float64
	ackDelay, timeout                unit.Time
}

func settingsOf(v param.Values, c transport.Common) settings {
	count := func(name string) int { return param.Value[int](v, name) }
	number := func(name string) float64 { return param.Value[float64](v, name) }
	s := settings{Common: c, paths: count("paths"), window: count("window"), ackEvery: count("ack_every"),
		retries: count("retries"), slow: number("slow"), step: number("step"), increase: number("increase"),
		cut: number("cut"), gain: number("gain"), ackDelay: param.Value[unit.Time](v, "ack_delay"),
		timeout: param.Value[unit.Time](v, "timeout")}
	s.Planes = max(1, s.Planes)
	return s
}

type maker struct{ settings }

// Receiver makes the far end of a connection.
func (m *maker) Receiver(cc.Path, uint64) transport.Receiver {
	return &receiver{s: &m.settings, in: window.NewIn(m.window, uint64(m.MTU), false), ackAt: unit.Never}
}

// Wire is a frame's length: RoCEv2's headers with a RETH in every packet; an acknowledgement's AETH and,
// where something is missing, 16 bytes of bitmap.
func (m *maker) Wire(p *transport.Packet) int {
	ip := 0
	if m.IPv6 {
		ip = roce.IPv6More
	}
	if p.Kind == transport.Data {
		return roce.DataLen(roce.WriteOnly, int(p.Payload)) + ip
	}
	if p.Bits != [2]uint64{} {
		return roce.AckLen + 16 + ip
	}
	return roce.AckLen + ip
}

// State returns the bytes that a NIC keeps: 24 bytes for a packet that is out, and 16 for a path.
func (m *maker) State() (connection, peer int) { return m.window*24 + 64, m.paths*16 + 64 }
