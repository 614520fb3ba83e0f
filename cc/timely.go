package cc

import (
	"fmt"

	"railyard/unit"
)

// timely is TIMELY's place in the registry (Mittal et al., SIGCOMM 2015, algorithm 1): a rate that follows
// how the round trip changes. Thresholds, beta and the completions before hyperactive increase are the
// paper's (section 5); the paper's 10 Mbit/s of increase are a thousandth of its 10 Gbit/s, and scale with
// the line as DCQCN's steps do. It gives no gain of the gradient's average: 0.02 is that of the authors'
// published snippet. What a loss does it does not say, for its fabric loses nothing: here a loss halves
// the rate, once per round trip.
var timely = Algorithm{
	Name: "timely", Title: "TIMELY", Params: timelyParams, Sockets: "sockets",
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
		low, high := Value[unit.Time](v, "t_low"), Value[unit.Time](v, "t_high")
		if low >= high {
			return "t_high", fmt.Sprintf("%v is not above t_low, %v", high, low)
		}
		return "", ""
	},
	New: func(v Values) Make {
		s := timelyOf(v)
		return func(path Path) Controller { return newTimely(&s, path) }
	},
}

var timelyParams = []Param{
	{Name: "t_low", Kind: Duration, Min: "100ns", Max: "1s",
		Doc: "below this round trip the rate only rises"},
	{Name: "t_high", Kind: Duration, Min: "100ns", Max: "1s",
		Doc: "above it the rate falls whatever the gradient"},
	{Name: "min_rtt", Kind: Duration, Min: "100ns", Max: "1s", Zero: true,
		Doc: "unit of the gradient; 0s: the path's round trip, or if unknown the least measured"},
	{Name: "gain", Kind: Number, Min: "0.0001", Max: "1", Doc: "of the gradient's average, per completion"},
	{Name: "beta", Kind: Number, Min: "0.001", Max: "0.999", Doc: "share that a gradient of one takes"},
	{Name: "ai", Kind: Speed, Min: "1Mbps", Max: "100Tbps", Line: true,
		Doc: "additive increase per completion"},
	{Name: "hai_after", Kind: Count, Min: "1", Max: "1000",
		Doc: "completions in a row without a rise of the delay that make the increase fivefold"},
	{Name: "segment", Kind: Size, Min: "256B", Max: "1MB", Doc: "a completion is the answer to so much"},
	{Name: "min_rate", Kind: Speed, Min: "1Mbps", Max: "100Tbps", Line: true, Doc: "floor"},
}

func timelyValues(line unit.Rate, low, high unit.Time) Values {
	step := max(unit.Mbps, line/1000)
	return Values{"t_low": low, "t_high": high, "min_rtt": unit.Time(0), "gain": 0.02, "beta": 0.8,
		"ai": step, "hai_after": 5, "segment": 64 * unit.KB, "min_rate": step}
}

type timelySettings struct {
	low, high, least unit.Time
	gain, beta       float64
	ai, floor        float64 // bit/s
	patience         int
	segment          unit.Bytes
}

func timelyOf(v Values) timelySettings {
	return timelySettings{low: Value[unit.Time](v, "t_low"), high: Value[unit.Time](v, "t_high"),
		least: Value[unit.Time](v, "min_rtt"), gain: Value[float64](v, "gain"),
		beta: Value[float64](v, "beta"), ai: float64(Value[unit.Rate](v, "ai")),
		floor:    float64(Value[unit.Rate](v, "min_rate")),
		patience: Value[int](v, "hai_after"), segment: Value[unit.Bytes](v, "segment")}
}

// hyperactive is both the number of completions after which the increase is steeper, and the factor (section 4.3 of
// the paper).
const hyperactive = 5

// Timely is one sender's rate. Products and sums are rounded one by one.
type Timely struct {
	s        *timelySettings
	path     Path
	rate     float64
	rtt      unit.Time // the last one; 0: none yet
	least    unit.Time // what the gradient is measured in; 0: not known yet
	change   float64   // of the round trip, averaged, ps
	calm     int       // completions in a row without a rise
	cutAt    unit.Time // for a loss
	cuts     int64
	lossCuts int64
}

func newTimely(s *timelySettings, path Path) *Timely {
	t := &Timely{s: s, path: path, rate: float64(path.Line), least: s.least, cutAt: -unit.Never / 2}
	if t.least == 0 {
		t.least = path.RTT
	}
	return t
}

// OnAck is a completion, where a round trip was measured.
func (t *Timely) OnAck(_ unit.Time, a *Ack) {
	if a.RTT == 0 {
		return
	}
	if t.s.least == 0 && t.path.RTT == 0 && (t.least == 0 || a.RTT < t.least) {
		t.least = a.RTT
	}
	last := t.rtt
	if t.rtt = a.RTT; last == 0 {
		return // one round trip has no gradient
	}
	t.change = float64((1-t.s.gain)*t.change) + float64(t.s.gain*float64(a.RTT-last))
	gradient := t.change / float64(t.least)
	if gradient > 0 {
		t.calm = 0
	} else {
		t.calm++
	}
	switch {
	case a.RTT < t.s.low:
		t.set(t.rate + t.s.ai)
	case a.RTT > t.s.high:
		t.set(t.rate * (1 - float64(t.s.beta*(1-float64(t.s.high)/float64(a.RTT)))))
	case gradient > 0:
		t.set(t.rate * max(0, 1-float64(t.s.beta*gradient)))
	case t.calm >= t.s.patience:
		t.set(t.rate + float64(hyperactive*t.s.ai))
	default:
		t.set(t.rate + t.s.ai)
	}
}

// set keeps the rate between its floor and the line.
func (t *Timely) set(rate float64) {
	rate = min(max(rate, t.s.floor), float64(t.path.Line))
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

// OnLine changes the ceiling: a rate that was the line's stays it.
func (t *Timely) OnLine(_ unit.Time, line unit.Rate) {
	if t.rate >= float64(t.path.Line) {
		t.rate = float64(line)
	}
	t.path.Line = line
	t.rate = min(t.rate, float64(line))
}

// AsksEvery makes each segment's last packet ask.
func (t *Timely) AsksEvery() int { return int(max(1, t.s.segment/t.path.MTU)) }

// OnCNP does nothing: delay says it all.
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
	switch name {
	case SignalRate:
		return t.rate, true
	case SignalDelay:
		return t.rtt.Seconds(), true
	case "gradient":
		return t.change / float64(max(t.least, 1)), true
	}
	return 0, false
}

// Counter returns the cuts.
func (t *Timely) Counter(name string) (int64, bool) {
	switch name {
	case CounterCuts:
		return t.cuts, true
	case "loss_cuts":
		return t.lossCuts, true
	}
	return 0, false
}
