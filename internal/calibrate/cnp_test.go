package calibrate

import (
	"slices"
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

const (
	us = unit.Microsecond
	ns = unit.Nanosecond
)

// answers is a receiver that answers marks with a varying delay, at most one per interval.
func answers(marks []unit.Time, r Receiver, jitter func() unit.Time) (cnps []unit.Time) {
	due := -r.Interval
	for _, at := range marks {
		if at-due >= r.Interval {
			due = at
			cnps = append(cnps, at+r.Delay+jitter())
		}
	}
	slices.Sort(cnps)
	return cnps
}

// For random bursts of marks, the delay is found within its variation. The interval is found within that variation
// plus the distance of marks.
func TestAnswersAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Receiver{unit.Time(rapid.IntRange(1, 30_000).Draw(t, "delay")) * ns,
			unit.Time(rapid.IntRange(1000, 60_000).Draw(t, "interval")) * ns}
		step := unit.Time(rapid.IntRange(80, 500).Draw(t, "step")) * ns
		vary := rapid.IntRange(0, 50).Draw(t, "vary")
		jitter := func() unit.Time { return unit.Time(rapid.IntRange(0, vary).Draw(t, "late")) * ns }
		var pairs []Marked
		for range 4 {
			var ce []unit.Time
			at := unit.Time(rapid.IntRange(0, 200_000).Draw(t, "from")) * ns
			for range 20 { // bursts
				at += 2*(r.Interval+r.Delay) + unit.Time(rapid.IntRange(0, 300_000).Draw(t, "quiet"))*ns
				for range rapid.IntRange(1, int(3*r.Interval/step)).Draw(t, "burst") {
					ce = append(ce, at)
					at += step
				}
			}
			pairs = append(pairs, Marked{Name: "x", CE: ce, CNP: answers(ce, r, jitter)})
		}
		a, err := Answering(pairs, Receiver{0, 50 * us}, 3)
		if err != nil {
			t.Fatal(err)
		}
		off := a.Delay.Median - r.Delay
		if off < 0 || off > unit.Time(vary)*ns {
			t.Fatalf("delay %v, is %v", a.Delay, r.Delay)
		}
		if off := a.Interval.Median - r.Interval; a.Why == "" && (off < -50*ns || off > step+50*ns) {
			t.Fatalf("interval %v, is %v", a.Interval, r.Interval)
		}
		if a.Unanswered > 0 || a.Aside != len(a.Samples)/3 || a.HeldIs > unit.Time(vary)*ns {
			t.Fatalf("%+v", a)
		}
	})
}

func TestAnswersRefused(t *testing.T) {
	every := func(step unit.Time, n int) (out []unit.Time) {
		for i := range n {
			out = append(out, unit.Time(i+1)*step)
		}
		return out
	}
	due := func(ce []unit.Time, r Receiver) []unit.Time {
		return answers(ce, r, func() unit.Time { return 0 })
	}
	for name, c := range map[string]struct {
		ce, cnp []unit.Time
		want    string
	}{
		"no marks":    {nil, every(us, 100), "no packet is marked congestion experienced"},
		"no CNPs":     {every(us, 100), nil, "100 packets arrived marked, and no CNP answers any"},
		"few":         {every(ms, 5), due(every(ms, 5), Receiver{us, 4 * us}), "5 marks without another"},
		"all marked":  {every(us, 9999), due(every(us, 9999), Receiver{us, 4 * us}), "0 marks without another"},
		"not its own": {every(ms, 100), every(3*ms+7*us, 30), "0 marks without another"},
		"of others":   {every(100*us, 100), append(every(3*us, 20), 50*ms, 52*ms), "100 of 100 marks"},
	} {
		a, err := Answering([]Marked{{Name: "x", CE: c.ce, CNP: c.cnp}}, Receiver{0, 4 * us}, 3)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	// If every mark has its CNP, the interval is undetermined, and the delay may exceed the time between two marks.
	ce := every(10*us, 100)
	a, err := Answering([]Marked{{Name: "x", CE: ce, CNP: due(ce, Receiver{25 * us, 0})}}, Receiver{}, 3)
	if err != nil || a.Why != "every mark has its CNP" || a.Delay.Median != 25*us || a.Interval.Values > 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

const ms = unit.Millisecond
