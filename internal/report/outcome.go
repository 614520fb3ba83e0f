package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// maxNamed is how many broken things a report of one screen names.
const maxNamed = 4

// outcome says how a job ended that did not finish.
func outcome(w io.Writer, o *result.Outcome, gpus int) {
	if o == nil {
		return
	}
	fmt.Fprintln(w)
	Labelled(w, "Outcome    ", fmt.Sprintf("%s at %v: %s", strings.ToUpper(o.Ended), unit.Time(o.At), o.Why))
	say := func(format string, args ...any) { Labelled(w, "           ", fmt.Sprintf(format, args...)) }
	if n := len(o.Broken); n > 0 {
		named := o.Broken[:min(n, maxNamed)]
		more := ""
		if n > maxNamed {
			more = fmt.Sprintf(" and %d more, in summary.json", n-maxNamed)
		}
		say("broken then: %s%s", strings.Join(named, "; "), more)
	}
	d := &o.Done
	say("finished: %s of %s operations, %s of %s over the network, %s of %s collectives; the last at %v",
		count(int64(d.Operations)), count(int64(d.OfOperations)), size(d.Bytes), size(d.OfBytes),
		count(int64(d.Collectives)), count(int64(d.OfColls)), unit.Time(o.Last))
	say("%s with work left hang until the collectives' time-out (%v) ends the job, at %v",
		unit.Plural(o.Waited, "GPU"), unit.Time(o.Limit), unit.Time(o.Job))
	if o.LostMost > 0 {
		say("lost with it: this step, and what was trained since the last checkpoint: up to %v, %v in the "+
			"mean", unit.Time(o.LostMost), unit.Time(o.LostMean))
	}
	if o.Cost > 0 {
		say("back at work %v later: it costs %v in the mean, %.4g GPU hours", unit.Time(o.Restart),
			unit.Time(o.Cost), unit.Time(o.Cost).Seconds()/3600*float64(gpus))
	}
}

// moves says how many queue pairs took other ways when routes changed.
func moves(w io.Writer, all []result.Move) {
	for i, m := range all[:min(len(all), maxNamed)] {
		label := "           "
		if i == 0 {
			label = "Ways       "
		}
		Labelled(w, label, fmt.Sprintf("at %v %d of %s took another, %d of them off one that works",
			unit.Time(m.At), m.Moved, unit.Plural(m.Of, "queue pair"), m.Needless))
	}
	if more := len(all) - maxNamed; more > 0 {
		fmt.Fprintf(w, "           and %d more changes of routes, in summary.json\n", more)
	}
}
