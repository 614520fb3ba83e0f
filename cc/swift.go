package cc

import (
	"fmt"
	"math"

	"railyard/param"
	"railyard/unit"
)

// swift is Swift's place in the registry. Sources: the rules are algorithm 1 of the paper (Kumar et al., SIGCOMM
// 2020, section 3). The constants are those of htsim (docs/references.md, swift); its authors call them guesses.
// The paper's second window, for the far end's delay, needs time stamps of the far NIC, which RoCEv2 does not
// carry. Receivers add four bytes to an acknowledgement (Algorithm.FarEnd) for their delay: the time in a simulated
// NIC, or the processing time of a process. That time is part of the round trip, and the fabric's window uses the
// rest. The number of switches on the path is derived from the acknowledgement's TTL, or configured at the sender.
var swift = Algorithm{
	Name: "swift", Title: "Swift", Params: swiftTable.Params(), Sockets: "sockets",
	Profiles: []Profile{
		{Name: "path", Doc: "targets from the path's own round trip",
			Words: "Swift, targets from each path's round trip, at %v",
			Of:    func(unit.Rate) Values { return swiftTable.Values(swiftValues(0)) }},
		{Name: "htsim", Doc: "a target of 20 us, as htsim has it",
			Words: "Swift with htsim's constants, at %v",
			Of:    func(unit.Rate) Values { return swiftTable.Values(swiftValues(20 * unit.Microsecond)) }},
		{Name: "falcon", Doc: "Falcon's defaults: a target of 25 us, 8 packets of each of four paths to begin with",
			Words: "Swift with Falcon's constants, at %v", Of: swiftForFalcon},
		{Name: "sockets", Doc: "targets of 1 ms, for the path and the receiver: processes are scheduled",
			Words: "Swift with targets for processes, at %v", Of: swiftForProcesses},
	},
	Signals: []Term{
		{SignalRate, "bit/s", "the window per round trip, at most the line rate"},
		{SignalWindow, "B", "the window; below one packet the pace keeps it"},
		{SignalDelay, "s", "the last round trip; 0 before one was measured"},
		{"target_delay", "s", "the round trip that it aims at"},
		{"far_delay", "s", "what the far end kept the last packet"},
	},
	Counters: []Term{
		{Name: CounterCuts, Doc: "cuts of the window, for delay and for losses"},
		{Name: "loss_cuts", Doc: "those for losses"},
		{Name: "far_cuts", Doc: "those for the far end's delay"},
		{Name: "resets", Doc: "windows back at the minimum, after time-outs"},
	},
	Needs:     Needs{Switch: "-", NIC: "clock, window per QP"},
	FarEnd:    true,
	Telemetry: func(v Values) Report { return reportsByTag(v, NoReport) },
	Tags:      SignalledDelay,
	Check:     checkSwift,
	New: func(v Values) Make {
		s := swiftOf(v)
		return func(path Path) Controller { return newSwift(&s, path) }
	},
}

// checkSwift checks that flow scaling falls from its maximum to zero between the two windows.
func checkSwift(v Values) (param, fault string) {
	if s := swiftTable.Read(v); s.FSMin >= s.FSMax {
		return "fs_max", fmt.Sprintf("%v packets are not above fs_min, %v", s.FSMax, s.FSMin)
	}
	return "", ""
}

