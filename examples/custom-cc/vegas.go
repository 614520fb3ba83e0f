// Package vegas adds TCP Vegas to Railyard: a sender keeps between alpha and beta packets queued along its path
// (Brakmo, O'Malley and Peterson, TCP Vegas, SIGCOMM 1994, section 3.2).
package vegas

import (
	"railyard/cc"
	"railyard/extend"
	"railyard/unit"
)

func init() {
	extend.CongestionControl(&cc.Algorithm{
		Name: "vegas", Title: "Vegas", Sockets: "paper",
		Params: []cc.Param{
			{Name: "alpha", Kind: cc.Number, Min: "0", Max: "1000", Doc: "packets queued below which the window grows"},
			{Name: "beta", Kind: cc.Number, Min: "0", Max: "1000", Doc: "packets queued above which it shrinks"}},
		Profiles: []cc.Profile{{Name: "paper", Doc: "section 3.2", Words: "Vegas as in its paper, at %v",
			Of: func(unit.Rate) cc.Values { return cc.Values{"alpha": 1.0, "beta": 3.0} }}},
		Counters: []cc.Term{{Name: cc.CounterCuts, Doc: "reductions of the window"}},
		Needs:    cc.Needs{NIC: "round-trip times"},
		New: func(v cc.Values) cc.Make {
			alpha, beta := cc.Value[float64](v, "alpha"), cc.Value[float64](v, "beta")
			return func(p cc.Path) cc.Controller { return &vegas{path: p, alpha: alpha, beta: beta, window: 10} }
		},
	})
}

// vegas is the window of one sender, in packets; base is the least round trip.
type vegas struct {
	path                cc.Path
	alpha, beta, window float64
	base                unit.Time
	left                unit.Bytes // acknowledgements until the window changes again: once in a round trip
	cuts                int64
}

// OnAck compares the round trip with the least one: their difference times the rate is what the path queues.
func (v *vegas) OnAck(_ unit.Time, a *cc.Ack) {
	if a.RTT > 0 && (v.base == 0 || a.RTT < v.base) {
		v.base = a.RTT
	}
	if v.left -= a.Bytes; v.left > 0 || a.RTT <= 0 {
		return
	}
	v.left = a.InFlight
	if queued := v.window * (1 - float64(v.base)/float64(a.RTT)); queued < v.alpha {
		v.window++
	} else if queued > v.beta {
		v.reduce(v.window - 1)
	}
}

// reduce sets the window to at least one packet.
func (v *vegas) reduce(to float64) {
	if to = max(1, to); to < v.window {
		v.window = to
		v.cuts++
	}
}

// OnLoss halves the window.
func (v *vegas) OnLoss(unit.Time, cc.Loss) { v.reduce(float64(int64(v.window / 2))) }

// Decision allows the window at line rate.
func (v *vegas) Decision() cc.Decision {
	return cc.Decision{Rate: v.path.Line, Window: unit.Bytes(v.window) * v.path.MTU, TimerAt: unit.Never}
}

func (v *vegas) OnLine(_ unit.Time, line unit.Rate) { v.path.Line = line }
func (v *vegas) WantsAcks() bool                    { return true }
func (v *vegas) OnCNP(unit.Time)                    {}
func (v *vegas) OnTimer(unit.Time)                  {}
func (v *vegas) OnBytes(unit.Time, unit.Bytes)      {}

func (v *vegas) Signal(unit.Time, string) (float64, bool) { return 0, false }

func (v *vegas) Counter(name string) (int64, bool) {
	if name == cc.CounterCuts {
		return v.cuts, true
	}
	return 0, false
}
