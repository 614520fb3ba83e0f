package cc

import (
	"cmp"

	"railyard/param"
	"railyard/unit"
)

// OnCredit puts a controller under credit: a packet needs both the controller's permission and the receiver's
// grant. Around None the result is EQDS or RCCC; around a sender's own congestion control the result is both
// combined.
//
// A receiver cannot observe queues on the path to it. Where links between switches are the bottleneck, credit
// arrives faster than packets. Without trimming, only a window then limits the queue. A sender without a window
// gets one of its maximum credit.
type OnCredit struct {
	Controller
	line   unit.Rate
	flight unit.Bytes
	credit Credit
}

func onCredit(ctl Controller, s *creditSettings, path Path) *OnCredit {
	o := &OnCredit{Controller: ctl, line: path.Line, credit: openCredit(s, path)}
	o.flight = unit.Bytes(o.credit.window)
	return o
}

// Credit returns the account.
func (o *OnCredit) Credit() *Credit { return &o.credit }

// OnLine changes the ceiling.
func (o *OnCredit) OnLine(now unit.Time, line unit.Rate) {
	o.line = line
	if l, ok := o.Controller.(Liner); ok {
		l.OnLine(now, line)
	}
}

// Decision is the controller's, at most the line rate, and with a window.
func (o *OnCredit) Decision() Decision {
	d := o.Controller.Decision()
	if d.Rate = min(d.Rate, o.line); d.Window == 0 {
		d.Window = o.flight
	}
	return d
}

// WantsAcks returns true: they open the window.
func (o *OnCredit) WantsAcks() bool { return true }

// OnAck passes the acknowledgement to the controller if that uses acknowledgements.
func (o *OnCredit) OnAck(now unit.Time, a *Ack) {
	if o.Controller.WantsAcks() {
		o.Controller.OnAck(now, a)
	}
}

// OnLoss voids the unsolicited part: switches have no room for it. Packets trimmed at the port to the receiver are
// handled by its credit, not by the controller.
func (o *OnCredit) OnLoss(now unit.Time, l Loss) {
	if o.credit.void(0); l != LossTrimmedLast {
		o.Controller.OnLoss(now, l)
	}
}

// OnFlight is the controller's.
func (o *OnCredit) OnFlight(inFlight unit.Bytes) {
	if f, ok := o.Controller.(Flight); ok {
		f.OnFlight(inFlight)
	}
}

// AsksEvery is the controller's.
func (o *OnCredit) AsksEvery() int {
	if a, ok := o.Controller.(Asker); ok {
		return a.AsksEvery()
	}
	return 0
}

// Signal returns the signal of the account or of the controller.
func (o *OnCredit) Signal(now unit.Time, name string) (float64, bool) {
	if x, ok := o.credit.signal(name); ok {
		return x, true
	}
	return o.Controller.Signal(now, name)
}

// Counter returns the counter of the account or of the controller.
func (o *OnCredit) Counter(name string) (int64, bool) {
	if n, ok := o.credit.counter(name); ok {
		return n, true
	}
	return o.Controller.Counter(name)
}

// onCreditAlone returns the registry entry of an algorithm with credit only and the given packets per grant. first
// is the profile for switches that trim, where 1.5 times the path's capacity is unsolicited.
func onCreditAlone(name, title string, grant int, first Profile) Algorithm {
	of := func(unasked float64, grant int, rtt unit.Time) func(unit.Rate) Values {
		return func(unit.Rate) Values { return creditTable.Values(creditValues(unasked, grant, rtt)) }
	}
	first.Of, first.For = of(1.5, grant, 0), Trimming
	return Algorithm{Name: name, Title: title, Params: creditTable.Params(), Sockets: "sockets",
		Profiles: []Profile{first,
			{Name: "request", Doc: "every packet needs credit first: for switches that do not trim",
				Words: title + ", everything on credit at %v", Of: of(0, grant, 0)},
			{Name: "sockets", Doc: "as request, for ends that are processes and wait for their turn",
				Words: title + ", everything on credit at %v, for processes",
				Of:    of(0, 16, unit.Millisecond)},
		},
		Signals: creditSignals, Counters: creditCounters, Needs: creditNeeds,
		Credit: creditTerms,
		New: func(v Values) Make {
			s := creditTable.Read(v)
			return func(path Path) Controller { return onCredit(None{path.Line}, &s, path) }
		},
	}
}

// creditNeeds: unsolicited data, or data from many senders, must not be lost for good.
var creditNeeds = Needs{OneOf: []Feature{Lossless | Trimming | Selective}, Switch: "trimming, or nothing",
	NIC: "pacer of credit"}

// creditSettings are the parameters that all algorithms with credit have. The path's content is its line rate times its
// round trip.
type creditSettings struct {
	Unasked float64   `yaml:"unasked" range:"0|0.01,16" doc:"what may go without credit when a sender begins, times what the path holds"`
	Window  float64   `yaml:"window" range:"0.5,64" doc:"most credit that a sender holds or has requested, and most in flight, in bandwidth-delay products of the path; at least 16 packets"`
	Share   float64   `yaml:"share" range:"0.01,1" doc:"share of its line rate for which a receiver grants credit; not above 1, which is the line"`
	Grant   int       `yaml:"grant" range:"1,64" doc:"full packets in one grant"`
	BaseRTT unit.Time `yaml:"base_rtt" range:"0|100ns,1s" doc:"round trip of the bandwidth-delay product; 0s: the path's own, or 100 us if unknown"`
}

var creditTable = param.In[creditSettings]()

func creditValues(unasked float64, grant int, rtt unit.Time) creditSettings {
	return creditSettings{Unasked: unasked, Window: 2, Share: 0.99, Grant: grant, BaseRTT: rtt}
}

// creditTerms are the receiver's part.
func creditTerms(v Values) Terms {
	s := creditTable.Read(v)
	return Terms{Share: s.Share, Packets: s.Grant}
}

// leastWindow is the least number of packets that may be requested: with fewer a short path waits for its
// requests.
const leastWindow = 16

// mostHeaders bounds the bytes of a packet on the wire without its payload; package rc has it in parts.
const mostHeaders = 110

// openCredit opens a sender's account for its path.
func openCredit(s *creditSettings, path Path) Credit {
	rtt := cmp.Or(s.BaseRTT, path.RTT, unknownRTT)
	holds := float64(unit.InTime(path.Line, rtt))
	least := (path.MTU + mostHeaders) * unit.Bytes(max(leastWindow, 4*s.Grant))
	return NewCredit(unit.Bytes(s.Unasked*holds),
		max(unit.Bytes(s.Window*holds), least), unit.Bytes(holds), 2*rtt)
}

// Signals and counters of accounts.
var (
	creditSignals = []Term{
		{"credit", "B", "credit at hand, bytes of wire"},
		{"asked", "B", "credit requested and not granted yet"},
	}
	creditCounters = []Term{
		{Name: "grants", Doc: "grants of credit that arrived"},
		{Name: "requests", Doc: "requests for credit"},
		{Name: "repeats", Doc: "requests repeated because no grant arrived in time"},
	}
)

func (c *Credit) signal(name string) (float64, bool) {
	return named(creditSignals, name, float64(c.Left()), float64(c.Asked()))
}

func (c *Credit) counter(name string) (int64, bool) {
	return named(creditCounters, name, c.grants, c.requests, c.repeats)
}
