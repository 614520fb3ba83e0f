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

// outcome prints why a job failed, its progress, and the cost of the failure.
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

// Story prints a run's events in order and numbered, each at its first occurrence.
func Story(w io.Writer, all []result.Happened) {
	fmt.Fprintf(w, "Event times, first occurrence of each\n")
	for i, h := range all {
		line := h.What
		if h.Times > 1 {
			line += fmt.Sprintf(" (%s times, last at %s)", count(h.Times), at(h.Last))
		}
		Labelled(w, fmt.Sprintf("%4d %9s  ", i+1, at(h.At)), line)
	}
}

// Meetings prints the first ports that several jobs used at the same time. rest is the file that lists all of them.
func Meetings(w io.Writer, all []result.Meeting, most int, rest string) {
	if len(all) == 0 || most == 0 {
		return
	}
	t := screen.Table{Columns: []screen.Column{{Head: "Contention of jobs"}, {Head: "shared"}, {Head: "from"}, {Head: "until"},
		{Head: "load"}}}
	column := map[string]int{}
	shown := all[:min(len(all), most)]
	for _, m := range shown {
		for _, j := range m.Jobs {
			if column[j.Job] == 0 {
				column[j.Job] = len(t.Columns)
				t.Columns = append(t.Columns, screen.Column{Head: j.Job, Spare: true})
			}
		}
	}
	for _, m := range shown {
		row := make([]string, len(t.Columns))
		copy(row, []string{m.Port, dur(m.Together), at(m.From), at(m.To), percent(m.Load)})
		for _, j := range m.Jobs {
			row[column[j.Job]] = size(j.Bytes)
		}
		t.Add(row...)
	}
	fmt.Fprintln(w)
	t.Print(w)
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(w, "  %s more %s\n", unit.Plural(more, "port"), rest)
	}
	Wrap(w, "  ", "Bytes of jobs while they share are estimated: each message at a constant rate.")
}

// chains prints the circular pause dependencies of a run, and how they ended.
func chains(w io.Writer, c *result.Chains) {
	if c == nil {
		return
	}
	var ends []string
	for _, e := range []struct {
		n    int
		what string
	}{{c.Standing, "unresolved at the end"}, {c.Watchdog, "resolved by the PFC watchdog"},
		{c.Cable, "ended by a link failure"}, {c.ByItself, "resolved without intervention"}} {
		if e.n > 0 {
			ends = append(ends, fmt.Sprintf("%d %s", e.n, e.what))
		}
	}
	n := unit.Plural(c.Count, "circular pause dependency")
	Labelled(w, "PFC deadlock: ", n+", "+strings.Join(ends, ", "))
	if worst := c.Worst(); worst != nil {
		Wrap(w, "  ", worst.Told)
	}
}