// swiftSettings are the parameters, as senders share them. Windows are in full packets.
type swiftSettings struct {
	slope, level float64   // flow scaling is slope/sqrt(window) - level, in base targets
	Base         unit.Time `yaml:"base_target" range:"0|1us,1s" doc:"target without queues; 0s: the path's round trip, or if unknown the least measured"`
	End          unit.Time `yaml:"end_target" range:"0|1us,1s" doc:"target for the far end's delay; 0s: the path's round trip, or none if unknown"`
	HopScale     float64   `yaml:"hop_scale" range:"0|0.000001,100" doc:"more target per switch on the path, in base targets"`
	Range        float64   `yaml:"fs_range" range:"0|0.000001,1000" doc:"most target that flow scaling adds, in base targets"`
	FSMin        float64   `yaml:"fs_min" range:"0.0001,1000" doc:"window at which it adds the most, packets"`
	FSMax        float64   `yaml:"fs_max" range:"0.001,1000000" doc:"window from which on it adds nothing, packets; above fs_min"`
	AI           float64   `yaml:"ai" range:"0.001,1000" doc:"additive increase per round trip, packets"`
	Beta         float64   `yaml:"beta" range:"0.001,1" doc:"share of the delay above the target that a cut takes"`
	Cut          float64   `yaml:"max_mdf" range:"0.001,0.999" doc:"a single cut takes at most this share"`
	Floor        float64   `yaml:"min_window" range:"0.0001,1" doc:"floor, packets"`
	Gap          unit.Time `yaml:"max_gap" range:"1us,1s" doc:"below one packet the maximum interval between packets: in longer silence the end of a queue is not seen"`
	From         float64   `yaml:"start_window" range:"0|1,1000000" doc:"window to begin with, packets; 0: bandwidth-delay product of the path, or 10 if unknown"`
	ResetAfter   int       `yaml:"reset_after" range:"1,1000" doc:"time-outs in a row that put the window at its floor; before, they cut by max_mdf"`
	CSIG         int       `yaml:"csig" of:"0, 4, 8" doc:"congestion signaling's tag instead of measured round trips: the path's own and the longest delay of a switch, in 4 bytes (compact) or 8 (wide); 0: none"`
}

var swiftTable = param.In[swiftSettings]()

// swiftValues are htsim's, but for the base target. The paper has no number for reset_after; Railyard's is below a
// NIC's seven retries. max_gap is an addition: a thousand round trips of a process that is scheduled late are
// seconds.
func swiftValues(base unit.Time) swiftSettings {
	return swiftSettings{Base: base, HopScale: 1 / 6.55, Range: 5, FSMin: 0.1, FSMax: 100, AI: 1, Beta: 0.8, Cut: 0.5,
		Floor: 0.001, Gap: 10 * unit.Millisecond, ResetAfter: 3}
}

// swiftForFalcon are the values of Isekai, the simulator that Google published with Falcon (DefaultConfiguration of
// host/falcon/rue/algorithm/swift.cc and common/default_config_generator.cc; docs/references.md, swift). They add 1
// us per hop, and up to 100 us for flow scaling. A connection begins with 32 packets, which its paths share.
func swiftForFalcon(unit.Rate) Values {
	s := swiftValues(25 * unit.Microsecond)
	s.HopScale, s.Range, s.FSMax = 1./25, 100./25, 256
	s.Floor, s.From = 0.01, 8
	return swiftTable.Values(s)
}

// swiftForProcesses are the values over sockets.
func swiftForProcesses(unit.Rate) Values {
	s := swiftValues(unit.Millisecond)
	s.End = unit.Millisecond
	return swiftTable.Values(s)
}

func swiftOf(v Values) swiftSettings {
	s := swiftTable.Read(v)
	if few, many := s.FSMin, s.FSMax; many > few { // otherwise no window is between the two, and nothing is added
		s.slope = s.Range / (1/math.Sqrt(few) - 1/math.Sqrt(many))
		s.level = s.slope / math.Sqrt(many)
	}
	return s
}

// Swift is one sender's window. It grows while the delay is below the target. Above, it shrinks in proportion to
// the excess, at most once per round trip. Sums and products are rounded one by one, by explicit conversions, so
// that all platforms compute equal values.
type Swift struct {
	s        *swiftSettings
	path     Path
	base     float64 // target without flow scaling and switches, ps; 0: not known yet
	window   float64 // packets, for the fabric's delay
	end      endWindow
	far      unit.Time // the far end's delay
	rtt      unit.Time // round trip of the path before the first measurement
	measured bool
	cutAt    unit.Time
	late     int // time-outs in a row
	now      Decision

	cuts, lossCuts, farCuts, resets int64
}

