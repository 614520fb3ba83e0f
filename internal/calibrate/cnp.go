package calibrate

import (
	"fmt"
	"slices"

	"railyard/unit"
)

// Marked is one direction of a queue pair at a receiving NIC's port. It has the arrival times of marked packets and
// the departure times of their CNPs, in order, since the capture began.
type Marked struct {
	Name    string
	CE, CNP []unit.Time
}

// Receiver is a NIC's reaction to marks: it answers a mark after a delay, and answers one per interval.
type Receiver struct{ Delay, Interval unit.Time }

// Answers is the measured reaction in captures.
type Answers struct {
	Was         Receiver
	Delay       Spread
	Interval    Spread
	Marks, CNPs int
	Openings    int // isolated marks, for which a CNP is due
	Unanswered  int // of these
	Samples     []Answer
	Why         string // reason why there is no interval; "": there is one

	FittedWas, FittedIs unit.Time // half of the delays differ by less than this
	HeldWas, HeldIs     unit.Time // errors of the held-out measurements
	Aside               int
}

// Answer is one mark and its CNP.
type Answer struct {
	Pair  int
	At    unit.Time
	Delay unit.Time
	Held  bool // kept aside
}

// Spread is a median with the quartiles, with the numbers of values and queue pairs.
type Spread struct {
	Median, Low, High unit.Time
	Values, Pairs     int
}

// Limits for usable captures.
const (
	latest  = unit.Millisecond // a CNP does not answer an older mark
	fewest  = 10               // marks with their CNPs
	binding = 5                // gaps between CNPs near the smallest
)

// Answering finds out how receivers answer marks. A queue pair's mark counts if no other mark precedes it within an
// interval. A CNP is then due, wherever intervals begin, and the next CNP answers the mark.
func Answering(pairs []Marked, was Receiver, aside int) (*Answers, error) {
	a := &Answers{Was: was}
	for i := range pairs {
		a.Marks += len(pairs[i].CE)
		a.CNPs += len(pairs[i].CNP)
	}
	switch {
	case a.Marks == 0:
		return nil, fmt.Errorf("no packet is marked congestion experienced: where several send to one NIC, its port sees marks and CNPs")
	case a.CNPs == 0:
		return nil, fmt.Errorf("%s arrived marked, and no CNP answers any: the capture is not of the receiving NIC, or the NIC sends none", unit.Plural(a.Marks, "packet"))
	}
	quiet := a.gaps(pairs)
	if a.Why == allAnswered {
		a.inTurn(pairs)
	} else {
		quiet = a.alone(pairs, quiet)
	}
	if a.Openings >= fewest && 2*a.Unanswered > a.Openings {
		return nil, fmt.Errorf("%d of %d marks %v behind any other of their queue pair have no CNP: the NIC counts its interval by address or port, or the capture lacks packets", a.Unanswered, a.Openings,
			quiet)
	}
	if n := len(a.Samples); n < fewest {
		return nil, fmt.Errorf("%s without another one %v before, with its CNP; at least %d are needed: a longer capture, or one with lighter congestion", unit.Plural(n, "mark"), quiet, fewest)
	}
	a.judge(aside)
	if a.Why != allAnswered && a.Delay.High > quiet {
		return nil, fmt.Errorf("a CNP comes %v after its mark, and marks are at most %v apart: the mark of each CNP is unknown", a.Delay.High, quiet)
	}
	return a, nil
}

