// Package srd is AWS's Scalable Reliable Datagram without I/O: reliable and unordered, over all available paths.
// Its NICs (Nitro, EFA) have one state per far NIC, shared by all connections to it. It has a round trip and a
// share of the packets for each of up to 64 paths, one rate and one limit in flight.
//
// What is public: amzn-drivers' kernel/linux/efa/SRD.txt (contexts per destination, at most once, any order, no
// segmentation, receivers without room drop), Shalev et al., "A Cloud-Optimized Transport Protocol for Elastic and
// Scalable HPC", IEEE Micro 40(6), 2020 (packets are sprayed; overloaded paths are avoided by their round trips;
// retransmission within microseconds; congestion control per connection over all paths, somewhat like BBR: a rate limit
// and a limit in flight, which follow the acknowledgements' arrival and rise of round trips on most paths; ordering is
// left to the layer above), and AWS's texts on ENA Express (News Blog, November 2022, and the EC2 User Guide: one flow
// from 5 to 25 Gbit/s, P99.9 latency down by up to 85 %). The number of 64 paths is from talks; no text of AWS states
// it.
//
// Choices of Railyard, because no constants are public: every number in Protocol's defaults, the rules in paths.go and
// rate.go that use them, the loss detection (sender.go, after RFC 8985), and the header's length: that of a RoCEv2
// WRITE whose every packet carries its address. A message is one WRITE, cut into datagrams by the NIC.
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
	Params: parameters.Params(), Defaults: parameters.Defaults(),
	Signals: []cc.Term{
		{Name: cc.SignalRate, Unit: "bit/s", Doc: "the rate to the far NIC, of all connections together"},
		{Name: cc.SignalWindow, Unit: "B", Doc: "most in flight to it"},
		{Name: cc.SignalDelay, Unit: "s", Doc: "the mean of the paths' smoothed round trips"},
	},
	Counters: []cc.Term{
		{Name: "timeouts", Doc: "packets that were in flight for too long, or were retransmitted as probes"},
		{Name: "early", Doc: "packets retransmitted because later ones had arrived"},
		{Name: "shifts", Doc: "cuts of a path's share"},
		{Name: cc.CounterCuts, Doc: "cuts of the rate"},
	},
	Needs: cc.Needs{Switch: "-", NIC: "64 round trips per far NIC, 4,096 packets per connection"},
	Check: check, Refers: transport.RefersByName,
	New: func(v param.Values, c transport.Common) transport.Maker { return &maker{settingsOf(v, c)} },
}

func check(v param.Values, c transport.Common) (name, fault string) {
	s := parameters.Read(v)
	if n := s.Window; n&(n-1) != 0 {
		return "window", fmt.Sprintf("%d is not a power of two", n)
	}
	if n := s.Paths; n < c.Planes {
		return "paths", fmt.Sprintf("%d do not reach the %d planes of the NICs: at least one for each", n, c.Planes)
	}
	return "", ""
}

// settings are the settings that all connections share. NSCC without trimming has the same target, a queue of one round
// trip (docs/references.md, nscc).
type settings struct {
	transport.Common
	Paths    int       `yaml:"paths" range:"1,256" default:"64" doc:"paths to each far NIC: source ports whose round trips are distinguished"`
	Window   int       `yaml:"window" range:"64,16384" default:"4096" doc:"packets of a connection that may be out; a power of two"`
	AckEvery int       `yaml:"ack_every" range:"1,64" default:"4" doc:"packets per acknowledgement, at most"`
	AckDelay unit.Time `yaml:"ack_delay" range:"0ns,1ms" default:"2us" doc:"how long an acknowledgement may wait for more"`
	Slow     float64   `yaml:"slow" range:"1.01,100" default:"2" doc:"multiple of the least round trip above which a path is overloaded"`
	Step     float64   `yaml:"step" range:"0.01,1" default:"0.25" doc:"how much of its share an overloaded path loses per round trip; others gain a quarter"`
	Increase float64   `yaml:"increase" range:"0.0001,1" default:"0.02" doc:"rate: increase per round trip without queues, of the line rate; at least a quarter of the rate"`
	Cut      float64   `yaml:"cut" range:"0.01,0.99" default:"0.5" doc:"rate: most that one cut takes where no arrivals were measured"`
	Gain     float64   `yaml:"gain" range:"1,10" default:"2" doc:"most in flight, in rate times least round trip"`
	Timeout  unit.Time `yaml:"timeout" range:"1us,1s" default:"50us" doc:"time in flight after which a packet is lost, or three round trips of its path"`
	Retries  int       `yaml:"retries" range:"1,255" default:"100" doc:"how often one packet is retransmitted before its message fails"`
}

// parameters are the keys of scenarios.
var parameters = param.In[settings]()

func settingsOf(v param.Values, c transport.Common) settings {
	s := parameters.Read(v)
	s.Common = c
	s.Planes = max(1, s.Planes)
	return s
}

type maker struct{ settings }

// Receiver makes the far end of a connection.
func (m *maker) Receiver(cc.Path, uint64) transport.Receiver {
	return &receiver{s: &m.settings, in: window.NewIn(m.Window, uint64(m.MTU), false), ackAt: unit.Never}
}

// Wire is a frame's length: RoCEv2's headers with a RETH in every packet; an acknowledgement's AETH and, where
// packets are missing, 16 bytes of bitmap.
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

// State returns the size of a NIC's state: 24 bytes per packet in flight, and 16 per path.
func (m *maker) State() (connection, peer int) { return m.Window*24 + 64, m.Paths*16 + 64 }
