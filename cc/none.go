package cc

import "railyard/unit"

// none is the absence of congestion control in the registry.
var none = Algorithm{
	Name: "none", Title: "no congestion control", Words: "no congestion control, senders stay at line rate",
	Needs: Needs{Switch: "-", NIC: "-"},
	New:   func(Values) Make { return func(path Path) Controller { return None{Line: path.Line} } },
}

// None sends at line rate and reacts to nothing.
type None struct{ Line unit.Rate }

// OnCNP does nothing.
func (None) OnCNP(unit.Time) {}

// OnAck does nothing.
func (None) OnAck(unit.Time, *Ack) {}

// OnLoss does nothing.
func (None) OnLoss(unit.Time, Loss) {}

// OnBytes does nothing.
func (None) OnBytes(unit.Time, unit.Bytes) {}

// OnTimer does nothing.
func (None) OnTimer(unit.Time) {}

// Signal has no signals.
func (None) Signal(unit.Time, string) (float64, bool) { return 0, false }

// Counter has no counters.
func (None) Counter(string) (int64, bool) { return 0, false }

// WantsAcks returns false.
func (None) WantsAcks() bool { return false }

// Decision allows the line rate.
func (n None) Decision() Decision { return Decision{Rate: n.Line, TimerAt: unit.Never} }
