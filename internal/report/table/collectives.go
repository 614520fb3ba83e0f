package table

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/report"
	"railyard/internal/report/screen"
	"railyard/internal/scenario"
	"railyard/internal/study/collectives"
	"railyard/unit"
)

// Collectives prints a collective by size and algorithm: as NCCL's model estimates and as simulated, the fastest first
// in the answer.
func Collectives(w io.Writer, kind, groups string, plan *scenario.Plan, rows []collectives.Row, untuned error) {
	screen.Painted(w, screen.Answer, "", collectiveAnswer(kind, rows))
	over := fmt.Sprintf("%s on %s", unit.Plural(plan.Graph.TotalGPUs(), "GPU"), unit.Plural(len(plan.Graph.Hosts), "host"))
	if groups != "all" {
		over += ", groups: " + groups
	}
	fmt.Fprintln(w, over)
	collectiveErrors(w, rows)
	t := screen.Table{Columns: []screen.Column{{Head: "Size"}, {Head: "source", Left: true}, {Head: "algorithm", Left: true},
		{Head: "protocol", Left: true, Rare: true}, {Head: "time"}, {Head: "busbw, GB/s"}, {Head: "ECN marks", Rare: true, Spare: true},
		{Head: "queue peak", Rare: true, Spare: true}}}
	var skipped []string
	for _, r := range rows {
		size := unit.Bytes(r.Bytes).ShowSet()
		if len(r.Model) > 0 {
			x := r.Model[0]
			t.Add(size, "NCCL model", x.Algorithm, x.Protocol, took(x.Micros/1e6), unit.Digits(x.BusBW))
			size = ""
		}
		for _, x := range r.Runs {
			if x.Skipped != "" {
				skipped = append(skipped, fmt.Sprintf("%s, %s: %s", unit.Bytes(r.Bytes).ShowSet(), x.Algorithm, x.Skipped))
				continue
			}
			protocol := x.Protocol
			if protocol == "none" {
				protocol = "–"
			}
			t.Add(size, "simulated", x.Algorithm, protocol, took(x.Micros/1e6), unit.Digits(x.BusBW),
				unit.ShowCount(x.Marks), unit.Bytes(x.QueuePeak).Show())
			size = ""
		}
	}
	t.Print(w)
	if len(rows) > 0 && rows[0].Model != nil && rows[0].Runs != nil {
		report.Wrap(w, "", "Protocol: of LL, LL128 and Simple the one that NCCL's model finds fastest for the algorithm and size, or for the size where NCCL does not have the algorithm; others are not simulated")
	}
	if x := fastest(rows); x != nil {
		size, channels := unit.Bytes(rows[len(rows)-1].Bytes), ""
		if x.Channels > 0 {
			channels = fmt.Sprintf(", channels: %d", x.Channels)
		}
		report.Labelled(w, "note: ", fmt.Sprintf("railyard run has the time of %s at %s with collective: {kind: %s, bytes: %s, groups: %s, algorithm: %[1]s, protocol: %[6]s%[7]s}; without protocol it simulates bare transfers",
			x.Algorithm, size.ShowSet(), kind, size, groups, x.Protocol, channels))
	}
	if untuned != nil {
		report.Labelled(w, "not modelled: ", untuned.Error())
	}
	for _, s := range skipped {
		report.Labelled(w, "not simulated: ", s)
	}
}

// collectiveErrors prints the error to expect of each algorithm that was simulated as flows.
func collectiveErrors(w io.Writer, rows []collectives.Row) {
	var errors []string
	for _, r := range rows {
		for _, x := range r.Runs {
			if x.Expected == nil {
				continue
			}
			if say := x.Algorithm + " " + report.ErrorOf(x.Expected); !slices.Contains(errors, say) {
				errors = append(errors, say)
			}
		}
	}
	if errors != nil {
		screen.Painted(w, screen.Warning, "", fmt.Sprintf("Simulated as flows: %s. Smaller differences may not be real.", strings.Join(errors, "; ")))
	}
}

// fastest returns the fastest simulated run of the last size; nil: there is none.
func fastest(rows []collectives.Row) (best *collectives.Run) {
	if len(rows) == 0 {
		return nil
	}
	runs := rows[len(rows)-1].Runs
	for i := range runs {
		if x := &runs[i]; x.Skipped == "" && (best == nil || x.Micros < best.Micros) {
			best = x
		}
	}
	return best
}

// collectiveAnswer names the fastest algorithm at the smallest and the largest size: simulated, or else by the model.
func collectiveAnswer(kind string, rows []collectives.Row) string {
	best := func(r *collectives.Row) string {
		name, least, by := "", 0.0, ""
		for _, x := range r.Runs {
			if x.Skipped == "" && (name == "" || x.Micros < least) {
				name, least = x.Algorithm, x.Micros
			}
		}
		if name == "" && len(r.Model) > 0 {
			name, least, by = r.Model[0].Algorithm, r.Model[0].Micros, ", NCCL model"
		}
		if name == "" {
			return ""
		}
		return fmt.Sprintf("%s at %s (%s%s)", name, unit.Bytes(r.Bytes).ShowSet(), took(least/1e6), by)
	}
	if len(rows) == 0 || best(&rows[0]) == "" {
		return kind + ": nothing to compare"
	}
	say := kind + ": fastest simulated " + best(&rows[0])
	if !slices.ContainsFunc(rows[0].Runs, func(r collectives.Run) bool { return r.Skipped == "" }) {
		say = kind + ": not simulated, " + best(&rows[0])
	}
	if last := best(&rows[len(rows)-1]); len(rows) > 1 && last != "" {
		say += ", " + last
	}
	return say
}
