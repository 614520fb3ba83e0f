package cc

import (
	"railyard/param"
	"railyard/unit"
)

// dctcp is the registry entry of DCTCP: the window of RFC 8257 (Alizadeh et al., SIGCOMM 2010) on queue pairs.
// Every packet is acknowledged; TCP's delayed acknowledgements are not used. Its TCP rules are those of RFC 5681:
// slow start while the path's capacity is unknown, then one packet more per window. A loss halves the window. The
// switch sets the queue length from which it marks.
var dctcp = Algorithm{
	Name: "dctcp", Title: "DCTCP", Params: dctcpTable.Params(), Sockets: "rfc8257",
	Profiles: []Profile{{Name: "rfc8257", Doc: "the values of RFC 8257",
		Words: "DCTCP's windows as in RFC 8257, at %v",
		Of: func(unit.Rate) Values {
			return dctcpTable.Values(dctcpSettings{G: 1.0 / 16, Alpha: 1, AI: 1, Floor: 1})
		}}},
	Signals: []Term{
		{SignalRate, "bit/s", "the window per round trip, at most the line rate"},
		{SignalWindow, "B", "the window"},
		{SignalAlpha, "", "estimate of the share of marked packets"},
		{SignalDelay, "s", "the last round trip"},
	},
	Counters: []Term{
		{Name: CounterCuts, Doc: "cuts of the window, for marks and for losses"},
		{Name: "loss_cuts", Doc: "those for losses"},
		{Name: "marked", Doc: "acknowledgements of marked packets"},
	},
	Needs: Needs{Hears: Marking, Switch: "ECN", NIC: "marks echoed, window"},
	Marks: true,
	New: func(v Values) Make {
		s := dctcpTable.Read(v)
		return func(path Path) Controller { return newDCTCP(&s, path) }
	},
}

// dctcpSettings are the parameters, as senders share them. Windows are in full packets.
type dctcpSettings struct {
	G     float64 `yaml:"g" range:"0.0001,1" doc:"gain of alpha per window"`
	Alpha float64 `yaml:"alpha_init" range:"0|0.0001,1" doc:"alpha to begin with"`
	AI    float64 `yaml:"ai" range:"0.001,1000" doc:"additive increase per window, packets"`
	From  float64 `yaml:"start_window" range:"0|1,1000000" doc:"window to begin with, packets; 0: bandwidth-delay product of the path, or 10 in slow start if unknown"`
	Floor float64 `yaml:"min_window" range:"1,1000" doc:"floor, packets"`
}

var dctcpTable = param.In[dctcpSettings]()

// DCTCP is one sender's window. Products and sums are rounded one by one, so that all platforms compute equal
// values.
type DCTCP struct {
	s      *dctcpSettings
	path   Path
	window float64 // packets
	alpha  float64
	rtt    unit.Time
	slow   bool // slow start: nothing was marked or lost yet

	left          unit.Bytes // bytes of the window of observation still to be acknowledged
	acked, marked unit.Bytes // in it
	inFlight      unit.Bytes // at the last acknowledgement; before it the window
	held          unit.Bytes // bytes that left before the last reduction and are not acknowledged
	now           Decision

	cuts, lossCuts, marks int64
}

func newDCTCP(s *dctcpSettings, path Path) *DCTCP {
	d := &DCTCP{s: s, path: path, alpha: s.Alpha, window: s.From, rtt: path.RTT}
	if d.rtt == 0 {
		d.rtt = unknownRTT
	}
	if d.window == 0 {
		if d.window, d.slow = unknownWindow, true; path.RTT > 0 {
			d.window, d.slow = path.holds(path.RTT), false
		}
	}
	d.settle()
	d.inFlight = d.now.Window
	return d
}

// holds returns the number of full packets that a line sends in a time, at least one.
func (p *Path) holds(t unit.Time) float64 {
	bits := float64(p.Line) * (float64(t) / float64(unit.Second))
	return max(1, bits/float64(8*p.MTU))
}

