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
			Of:    func(unit.Rate) Values { return creditValues(1.5, 1, 0) }},
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
		return func(path Path) Controller { return &EQDS{None{path.Line}, openCredit(v, path)} }
	},
}

// EQDS sends at line rate what it has credit for.
type EQDS struct {
	None
	credit Credit
}

// Credit returns the account.
func (e *EQDS) Credit() *Credit { return &e.credit }

// OnLine changes the ceiling.
func (e *EQDS) OnLine(_ unit.Time, line unit.Rate) { e.Line = line }

// Signal returns the account's.
func (e *EQDS) Signal(_ unit.Time, name string) (float64, bool) { return e.credit.signal(name) }

// Counter returns the account's.
func (e *EQDS) Counter(name string) (int64, bool) { return e.credit.counter(name) }

// creditParams describes what algorithms with credit have in common. The path's content is its line rate
// times its round trip.
var creditParams = []Param{
	{Name: "unasked", Kind: Number, Min: "0.01", Max: "16", Zero: true,
		Doc: "what may go without credit when a sender begins, times what the path holds"},
	{Name: "window", Kind: Number, Min: "0.5", Max: "64",
		Doc: "most credit that a sender holds or waits for, times what the path holds; at least 16 packets"},
	{Name: "share", Kind: Number, Min: "0.01", Max: "1",
		Doc: "share of its line rate for which a receiver grants credit; not above 1, which is the line"},
	{Name: "grant", Kind: Count, Min: "1", Max: "64", Doc: "full packets in one grant"},
	{Name: "base_rtt", Kind: Duration, Min: "100ns", Max: "1s", Zero: true,
		Doc: "round trip that says what the path holds; 0s: the path's own, or 100 us where nobody knows it"},
}

func creditValues(unasked float64, grant int, rtt unit.Time) Values {
	return Values{"unasked": unasked, "window": 2.0, "share": 0.99, "grant": grant, "base_rtt": rtt}
}

// creditTerms are the receiver's part.
func creditTerms(v Values) Terms {
	return Terms{Share: Value[float64](v, "share"), Packets: Value[int](v, "grant")}
}

// leastWindow is how many packets may be asked for at the least: with fewer a short path waits for its
// requests.
const leastWindow = 16

// mostHeaders is what a packet costs on the wire beside its payload, at most; package rc has it in parts.
const mostHeaders = 110

// openCredit opens a sender's account for its path.
func openCredit(v Values, path Path) Credit {
	rtt := Value[unit.Time](v, "base_rtt")
	if rtt == 0 {
		rtt = path.RTT
	}
	if rtt == 0 {
		rtt = unknownRTT
	}
	holds := float64(unit.InTime(path.Line, rtt))
	grant := Value[int](v, "grant")
	least := (path.MTU + mostHeaders) * unit.Bytes(max(leastWindow, 4*grant))
	return NewCredit(unit.Bytes(Value[float64](v, "unasked")*holds),
		max(unit.Bytes(Value[float64](v, "window")*holds), least), 2*rtt)
}

// Signals and counters of accounts.
var (
	creditSignals = []Term{
		{"credit", "B", "credit at hand, bytes of wire"},
		{"asked", "B", "credit asked for and not granted yet"},
	}
	creditCounters = []Term{
		{Name: "grants", Doc: "grants of credit that arrived"},
		{Name: "requests", Doc: "requests for credit"},
		{Name: "repeats", Doc: "requests because no grant came in time"},
	}
)

func (c *Credit) signal(name string) (float64, bool) {
	switch name {
	case "credit":
		return float64(c.Left()), true
	case "asked":
		return float64(c.Asked()), true
	}
	return 0, false
}

func (c *Credit) counter(name string) (int64, bool) {
	switch name {
	case "grants":
		return c.grants, true
	case "requests":
		return c.requests, true
	case "repeats":
		return c.repeats, true
	}
	return 0, false
}