// Window and round trip for an unknown path before the first measurement: the initial window of RFC 6928, and a
// round trip near the minimum in a data centre.
const (
	unknownWindow = 10
	unknownRTT    = 100 * unit.Microsecond
)

func newSwift(s *swiftSettings, path Path) *Swift {
	w := &Swift{s: s, path: path, rtt: path.RTT, cutAt: -unit.Never / 2, window: s.From, end: newEndWindow()}
	if w.base = float64(s.Base); w.base == 0 {
		w.base = float64(path.RTT)
	}
	if w.rtt == 0 {
		w.rtt = max(s.Base, unknownRTT)
	}
	if w.window == 0 {
		w.window = unknownWindow
		if path.RTT > 0 {
			w.window = w.holds(float64(path.RTT))
		}
	}
	w.settle()
	return w
}

// holds returns the number of packets that the line sends in a time, at least one.
func (w *Swift) holds(t float64) float64 {
	bits := float64(w.path.Line) * (t / float64(unit.Second))
	return max(1, bits/float64(8*w.path.MTU))
}

// target is the delay target in ps: a base, a queue at each switch, and a part that grows as the window shrinks.
// The last part is because the queue of many flows with small windows grows with the square root of their number.
func (w *Swift) target() float64 {
	flows := float64(w.s.slope/math.Sqrt(w.window)) - w.s.level
	flows = min(max(flows, 0), w.s.Range)
	return w.base * (1 + float64(w.s.HopScale*float64(w.path.Hops)) + flows)
}

// endTarget is the far end's target, in ps; above every delay if there is none.
func (w *Swift) endTarget() float64 {
	switch {
	case w.s.End > 0:
		return float64(w.s.End)
	case w.path.RTT > 0:
		return float64(w.path.RTT)
	}
	return math.Inf(1)
}

// OnAck moves the window by the delay, if one was measured.
func (w *Swift) OnAck(now unit.Time, a *Ack) {
	w.late = 0
	if a.Hops > 0 {
		w.path.Hops = a.Hops
	}
	w.far = a.Far
	if w.end.heard(now, w.s, w.endTarget(), a.Far, w.rtt, float64(a.Bytes)/float64(w.path.MTU), w.window) {
		w.cuts++
		w.farCuts++
	}
	if a.RTT > 0 {
		w.rtt, w.measured = a.RTT, true
		if w.s.Base == 0 && w.path.RTT == 0 && (w.base == 0 || fabric(a) < w.base) {
			w.base = fabric(a)
		}
	}
	delay := w.delay(a)
	if delay == 0 {
		w.settle()
		return
	}
	target := w.target()
	switch acked := float64(a.Bytes) / float64(w.path.MTU); {
	case delay < target && w.window >= 1:
		w.grow(float64(w.s.AI*acked) / w.window)
	case delay < target:
		w.grow(float64(w.s.AI * acked))
	default:
		w.shrink(now, 1-float64(w.s.Beta*(delay-target)/delay))
	}
	w.settle()
}

// delay returns the delay to compare with the target; 0 if the packet was not measured. It is the round trip or,
// with tags, the round trip over only the switch with the longest delay. Tags exclude the return path and the far
// NIC. A saturated tag means this delay or more; then the round trip is used.
func (w *Swift) delay(a *Ack) float64 {
	t := a.Telemetry
	switch {
	case w.s.CSIG == 0 || w.path.RTT == 0:
		return fabric(a)
	case t == nil || t.Signal != SignalledDelay:
		return 0
	case t.Most > 0 && t.Delay >= t.Most:
		return fabric(a)
	}
	return float64(w.path.RTT + t.Delay)
}

