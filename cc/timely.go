package cc

import (
	"fmt"

	"railyard/param"
	"railyard/unit"
)

// timely is TIMELY's place in the registry (Mittal et al., SIGCOMM 2015, algorithm 1): a rate that follows how the
// round trip changes. Thresholds, beta and the completions before hyperactive increase are the paper's (section 5).
// The paper's increase of 10 Mbit/s is a thousandth of its 10 Gbit/s. It scales with the line rate as DCQCN's steps
// do. The paper gives no weight for the average of the gradient: 0.02 is that of the authors' published snippet.
// The paper defines no reaction to losses, for its fabric is lossless. Here a loss halves the rate, once per round
// trip.
var timely = Algorithm{
	Name: "timely", Title: "TIMELY", Params: timelyTable.Params(), Sockets: "sockets",
	Profiles: []Profile{
		{Name: "paper", Doc: "SIGCOMM 2015, the increase scaled to the line",
			Words: "TIMELY as in its paper, increase scaled to %v",
			Of: func(line unit.Rate) Values {
				return timelyValues(line, 50*unit.Microsecond, 500*unit.Microsecond)
			}},
		{Name: "sockets", Doc: "thresholds twenty times as high, for ends that are processes",
			Words: "TIMELY with thresholds for processes, increase scaled to %v",
			Of: func(line unit.Rate) Values {
				return timelyValues(line, unit.Millisecond, 10*unit.Millisecond)
			}},
	},
	Signals: []Term{
		{SignalRate, "bit/s", "the rate"},
		{SignalDelay, "s", "the last round trip"},
		{"gradient", "", "change of the round trip per completion, averaged, in least round trips"},
	},
	Counters: []Term{
		{Name: CounterCuts, Doc: "cuts of the rate, for delay and for losses"},
		{Name: "loss_cuts", Doc: "those for losses"},
	},
	Needs: Needs{Switch: "-", NIC: "clock, rate per QP"},
	Check: func(v Values) (param, fault string) {
		if s := timelyTable.Read(v); s.Low >= s.High {
			return "t_high", fmt.Sprintf("%v is not above t_low, %v", s.High, s.Low)
		}
		return "", ""
	},
	New: func(v Values) Make {
		s := timelyTable.Read(v)
		return func(path Path) Controller { return newTimely(&s, path) }
	},
}

// timelySettings are the parameters, as senders share them.
type timelySettings struct {
	Low      unit.Time  `yaml:"t_low" range:"100ns,1s" doc:"below this round trip the rate only rises"`
	High     unit.Time  `yaml:"t_high" range:"100ns,1s" doc:"above it the rate falls whatever the gradient"`
	Least    unit.Time  `yaml:"min_rtt" range:"0|100ns,1s" doc:"unit of the gradient; 0s: the path's round trip, or if unknown the least measured"`
	Gain     float64    `yaml:"gain" range:"0.0001,1" doc:"of the gradient's average, per completion"`
	Beta     float64    `yaml:"beta" range:"0.001,0.999" doc:"share that a gradient of one takes"`
	AI       unit.Rate  `yaml:"ai" range:"1Mbps,100Tbps" at:"line" doc:"additive increase per completion"`
	Patience int        `yaml:"hai_after" range:"1,1000" doc:"completions in a row without a rise of the delay that make the increase fivefold"`
	Segment  unit.Bytes `yaml:"segment" range:"256B,1MB" doc:"a completion is the answer to so much"`
	Floor    unit.Rate  `yaml:"min_rate" range:"1Mbps,100Tbps" at:"line" doc:"floor"`
}

var timelyTable = param.In[timelySettings]()

func timelyValues(line unit.Rate, low, high unit.Time) Values {
	step := max(unit.Mbps, line/1000)
	return timelyTable.Values(timelySettings{Low: low, High: high, Gain: 0.02, Beta: 0.8, AI: step, Patience: 5,
		Segment: 64 * unit.KB, Floor: step})
}

// hyperactive is both the number of completions after which the increase is steeper, and the factor (section 4.3 of
// the paper).
const hyperactive = 5

