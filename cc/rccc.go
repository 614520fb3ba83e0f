package cc

import "railyard/unit"

// rccc is the receiver's half of Ultra Ethernet's congestion control (UE 1.0, RCCC) as uet-htsim has it with
// -receiver_cc_only (HANDBOOK.md 6.2): EQDS's credit, four packets at a time. Who has more to send than one
// path's worth holds that much credit at most. What the standard leaves to implementers, what a receiver
// grants while nobody asks ("slow pull"), is nothing here: it would be credit for senders that are done.
var rccc = Algorithm{
	Name: "rccc", Title: "RCCC", Params: creditParams, Sockets: "sockets",
	Profiles: []Profile{
		{Name: "htsim", Doc: "1.5 times the path holds goes unasked: switches must trim what is too much",
			Words: "RCCC, credit at %v",
			Of:    func(unit.Rate) Values { return creditValues(1.5, 4, 0) },
			For:   Trimming},
		{Name: "request", Doc: "every packet waits for its credit: for switches that do not trim",
			Words: "RCCC, everything on credit at %v",
			Of:    func(unit.Rate) Values { return creditValues(0, 4, 0) }},
		{Name: "sockets", Doc: "as request, for ends that are processes and wait for their turn",
			Words: "RCCC, everything on credit at %v, for processes",
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