// fabric is the measured round trip without the far end's part in it; 0: none was measured.
func fabric(a *Ack) float64 {
	if a.FarWithin && a.RTT > 0 {
		return float64(max(a.RTT-a.Far, unit.Nanosecond))
	}
	return float64(a.RTT)
}

// grow opens the window, up to the line rate times the highest target. Without this limit the window of a sender
// that does not use it would grow without bound.
func (w *Swift) grow(packets float64) {
	highest := w.base * (1 + float64(w.s.HopScale*float64(w.path.Hops)) + w.s.Range)
	w.window = max(w.window, min(w.window+packets, max(w.holds(highest), unknownWindow)))
}

// shrink keeps a share of the window, but not twice in a round trip, and takes at most max_mdf.
func (w *Swift) shrink(now unit.Time, keep float64) (done bool) {
	if now-w.cutAt < w.rtt {
		return false
	}
	w.window *= max(keep, 1-w.s.Cut)
	w.cutAt = now
	w.cuts++
	return true
}

// OnLoss reduces the window; repeated time-outs set it to its minimum.
func (w *Swift) OnLoss(now unit.Time, l Loss) {
	if l != LossTimeout {
		w.late = 0
	} else if w.late++; w.late >= w.s.ResetAfter {
		w.window, w.cutAt = w.s.Floor, now
		w.end.lost(w.s.Floor, 0)
		w.cuts++
		w.lossCuts++
		w.resets++
		w.settle()
		return
	}
	if w.shrink(now, 0) {
		w.end.lost(w.s.Floor, 1-w.s.Cut)
		w.lossCuts++
	}
	w.settle()
}

// settle applies the floor of the window and sets the decision: whole packets, or one at a time at a pace.
func (w *Swift) settle() {
	w.window = max(w.window, w.s.Floor)
	whole := unit.Bytes(max(1, w.least()))
	w.now = Decision{Rate: w.path.Line, Window: whole * w.path.MTU, TimerAt: unit.Never}
	if w.least() < 1 {
		w.now.Rate = w.rate()
	}
}

// least is the smaller of the two windows.
func (w *Swift) least() float64 { return min(w.window, w.end.packets) }

// rate is the window per round trip, or a packet per max_gap.
func (w *Swift) rate() unit.Rate {
	packets := max(w.least()/w.rtt.Seconds(), 1/w.s.Gap.Seconds())
	return unit.Rate(min(max(1, packets*float64(8*w.path.MTU)), float64(w.path.Line)))
}

// OnLine changes the ceiling.
func (w *Swift) OnLine(_ unit.Time, line unit.Rate) {
	w.path.Line = line
	w.settle()
}

// OnCNP does nothing: Swift reacts only to delay.
func (w *Swift) OnCNP(unit.Time) {}

// OnBytes does nothing.
func (w *Swift) OnBytes(unit.Time, unit.Bytes) {}

// OnTimer does nothing.
func (w *Swift) OnTimer(unit.Time) {}

// WantsAcks returns true.
func (w *Swift) WantsAcks() bool { return true }

// Decision returns the window, and a rate if the window is below one packet.
func (w *Swift) Decision() Decision { return w.now }

// Signal returns the rate, the window, the delay and its target.
func (w *Swift) Signal(_ unit.Time, name string) (float64, bool) {
	switch name {
	case SignalRate:
		return float64(w.rate()), true
	case SignalWindow:
		return w.least() * float64(w.path.MTU), true
	case SignalDelay:
		if !w.measured {
			return 0, true
		}
		return w.rtt.Seconds(), true
	case "target_delay":
		return w.target() / float64(unit.Second), true
	case "far_delay":
		return w.far.Seconds(), true
	}
	return 0, false
}

// Counter returns the cuts.
func (w *Swift) Counter(name string) (int64, bool) {
	return named(swift.Counters, name, w.cuts, w.lossCuts, w.farCuts, w.resets)
}
