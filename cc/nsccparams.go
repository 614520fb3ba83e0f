package cc

import (
	"fmt"

	"railyard/param"
	"railyard/unit"
)

// nscc is NSCC's place in the registry: the sender's congestion control of Ultra Ethernet. The rules and constants
// are uet-htsim's (uec.cpp, docs/references.md, nscc). Its authors call it a model and not the specification.
// Railyard differs in three points. The unloaded round trip is computed from the path if the path is known. The
// minimum measured round trip is not used, because a short packet's is shorter. A loss reported by a NAK or a
// time-out counts like a trimmed packet. A window is whole packets of payload.
var nscc = Algorithm{
	Name: "nscc", Title: "NSCC", Params: nsccTable.Params(), Sockets: "sockets", Marks: true,
	Profiles: []Profile{
		{Name: "trim", Doc: "a target of three quarters of a round trip, for switches that trim",
			Words: "NSCC, a target of three quarters of a round trip, at %v",
			Of:    func(unit.Rate) Values { return nsccTable.Values(nsccValues(0.75, 0)) },
			For:   Trimming},
		{Name: "path", Doc: "a target of one round trip, for switches that do not trim",
			Words: "NSCC, a target of one round trip, at %v",
			Of:    func(unit.Rate) Values { return nsccTable.Values(nsccValues(1, 0)) }},
		{Name: "sockets", Doc: "a target of 1 ms, for ends that are processes and wait for their turn",
			Words: "NSCC with a target for processes, at %v",
			Of:    func(unit.Rate) Values { return nsccTable.Values(nsccValues(1, unit.Millisecond)) }},
	},
	Signals: []Term{
		{SignalRate, "bit/s", "the window per round trip, at most the line rate"},
		{SignalWindow, "B", "the window"},
		{SignalDelay, "s", "the last round trip"},
		{"queue_delay", "s", "assumed mean delay beyond the unloaded round trip"},
	},
	Counters: []Term{
		{Name: CounterCuts, Doc: "times that the window became smaller"},
		{Name: "quick_adapts", Doc: "times that it became what had arrived in a round trip"},
		{Name: "loss_cuts", Doc: "packets lost for which it became smaller"},
	},
	Needs: Needs{Hears: Marking, Switch: "ECN", NIC: "clock, window per QP"},
	Check: checkNSCC,
	New: func(v Values) Make {
		s := nsccTable.Read(v)
		return func(path Path) Controller { return newNSCC(&s, path) }
	},
}

// nsccSettings are the parameters, as senders share them. Steps are in packets, for a network of 100 Gbit/s and 12 us,
// and grow with the bandwidth-delay product.
type nsccSettings struct {
	NetworkRTT unit.Time `yaml:"network_rtt" range:"0|1us,1s" doc:"longest unloaded round trip of the network, by which targets and steps are scaled; 0s: the path's own, or if unknown the least measured"`
	Target     float64   `yaml:"target" range:"0.01,100" doc:"queueing delay aimed at, in round trips of the network"`
	Delay      unit.Time `yaml:"target_delay" range:"0|1us,1s" doc:"the same as a time; 0s: by target"`
	Alpha      float64   `yaml:"proportional" range:"0.001,1000" doc:"proportional increase: packets per 12 us of delay below the target"`
	Fair       float64   `yaml:"fair" range:"0.001,1000" doc:"fair increase per window while nothing is marked and the delay is above the target, packets"`
	Eta        float64   `yaml:"eta" range:"0|0.001,1000" doc:"increase per round trip in any case, packets"`
	Gamma      float64   `yaml:"gamma" range:"0.001,1" doc:"share of the mean delay above the target that a cut takes"`
	Cut        float64   `yaml:"max_cut" range:"0.001,0.999" doc:"a single cut takes at most this share"`
	Fast       float64   `yaml:"fast" range:"0|0.001,100" doc:"fast increase: bytes per byte acknowledged, after a window without delay"`
	FastBelow  unit.Time `yaml:"fast_below" range:"1ns,1s" doc:"delay that counts as none for the fast increase"`
	Most       float64   `yaml:"max_window" range:"0.01,1000" doc:"largest window, and the one to begin with, in bandwidth-delay products"`
	EWMA       float64   `yaml:"ewma" range:"0.0001,1" doc:"weight of a delay in the mean"`
	Adjust     int       `yaml:"adjust_packets" range:"1,100000" doc:"number of packets after which an increase takes effect, or a round trip"`
	QAShare    float64   `yaml:"qa_share" range:"0|0.0001,1" doc:"quick adapt: less than this share of the largest window arrived in a round trip; 0: never"`
	QADelay    float64   `yaml:"qa_delay" range:"0.1,1000" doc:"quick adapt: delay above this number of targets, where nothing was lost"`
	Every      int       `yaml:"ack_every" range:"1,1024" doc:"every Nth packet requests an acknowledgement; a marked one is always acknowledged"`
}

var nsccTable = param.In[nsccSettings]()

// nsccValues are uet-htsim's: initNsccParams of uec.cpp, and for acknowledgements 16 KB at 4 KB a packet. Of the
// target for sockets only the order of magnitude matters; it is Swift's.
func nsccValues(target float64, delay unit.Time) nsccSettings {
	return nsccSettings{Target: target, Delay: delay, Alpha: 4, Fair: 5, Eta: 0.15, Gamma: 0.8, Cut: 0.5, Fast: 0.25,
		FastBelow: unit.Microsecond, Most: 1.5, EWMA: 0.0125, Adjust: 8, QAShare: 0.125, QADelay: 4, Every: 4}
}

// checkNSCC: the fast increase's threshold for no delay must be below the target.
func checkNSCC(v Values) (param, fault string) {
	if s := nsccTable.Read(v); s.Delay > 0 && s.FastBelow >= s.Delay {
		return "fast_below", fmt.Sprintf("%v is not below target_delay, %v", s.FastBelow, s.Delay)
	}
	return "", ""
}