// Timely is one sender's rate. Products and sums are rounded separately.
type Timely struct {
	s        *timelySettings
	path     Path
	rate     float64
	rtt      unit.Time // the last one; 0: none yet
	least    unit.Time // unit of the gradient; 0: not known yet
	change   float64   // averaged change of the round trip, ps
	calm     int       // completions in a row without a rise
	cutAt    unit.Time // for a loss
	cuts     int64
	lossCuts int64
}

func newTimely(s *timelySettings, path Path) *Timely {
	t := &Timely{s: s, path: path, rate: float64(path.Line), least: s.Least, cutAt: -unit.Never / 2}
	if t.least == 0 {
		t.least = path.RTT
	}
	return t
}

// OnAck is a completion event if a round trip was measured.
func (t *Timely) OnAck(_ unit.Time, a *Ack) {
	if a.RTT == 0 {
		return
	}
	if t.s.Least == 0 && t.path.RTT == 0 && (t.least == 0 || a.RTT < t.least) {
		t.least = a.RTT
	}
	last := t.rtt
	if t.rtt = a.RTT; last == 0 {
		return // a gradient needs two round trips
	}
	t.change = float64((1-t.s.Gain)*t.change) + float64(t.s.Gain*float64(a.RTT-last))
	gradient := t.change / float64(t.least)
	if gradient > 0 {
		t.calm = 0
	} else {
		t.calm++
	}
	ai := float64(t.s.AI)
	switch {
	case a.RTT < t.s.Low:
		t.set(t.rate + ai)
	case a.RTT > t.s.High:
		t.set(t.rate * (1 - float64(t.s.Beta*(1-float64(t.s.High)/float64(a.RTT)))))
	case gradient > 0:
		t.set(t.rate * max(0, 1-float64(t.s.Beta*gradient)))
	case t.calm >= t.s.Patience:
		t.set(t.rate + float64(hyperactive*ai))
	default:
		t.set(t.rate + ai)
	}
}

// set keeps the rate between its floor and the line.
func (t *Timely) set(rate float64) {
	rate = min(max(rate, float64(t.s.Floor)), float64(t.path.Line))
	if rate < t.rate {
		t.cuts++
	}
	t.rate = rate
}

// OnLoss halves the rate.
func (t *Timely) OnLoss(now unit.Time, _ Loss) {
	if now-t.cutAt < max(t.rtt, t.least) {
		return
	}
	before := t.cuts
	t.cutAt = now
	t.set(t.rate / 2)
	t.lossCuts += t.cuts - before
}

// OnLine changes the maximum rate; a sender at line rate stays at line rate.
func (t *Timely) OnLine(_ unit.Time, line unit.Rate) {
	if t.rate >= float64(t.path.Line) {
		t.rate = float64(line)
	}
	t.path.Line = line
	t.rate = min(t.rate, float64(line))
}

// AsksEvery makes each segment's last packet request an acknowledgement.
func (t *Timely) AsksEvery() int { return int(max(1, t.s.Segment/t.path.MTU)) }

// OnCNP does nothing: TIMELY reacts only to delay.
func (t *Timely) OnCNP(unit.Time) {}

// OnBytes does nothing.
func (t *Timely) OnBytes(unit.Time, unit.Bytes) {}

// OnTimer does nothing.
func (t *Timely) OnTimer(unit.Time) {}

// WantsAcks returns true.
func (t *Timely) WantsAcks() bool { return true }

// Decision returns the rate.
func (t *Timely) Decision() Decision {
	return Decision{Rate: unit.Rate(max(1, t.rate)), TimerAt: unit.Never}
}

// Signal returns the rate, the delay and its gradient.
func (t *Timely) Signal(_ unit.Time, name string) (float64, bool) {
	return named(timely.Signals, name, t.rate, t.rtt.Seconds(), t.change/float64(max(t.least, 1)))
}

// Counter returns the cuts.
func (t *Timely) Counter(name string) (int64, bool) {
	return named(timely.Counters, name, t.cuts, t.lossCuts)
}
