package report

import (
	"fmt"
	"io"
	"slices"

	"railyard/internal/result"
	"railyard/unit"
)

// maxStalls is the maximum number of stalls that a report shows.
const maxStalls = 4

// storage prints what storage servers read and wrote, and the longest stalls.
func storage(w io.Writer, s *result.Summary) {
	x := s.Storage
	if x == nil {
		return
	}
	how := "over the GPUs' fabric"
	if x.Network != "shared" {
		how = "over a separate network"
	}
	line := fmt.Sprintf("Storage: %s %s, %s read, %s written", unit.Plural(x.Servers, "server"), how, size(x.Read),
		size(x.Written))
	if x.Busy > 0 {
		line += fmt.Sprintf("; busiest media: %s, %s of the time", x.Busiest, percent(x.Busy))
	}
	fmt.Fprintln(w)
	Wrap(w, "", line)
	if x.Write > 0 {
		Wrap(w, "", background(x))
	}
	all := slices.Clone(s.Stalls)
	slices.SortStableFunc(all, func(a, b result.Stall) int { return int(b.Waited/1000 - a.Waited/1000) })
	for _, l := range all[:min(len(all), maxStalls)] {
		Labelled(w, "  ", StallWords(&l))
	}
	if more := len(all) - maxStalls; more > 0 {
		fmt.Fprintf(w, "  %s more in summary.json\n", unit.Plural(more, "stall"))
	}
}

// background describes checkpoints that are written while training goes on.
func background(x *result.Storage) string {
	line := "Checkpoints: written in the background in " + dur(x.Write)
	if x.After > 0 {
		line += fmt.Sprintf(", the last one until %s after the last step, which does not count", dur(x.After))
	}
	if x.Every > 0 && x.Write > x.Every {
		line += fmt.Sprintf("; that is longer than the steps from one checkpoint to the next (%s), so later ones wait", dur(x.Every))
	}
	return line
}

// StallWords describes a stall: the rank, the awaited data, the duration, and its parts.
func StallWords(l *result.Stall) string {
	job := ""
	if l.Job != "" {
		job = " of " + l.Job
	}
	what, since := "its batch", "requested"
	if l.Kind == "checkpoint" {
		what, since = "its checkpoint", "started"
	}
	line := fmt.Sprintf("step %d%s: %s stalled, %s longest, %s, for %s of %s, %s at %s, complete at %s",
		l.Step, job, unit.Plural(l.Ranks, "GPU"), l.Rank, dur(l.Waited), what, size(l.Bytes), since,
		at(l.Asked), at(l.Came))
	if total := l.Media + l.Network; total > 0 {
		line += fmt.Sprintf("; last part from %s: %s media, %s network", l.From,
			percent(float64(l.Media)/float64(total)), percent(float64(l.Network)/float64(total)))
	}
	return line
}
