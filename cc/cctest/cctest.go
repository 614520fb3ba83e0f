package cctest

import (
	"math"
	"slices"
	"testing"

	"railyard/cc"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Run checks an algorithm's controllers for a line rate, as package cc promises them. Whatever happens, in
// the order of time:
//
//   - the rate is positive and at most the line rate, the new one where the controller is told of it
//     (cc.Liner); a window is none or at least a packet, and none for a
//     controller that wants no acknowledgements;
//   - the decision stays what it is until an input, and asking for anything is no input;
//   - the timer that was served is armed for later, or not at all;
//   - the signals and counters that the algorithm lists are reported, and others are 0 and false; signals are
//     numbers, counters never fall; an algorithm that allows less than before counts it as a cut;
//   - the same inputs give the same decisions, and one sender's are nothing to another;
//   - no input allocates memory;
//   - an algorithm that needs ECN marks receives them: Marks for acknowledgements, CNPGap for CNPs.
func Run(t *testing.T, alg *cc.Algorithm, line unit.Rate, build cc.Make) {
	if alg.Needs.Hears&cc.Marking != 0 && !alg.Marks && alg.CNPGap == nil {
		t.Errorf("%s reacts to ECN marks (Needs.Hears) and receives none: neither Marks nor CNPGap is set", alg.Name)
	}
	names := allNames()
	rapid.Check(t, func(rt *rapid.T) {
		path := anyPath(rt, line)
		a, b, idle := build(path), build(path), build(path)
		first := idle.Decision()
		counted := map[string]int64{}
		for _, in := range anyInputs(rt, 300, line) {
			last := a.Decision()
			for _, c := range []cc.Controller{a, b} {
				if late := serve(c, in.at); late != "" {
					rt.Fatal(late)
				}
				in.to(c)
			}
			if _, told := a.(cc.Liner); told && in.kind == 5 {
				path.Line = in.line
			}
			checkDecision(rt, a, path)
			if in.kind != 5 { // a slower line is no cut
				checkCuts(rt, a, last, counted[cc.CounterCuts])
			}
			if da, db := a.Decision(), b.Decision(); da != db {
				rt.Fatalf("the same inputs gave %+v and %+v", da, db)
			}
			before := a.Decision()
			reports(rt, alg, names, a, in.at, counted)
			if after := a.Decision(); after != before {
				rt.Fatalf("%+v became %+v without an input", before, after)
			}
		}
		if d := idle.Decision(); d != first {
			rt.Fatalf("a sender that had no input went from %+v to %+v", first, d)
		}
	})
	t.Run("allocates nothing", func(t *testing.T) { allocates(t, line, build) })
}

// anyPath draws a path as a controller may get it: on sockets, round trip and switches are unknown.
func anyPath(rt *rapid.T, line unit.Rate) cc.Path {
	p := cc.Path{Line: line, MTU: 256 << rapid.IntRange(0, 4).Draw(rt, "mtu")}
	if rapid.Bool().Draw(rt, "known") {
		p.RTT = unit.Time(rapid.Int64Range(1, int64(10*unit.Millisecond)).Draw(rt, "rtt"))
		p.Hops = rapid.IntRange(0, 9).Draw(rt, "hops")
	}
	return p
}

// input is an event at a sender.
type input struct {
	at   unit.Time
	kind int
	ack  cc.Ack
	line unit.Rate
}

func anyInputs(rt *rapid.T, most int, line unit.Rate) (all []input) {
	now := unit.Time(0)
	for range rapid.IntRange(1, most).Draw(rt, "inputs") {
		now += unit.Time(rapid.Int64Range(0, int64(200*unit.Microsecond)).Draw(rt, "wait"))
		in := input{at: now, kind: rapid.IntRange(0, 5).Draw(rt, "kind")}
		if in.kind == 5 {
			in.line = line / unit.Rate(rapid.IntRange(1, 10).Draw(rt, "share"))
		}
		if in.kind == 1 {
			in.ack = cc.Ack{Bytes: unit.Bytes(rapid.Int64Range(1, 1<<20).Draw(rt, "bytes")),
				InFlight: unit.Bytes(rapid.Int64Range(0, 1<<20).Draw(rt, "in flight")),
				Far:      unit.Time(rapid.Int64Range(0, int64(unit.Millisecond)).Draw(rt, "far end")),
				Hops:     rapid.IntRange(0, 9).Draw(rt, "switches back"),
				RTT:      unit.Time(rapid.Int64Range(0, int64(unit.Second)).Draw(rt, "round trip"))}
			if rapid.IntRange(0, 3).Draw(rt, "told") > 0 {
				in.ack.Telemetry = anyTelemetry(rt, line)
			}
		}
		all = append(all, in)
	}
	return all
}

// anyTelemetry returns random telemetry: more hops than MostHops, clocks that stop, and counters that wrap.
func anyTelemetry(rt *rapid.T, line unit.Rate) *cc.Telemetry {
	t := &cc.Telemetry{Hops: rapid.IntRange(0, cc.MostHops+2).Draw(rt, "hops"),
		Path: uint16(rapid.IntRange(0, 1).Draw(rt, "path")), Wraps: 1 << 24 * unit.Nanosecond}
	switch t.Signal = cc.Signalled(rapid.IntRange(0, 2).Draw(rt, "signal")); t.Signal {
	case cc.SignalledShare:
		t.Share = rapid.Float64Range(0, 1).Draw(rt, "share")
	case cc.SignalledDelay:
		t.Delay = unit.Time(rapid.Int64Range(0, int64(unit.Millisecond)).Draw(rt, "delay"))
		t.Most = unit.Millisecond
	}
	for i := range t.Known() {
		h := cc.Hop{Rate: line * unit.Rate(rapid.IntRange(1, 4).Draw(rt, "rate")), Wraps: 1 << 27}
		h.At = unit.Time(rapid.Int64Range(0, 1<<24-1).Draw(rt, "at")) * unit.Nanosecond
		h.Sent = unit.Bytes(rapid.Int64Range(0, 1<<27-1).Draw(rt, "sent"))
		h.Queue = unit.Bytes(rapid.Int64Range(0, 1<<22).Draw(rt, "queue"))
		t.Hop[i] = h
	}
	return t
}

// to passes the input to a controller as a driver does. Acknowledgements and the budget go only to controllers that
// use them.
func (in *input) to(c cc.Controller) {
	switch in.kind {
	case 0:
		c.OnCNP(in.at)
	case 1:
		if c.WantsAcks() {
			c.OnAck(in.at, &in.ack)
		}
	case 2:
		c.OnLoss(in.at, cc.LossNak)
	case 3:
		if d := c.Decision(); d.Budget > 0 {
			c.OnBytes(in.at, d.Budget)
		}
	case 4:
		c.OnLoss(in.at, cc.LossTimeout)
	case 5:
		if l, ok := c.(cc.Liner); ok {
			l.OnLine(in.at, in.line)
		}
	}
}

// serve runs the timers that are due.
func serve(c cc.Controller, until unit.Time) (wrong string) {
	for d := c.Decision(); d.TimerAt <= until; d = c.Decision() {
		c.OnTimer(d.TimerAt)
		if next := c.Decision().TimerAt; next <= d.TimerAt {
			return "a timer that was served at " + d.TimerAt.String() + " is armed for " + next.String()
		}
	}
	return ""
}

// checkDecision holds a decision to its bounds.
func checkDecision(rt *rapid.T, c cc.Controller, path cc.Path) {
	switch d := c.Decision(); {
	case d.Rate <= 0 || d.Rate > path.Line:
		rt.Fatalf("a rate of %v on a line of %v", d.Rate, path.Line)
	case d.Window != 0 && d.Window < path.MTU || d.Window > 1<<40:
		rt.Fatalf("a window of %v with packets of %v", d.Window, path.MTU)
	case d.Window != 0 && !c.WantsAcks():
		rt.Fatalf("a window of %v that no acknowledgement opens", d.Window)
	case d.Budget < 0:
		rt.Fatalf("a budget of %v", d.Budget)
	}
}

// checkCuts checks the counter of rate reductions: it rises when the window falls, or when the rate falls if there
// is no window.
func checkCuts(rt *rapid.T, c cc.Controller, last cc.Decision, before int64) {
	d := c.Decision()
	if d.Window < last.Window || d.Window == 0 && d.Rate < last.Rate {
		if n, _ := c.Counter(cc.CounterCuts); n <= before {
			rt.Fatalf("it went from %+v to %+v and counts %d cuts as before", last, d, n)
		}
	}
}

// reports compares a controller's signals and counters with its algorithm's lists.
func reports(rt *rapid.T, alg *cc.Algorithm, names []string, c cc.Controller, now unit.Time,
	counted map[string]int64) {
	for _, name := range names {
		x, ok := c.Signal(now, name)
		if listed := lists(alg.Signals, name); ok != listed || math.IsNaN(x) || math.IsInf(x, 0) || !listed && x != 0 {
			rt.Fatalf("signal %s is %v, reported %v, listed %v", name, x, ok, listed)
		}
		n, ok := c.Counter(name)
		if listed := lists(alg.Counters, name); ok != listed || n < counted[name] || !listed && n != 0 {
			rt.Fatalf("counter %s is %d after %d, reported %v, listed %v", name, n, counted[name], ok, listed)
		}
		counted[name] = n
	}
}

func lists(terms []cc.Term, name string) bool {
	return slices.ContainsFunc(terms, func(t cc.Term) bool { return t.Name == name })
}

// allNames returns the names of all algorithms, each once, and the empty name.
func allNames() []string {
	names := []string{"unheard of"}
	for _, a := range cc.Names() {
		alg := cc.Lookup(a)
		for _, t := range append(slices.Clone(alg.Signals), alg.Counters...) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// allocates gives a controller inputs of all kinds and counts its allocations.
func allocates(t *testing.T, line unit.Rate, build cc.Make) {
	path := cc.Path{Line: line, MTU: 4096, RTT: 10 * unit.Microsecond, Hops: 3}
	c := build(path)
	told := cc.Telemetry{Hops: 1, Wraps: unit.Second, Hop: [cc.MostHops]cc.Hop{{Rate: line, Wraps: 1 << 40}}}
	in := input{ack: cc.Ack{Bytes: 4096, InFlight: 4096, Telemetry: &told}}
	if n := testing.AllocsPerRun(100, func() {
		for in.kind = range 5 {
			in.at += 7 * unit.Microsecond
			in.ack.RTT = in.at % (50 * unit.Microsecond)
			told.Hop[0].At, told.Hop[0].Sent = in.at, unit.Bytes(in.at/100)
			serve(c, in.at)
			in.to(c)
		}
	}); n > 0 {
		t.Errorf("%v allocations for five inputs", n)
	}
}
