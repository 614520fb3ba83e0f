package report

import (
	"fmt"
	"io"
	"slices"

	"railyard/internal/result"
	"railyard/unit"
)

// maxStalls is how many waits for storage a report of one screen shows.
const maxStalls = 4

// storage prints what storage servers did and who waited for them, the longest waits first.
func storage(w io.Writer, s *result.Summary) {
	x := s.Storage
	if x == nil {
		return
	}
	how := "over the GPUs' fabric"
	if x.Network != "shared" {
		how = "over a network of its own"
	}
	line := fmt.Sprintf("%s %s: %s read, %s written", unit.Plural(x.Servers, "server"), how, size(x.Read),
		size(x.Written))
	if x.Busy > 0 {
		line += fmt.Sprintf("; media of %s busy %.1f %% of the time", x.Busiest, 100*x.Busy)
	}
	fmt.Fprintln(w)
	Labelled(w, "Storage    ", line)
	all := slices.Clone(s.Stalls)
	slices.SortStableFunc(all, func(a, b result.Stall) int { return int(b.Waited/1000 - a.Waited/1000) })
	for _, l := range all[:min(len(all), maxStalls)] {
		Labelled(w, "           ", StallWords(&l))
	}
	if more := len(all) - maxStalls; more > 0 {
		fmt.Fprintf(w, "           and %s more, in summary.json\n", unit.Plural(more, "wait"))
	}
}

// StallWords says what a step waited for, and who was late.
func StallWords(l *result.Stall) string {
	job := ""
	if l.Job != "" {
		job = " of " + l.Job
	}
	what, since := "its batch", "asked for"
	if l.Kind == "checkpoint" {
		what, since = "its checkpoint", "begun"
	}
	line := fmt.Sprintf("step %d%s: %s waited, %s longest, %v, until %s of %s, %s at %v, was done with at %v",
		l.Step, job, unit.Plural(l.Ranks, "GPU"), l.Rank, unit.Time(l.Waited), what, size(l.Bytes), since,
		unit.Time(l.Asked), unit.Time(l.Came))
	if total := l.Media + l.Network; total > 0 {
		line += fmt.Sprintf("; the last of it was %s's, %.0f %% of that time in media, %.0f %% in the "+
			"network",
			l.From, 100*float64(l.Media)/float64(total), 100*float64(l.Network)/float64(total))
	}
	return line
}
