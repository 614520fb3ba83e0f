package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/unit"
)

// maxNamed is the maximum number of failed components that a report names.
const maxNamed = 4

// outcome prints why a job failed, what it had finished, and what the failure costs.
func outcome(w io.Writer, o *result.Outcome, gpus int) {
	if o == nil {
		return
	}
	say := func(format string, args ...any) { Wrap(w, "", fmt.Sprintf(format, args...)) }
	say("%s", o.Why)
	if n := len(o.Broken); n > 0 {
		named := o.Broken[:min(n, maxNamed)]
		more := ""
		if n > maxNamed {
			more = fmt.Sprintf(" and %d more in summary.json", n-maxNamed)
		}
		say("Failed at that time: %s%s", strings.Join(named, "; "), more)
	}
	d := &o.Done
	say("Finished: %s of %s operations, %s of %s over the network, %s of %s collectives; last operation at %s",
		count(int64(d.Operations)), count(int64(d.OfOperations)), size(d.Bytes), size(d.OfBytes),
		count(int64(d.Collectives)), count(int64(d.OfColls)), at(o.Last))
	say("%s hang until the timeout of the collectives (%s) ends the job at %s",
		unit.Plural(o.Waited, "GPU"), dur(o.Limit), at(o.Job))
	if o.LostMost > 0 {
		say("Lost work: this step and the training since the last checkpoint, mean %s, max %s", dur(o.LostMean),
			dur(o.LostMost))
	}
	if o.Cost > 0 {
		say("Restart %s; mean cost %s, %s GPU hours", dur(o.Restart), dur(o.Cost),
			unit.Digits(unit.Time(o.Cost).Seconds()/3600*float64(gpus)))
	}
}

// moves prints how many queue pairs changed paths when routes changed.
func moves(w io.Writer, all []result.Move) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := screen.Table{Columns: []screen.Column{{Head: "Route change at"}, {Head: "queue pairs"}, {Head: "rerouted"},
		{Head: "off a working path"}}}
	for _, m := range all[:min(len(all), maxNamed)] {
		t.Add(at(m.At), count(int64(m.Of)), count(int64(m.Moved)), count(int64(m.Needless)))
	}
	t.Print(w)
	if more := len(all) - maxNamed; more > 0 {
		fmt.Fprintf(w, "%d more in summary.json\n", more)
	}
}