// OnAck counts marks and moves the window.
func (d *DCTCP) OnAck(_ unit.Time, a *Ack) {
	if a.RTT > 0 {
		d.rtt = a.RTT
	}
	d.acked += a.Bytes
	d.held -= a.Bytes
	d.inFlight = a.InFlight
	if a.Marked {
		d.marked += a.Bytes
		d.marks++
		d.slow = false
		d.shrink(1 - d.alpha/2)
	} else if a.InFlight+a.Bytes+d.path.MTU >= d.now.Window { // an unused window does not grow
		d.grow(float64(a.Bytes) / float64(d.path.MTU))
	}
	if d.left -= a.Bytes; d.left <= 0 {
		d.turn()
	}
	d.settle()
}

// turn ends a window of observation. The next one is the data now in flight (RFC 8257, 3.3).
func (d *DCTCP) turn() {
	if d.acked > 0 {
		share := float64(d.marked) / float64(d.acked)
		d.alpha = float64(d.alpha*(1-d.s.G)) + float64(d.s.G*share)
	}
	d.left, d.acked, d.marked = d.inFlight, 0, 0
}

// grow opens the window for acknowledged packets.
func (d *DCTCP) grow(packets float64) {
	if d.slow {
		d.window += packets
		return
	}
	d.window += float64(d.s.AI*packets) / d.window
}

// shrink keeps a share of the window, once for each window of data, which begins with the reduction and not with the
// window of observation (RFC 8257, 3.3; RFC 3168, 6.1.2).
func (d *DCTCP) shrink(keep float64) (done bool) {
	if d.held > 0 || d.window <= d.s.Floor {
		return false
	}
	d.held = d.inFlight
	d.window = max(d.s.Floor, float64(d.window*keep))
	d.cuts++
	return true
}

// OnLoss halves the window (RFC 8257, 3.5); a time-out sets it to the minimum (RFC 5681, 3.1).
func (d *DCTCP) OnLoss(_ unit.Time, l Loss) {
	keep := 0.5
	if d.slow = false; l == LossTimeout {
		keep = 0
		d.held = 0
	}
	if d.shrink(keep) {
		d.lossCuts++
	}
	d.settle()
}

// settle sets the decision: whole packets at line rate.
func (d *DCTCP) settle() {
	d.window = max(d.window, d.s.Floor)
	d.now = Decision{Rate: d.path.Line, Window: unit.Bytes(d.window) * d.path.MTU, TimerAt: unit.Never}
}

// OnLine changes the ceiling.
func (d *DCTCP) OnLine(_ unit.Time, line unit.Rate) {
	d.path.Line = line
	d.settle()
}

// AsksEvery returns 1, because a mark refers to its packet.
func (d *DCTCP) AsksEvery() int { return 1 }

// OnCNP does nothing: acknowledgements bring the marks.
func (d *DCTCP) OnCNP(unit.Time) {}

// OnBytes does nothing.
func (d *DCTCP) OnBytes(unit.Time, unit.Bytes) {}

// OnTimer does nothing.
func (d *DCTCP) OnTimer(unit.Time) {}

// WantsAcks returns true.
func (d *DCTCP) WantsAcks() bool { return true }

// Decision returns the window.
func (d *DCTCP) Decision() Decision { return d.now }

// Signal returns the rate, the window, alpha and the delay.
func (d *DCTCP) Signal(_ unit.Time, name string) (float64, bool) {
	rate := min(d.window*float64(8*d.path.MTU)/d.rtt.Seconds(), float64(d.path.Line))
	return named(dctcp.Signals, name, rate, d.window*float64(d.path.MTU), d.alpha, d.rtt.Seconds())
}

// Counter returns cuts and marks.
func (d *DCTCP) Counter(name string) (int64, bool) {
	return named(dctcp.Counters, name, d.cuts, d.lossCuts, d.marks)
}
