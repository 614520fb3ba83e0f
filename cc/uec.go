package cc

import (
	"slices"

	"railyard/param"
	"railyard/unit"
)

// uec is Ultra Ethernet's congestion control with both parts: NSCC's window at the sender against congestion inside
// the network, and RCCC's credit for incast at the receiver (docs/references.md, credit and nscc). A packet is sent
// when both permit it. Packets trimmed at the port to the receiver are handled by credit and reduce no window.
var uec = Algorithm{
	Name: "uec", Title: "NSCC with RCCC", Params: uecTable.Params(),
	Sockets: "sockets", Marks: true,
	Profiles: []Profile{
		{Name: "trim", Doc: "a target of three quarters of a round trip, the first 1.5 windows unasked",
			Words: "NSCC with RCCC, for switches that trim, at %v",
			Of: func(unit.Rate) Values {
				return uecValues(nsccValues(0.75, 0), creditValues(1.5, 4, 0))
			},
			For: Trimming},
		{Name: "request", Doc: "a target of one round trip, all on credit: for switches that do not trim",
			Words: "NSCC with RCCC, everything on credit, at %v",
			Of:    func(unit.Rate) Values { return uecValues(nsccValues(1, 0), creditValues(0, 4, 0)) }},
		{Name: "sockets", Doc: "as request, for ends that are processes and wait for their turn",
			Words: "NSCC with RCCC for processes, at %v",
			Of: func(unit.Rate) Values {
				return uecValues(nsccValues(1, unit.Millisecond), creditValues(0, 16, unit.Millisecond))
			}},
	},
	Signals:  slices.Concat(nscc.Signals, creditSignals),
	Counters: slices.Concat(nscc.Counters, creditCounters),
	Needs: Needs{OneOf: []Feature{Lossless | Trimming | Selective}, Hears: Marking, Switch: "ECN, trimming",
		NIC: "window per QP, credit"},
	Check: checkNSCC, Credit: creditTerms,
	New: func(v Values) Make {
		s := uecTable.Read(v)
		return func(path Path) Controller {
			path.CoreMarks = false // packets queued without a mark before the receiver are handled by credit
			return onCredit(newNSCC(&s.nsccSettings, path), &s.creditSettings, path)
		}
	},
}

type uecSettings struct {
	nsccSettings
	creditSettings
}

var uecTable = param.In[uecSettings]()

func uecValues(n nsccSettings, c creditSettings) Values { return uecTable.Values(uecSettings{n, c}) }
