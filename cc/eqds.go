package cc

import "railyard/unit"

// eqds is EQDS's place in the registry (Olteanu et al., "An edge-queued datagram service for all datacenter
// traffic", NSDI 2022): the receiver paces all that comes to it by granting credit just below its line rate,
// in turn over who asked. What a sender has when it begins goes unasked, as much as fills the path, because
// credit takes a round trip; switches trim what of it does not fit. Without trimming everything waits for its
// credit. Constants are csg-htsim's (HANDBOOK.md 6.2): 1.5 times the path unasked, a packet per grant, 0.99
// of the line. The window is ours where htsim has 50 packets: there each data packet carries how much its
// sender wants, here requests do, one per half a path, so there must be more on the way.
var eqds = Algorithm{
	Name: "eqds", Title: "EQDS", Params: creditParams, Sockets: "sockets",
	Profiles: []Profile{
		{Name: "trimming", Doc: "the first round trip goes unasked: switches must trim what does not fit",
			Words: "EQDS, the first round trip unasked, credit at %v",
			Of:    func(unit.Rate) Values { return creditValues(1.5, 1, 0) },
			For:   Trimming},
		{Name: "request", Doc: "every packet waits for its credit: for switches that do not trim",
			Words: "EQDS, everything on credit at %v",
			Of:    func(unit.Rate) Values { return creditValues(0, 1, 0) }},
		{Name: "sockets", Doc: "as request, for ends that are processes and wait for their turn",
			Words: "EQDS, everything on credit at %v, for processes",
			Of:    func(unit.Rate) Values { return creditValues(0, 16, unit.Millisecond) }},
	},
	Signals: creditSignals, Counters: creditCounters,
	Needs: Needs{OneOf: []Feature{Lossless | Trimming | Selective}, Switch: "trimming, or nothing",
		NIC: "pacer of credit"},
	Credit: creditTerms,
	New: func(v Values) Make {
		return func(path Path) Controller { return onCredit(None{path.Line}, v, path) }
	},
}
