package cc

import (
	"fmt"

	"railyard/unit"
)

// nscc is NSCC's place in the registry: the sender's congestion control of Ultra Ethernet. The rules and the
// constants are uet-htsim's (uec.cpp, docs/references.md, nscc), which says of itself that it is a model and not the
// specification. Where we differ: the unloaded round trip is the path's own where it is known, not the
// least measured, for a short packet's is shorter; what a NAK or a time-out says is lost counts as what a
// switch has trimmed does; a window is whole packets of payload.
var nscc = Algorithm{
	Name: "nscc", Title: "NSCC", Params: nsccParams, Sockets: "sockets", Marks: true,
	Profiles: []Profile{
		{Name: "trim", Doc: "a target of three quarters of a round trip, for switches that trim",
			Words: "NSCC, a target of three quarters of a round trip, at %v",
			Of:    func(unit.Rate) Values { return nsccValues(0.75, 0) },
			For:   Trimming},
		{Name: "path", Doc: "a target of one round trip, for switches that do not trim",
			Words: "NSCC, a target of one round trip, at %v",
			Of:    func(unit.Rate) Values { return nsccValues(1, 0) }},
		{Name: "sockets", Doc: "a target of 1 ms, for ends that are processes and wait for their turn",
			Words: "NSCC with a target for processes, at %v",
			Of:    func(unit.Rate) Values { return nsccValues(1, unit.Millisecond) }},
	},
	Signals: []Term{
		{SignalRate, "bit/s", "the window per round trip, at most the line rate"},
		{SignalWindow, "B", "the window"},
		{SignalDelay, "s", "the last round trip"},
		{"queue_delay", "s", "what it takes for the mean delay beyond the unloaded round trip"},
	},
	Counters: []Term{
		{Name: CounterCuts, Doc: "times that the window became smaller"},
		{Name: "quick_adapts", Doc: "times that it became what had arrived in a round trip"},
		{Name: "loss_cuts", Doc: "packets lost for which it became smaller"},
	},
	Needs: Needs{Hears: Marking, Switch: "ECN", NIC: "clock, window per QP"},
	Check: checkNSCC,
	New: func(v Values) Make {
		s := nsccOf(v)
		return func(path Path) Controller { return newNSCC(&s, path) }
	},
}

// nsccParams describes the parameters. Steps are in packets, for a network of 100 Gbit/s and 12 us, and
// grow with the bandwidth-delay product.
var nsccParams = []Param{
	{Name: "network_rtt", Kind: Duration, Min: "1us", Max: "1s", Zero: true,
		Doc: "longest unloaded round trip of the network, by which targets and steps are scaled; 0s: the path's own, or if unknown the least measured"},
	{Name: "target", Kind: Number, Min: "0.01", Max: "100",
		Doc: "queueing delay aimed at, in round trips of the network"},
	{Name: "target_delay", Kind: Duration, Min: "1us", Max: "1s", Zero: true,
		Doc: "the same as a time; 0s: by target"},
	{Name: "proportional", Kind: Number, Min: "0.001", Max: "1000",
		Doc: "proportional increase: packets per 12 us of delay below the target"},
	{Name: "fair", Kind: Number, Min: "0.001", Max: "1000",
		Doc: "fair increase per window while nothing is marked and the delay is above the target, packets"},
	{Name: "eta", Kind: Number, Min: "0.001", Max: "1000", Zero: true,
		Doc: "increase per round trip in any case, packets"},
	{Name: "gamma", Kind: Number, Min: "0.001", Max: "1",
		Doc: "share of the mean delay above the target that a cut takes"},
	{Name: "max_cut", Kind: Number, Min: "0.001", Max: "0.999", Doc: "a single cut takes at most this share"},
	{Name: "fast", Kind: Number, Min: "0.001", Max: "100", Zero: true,
		Doc: "fast increase: bytes per byte acknowledged, after a window without delay"},
	{Name: "fast_below", Kind: Duration, Min: "1ns", Max: "1s",
		Doc: "delay that counts as none for the fast increase"},
	{Name: "max_window", Kind: Number, Min: "0.01", Max: "1000",
		Doc: "largest window, and the one to begin with, in bandwidth-delay products"},
	{Name: "ewma", Kind: Number, Min: "0.0001", Max: "1", Doc: "weight of a delay in the mean"},
	{Name: "adjust_packets", Kind: Count, Min: "1", Max: "100000",
		Doc: "number of packets after which an increase takes effect, or a round trip"},
	{Name: "qa_share", Kind: Number, Min: "0.0001", Max: "1", Zero: true,
		Doc: "quick adapt: less than this share of the largest window arrived in a round trip; 0: never"},
	{Name: "qa_delay", Kind: Number, Min: "0.1", Max: "1000",
		Doc: "quick adapt: delay above this number of targets, where nothing was lost"},
	{Name: "ack_every", Kind: Count, Min: "1", Max: "1024",
		Doc: "every Nth packet requests an acknowledgement; a marked one is always acknowledged"},
}

// nsccValues are uet-htsim's: initNsccParams of uec.cpp, and for acknowledgements 16 KB at 4 KB a packet. Of
// the target for sockets only the order of magnitude matters: it is Swift's.
func nsccValues(target float64, delay unit.Time) Values {
	return Values{"network_rtt": unit.Time(0), "target": target, "target_delay": delay,
		"proportional": 4.0, "fair": 5.0, "eta": 0.15, "gamma": 0.8, "max_cut": 0.5, "fast": 0.25,
		"fast_below": unit.Microsecond, "max_window": 1.5, "ewma": 0.0125, "adjust_packets": 8,
		"qa_share": 0.125, "qa_delay": 4.0, "ack_every": 4}
}

// checkNSCC: what is no delay for the fast increase must be below the target.
func checkNSCC(v Values) (param, fault string) {
	below, target := Value[unit.Time](v, "fast_below"), Value[unit.Time](v, "target_delay")
	if target > 0 && below >= target {
		return "fast_below", fmt.Sprintf("%v is not below target_delay, %v", below, target)
	}
	return "", ""
}

// nsccSettings are the parameters as senders share them.
type nsccSettings struct {
	networkRTT, delay, fastBelow                           unit.Time
	target, alpha, fair, eta, gamma, cut, fast, most, ewma float64
	qaShare, qaDelay                                       float64
	adjust, every                                          int
}

func nsccOf(v Values) nsccSettings {
	number := func(name string) float64 { return Value[float64](v, name) }
	return nsccSettings{networkRTT: Value[unit.Time](v, "network_rtt"),
		delay: Value[unit.Time](v, "target_delay"), fastBelow: Value[unit.Time](v, "fast_below"),
		target: number("target"), alpha: number("proportional"), fair: number("fair"), eta: number("eta"),
		gamma: number("gamma"), cut: number("max_cut"), fast: number("fast"), most: number("max_window"),
		ewma: number("ewma"), qaShare: number("qa_share"), qaDelay: number("qa_delay"),
		adjust: Value[int](v, "adjust_packets"), every: Value[int](v, "ack_every")}
}