// gaps finds the interval, and the silence before a mark that opens a new interval.
func (a *Answers) gaps(pairs []Marked) (quiet unit.Time) {
	var least []unit.Time // of each pair
	smallest, all := unit.Never, []unit.Time(nil)
	limited := false
	for _, p := range pairs {
		if len(p.CNP) < 2 {
			continue
		}
		own := unit.Never
		for i, at := range p.CNP[1:] {
			own = min(own, at-p.CNP[i])
			all = append(all, at-p.CNP[i])
		}
		limited = limited || len(p.CE) > len(p.CNP)
		least, smallest = append(least, own), min(smallest, own)
	}
	if len(all) == 0 {
		a.Why = "no queue pair has two CNPs"
		return a.Was.Interval * 11 / 10
	}
	bound := smallest + smallest/4
	over := func(t unit.Time) bool { return t > bound }
	all, least = slices.DeleteFunc(all, over), slices.DeleteFunc(least, over)
	switch {
	case !limited:
		a.Why = allAnswered
		return 0
	case len(all) < binding:
		a.Why = fmt.Sprintf("only %s between CNPs like the smallest, %v: no evidence that an interval ends there", unit.Plural(len(all), "gap"), smallest)
	default:
		a.Interval = spread(least, len(least))
	}
	return smallest + smallest/10
}

// allAnswered reports that there is no interval.
const allAnswered = "every mark has its CNP"

// inTurn processes marks and CNPs in order.
func (a *Answers) inTurn(pairs []Marked) {
	for i, p := range pairs {
		for k := range p.CE {
			if len(p.CE) == len(p.CNP) && p.CNP[k] >= p.CE[k] && p.CNP[k]-p.CE[k] <= latest {
				a.Openings++
				a.Samples = append(a.Samples, Answer{Pair: i, At: p.CE[k], Delay: p.CNP[k] - p.CE[k]})
			}
		}
	}
}

// alone selects isolated marks, the more isolated the better. If the NIC's delay exceeds the silence, the next CNP
// may answer another mark. It returns the silence before them.
func (a *Answers) alone(pairs []Marked, least unit.Time) (quiet unit.Time) {
	for quiet = max(latest, least); ; quiet = max(quiet/2, least) {
		a.Openings, a.Unanswered, a.Samples = 0, 0, nil
		for i := range pairs {
			a.openings(&pairs[i], i, quiet)
		}
		if len(a.Samples) >= 3*fewest || quiet == least {
			return quiet
		}
	}
}

// openings finds a pair's marks that open an interval, with their CNPs.
func (a *Answers) openings(p *Marked, pair int, quiet unit.Time) {
	last, next := -quiet, 0 // mark, and CNP
	for _, at := range p.CE {
		lone := at-last >= quiet && at >= quiet
		last = at
		if !lone {
			continue
		}
		for next < len(p.CNP) && p.CNP[next] < at {
			next++
		}
		a.Openings++
		if next == len(p.CNP) || p.CNP[next]-at > latest {
			a.Unanswered++
			continue
		}
		a.Samples = append(a.Samples, Answer{Pair: pair, At: at, Delay: p.CNP[next] - at})
	}
}

// judge fits the delay to the points that are not held out, and computes the error of both sets.
func (a *Answers) judge(aside int) {
	var fitted, held []unit.Time
	seen := map[int]bool{}
	for i := range a.Samples {
		s := &a.Samples[i]
		if s.Held = aside > 0 && (i+1)%aside == 0; s.Held {
			held = append(held, s.Delay)
			continue
		}
		fitted = append(fitted, s.Delay)
		seen[s.Pair] = true
	}
	a.Aside = len(held)
	a.Delay = spread(slices.Clone(fitted), len(seen))
	a.FittedWas, a.FittedIs = off(fitted, a.Was.Delay), off(fitted, a.Delay.Median)
	a.HeldWas, a.HeldIs = off(held, a.Was.Delay), off(held, a.Delay.Median)
}

// off returns the median difference between values and a given value.
func off(values []unit.Time, from unit.Time) unit.Time {
	var d []unit.Time
	for _, v := range values {
		d = append(d, max(v-from, from-v))
	}
	return spread(d, 0).Median
}

// spread sorts values.
func spread(v []unit.Time, pairs int) Spread {
	if len(v) == 0 {
		return Spread{}
	}
	slices.Sort(v)
	n := len(v)
	return Spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Low: v[(n-1)/4], High: v[n-1-(n-1)/4], Values: n, Pairs: pairs}
}
