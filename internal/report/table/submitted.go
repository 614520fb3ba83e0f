package table

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/report"
	"railyard/internal/slurm"
	"railyard/internal/submission"
	"railyard/unit"
)

// Submitted prints a batch script's job: the first ranks, and the environment of one of them. written is the file that
// has its scenario, if any.
func Submitted(w io.Writer, o *submission.Report, ranks, rank int, written string) {
	report.Wrap(w, "", fmt.Sprintf("%s: %s on %s of %d: %s", o.Name, unit.Plural(o.World, "process"),
		unit.Plural(len(o.Nodes), "node"), o.Of, slurm.Fold(o.Nodes)))
	report.Labelled(w, "  launch    ", fmt.Sprintf("%s  (%s)", strings.Join(append(slices.Clone(o.Launched),
		o.Program), " > "), o.At))
	switch {
	case o.Model != "":
		report.Labelled(w, "  training  ", o.Model)
		for _, l := range o.Lines {
			fmt.Fprintln(w, cut("            "+l, 100))
		}
	case o.Benchmark != "":
		report.Labelled(w, "  benchmark ", o.Benchmark)
	}
	submittedTable(w, o, ranks)
	submittedEnvironment(w, o, rank)
	if len(o.Notes) > 0 {
		fmt.Fprintln(w, "\nNotes")
	}
	for i, n := range o.Notes {
		if i == 24 {
			fmt.Fprintf(w, "  %d more: --json\n", len(o.Notes)-i)
			break
		}
		report.Wrap(w, "  ", n)
	}
	if len(o.Left) > 0 {
		report.Labelled(w, "\nOptions without effect here: ", report.Listed(o.Left, 12))
	}
	if written != "" && o.Scenario != "" {
		fmt.Fprintf(w, "\nScenario written to %s\n", written)
	}
}

// submittedTable lists rank, host, GPU, NIC, rail and port, for the requested number of ranks.
func submittedTable(w io.Writer, o *submission.Report, ranks int) {
	wide := 4
	for i := range o.Ranks {
		wide = max(wide, min(24, len(o.Ranks[i].Host)))
	}
	fmt.Fprintf(w, "\n%7s  %-*s %5s %4s  %-7s %4s  %s\n", "rank", wide, "host", "local", "GPU", "NIC", "rail",
		"switch port")
	for i := range o.Ranks {
		r := &o.Ranks[i]
		if i == ranks {
			fmt.Fprintf(w, "        %s more: --ranks %d\n", unit.Plural(len(o.Ranks)-i, "rank"), len(o.Ranks))
			break
		}
		gpu, rail := "-", "-"
		if r.GPU >= 0 {
			gpu = fmt.Sprint(r.GPU)
		}
		if r.Rail > 0 {
			rail = fmt.Sprint(r.Rail)
		}
		line := fmt.Sprintf("%7d  %-*s %5d %4s  %-7s %4s  %s", r.Rank, wide, r.Host, r.Local, gpu, r.NIC,
			rail,
			r.Port)
		fmt.Fprintln(w, strings.TrimRight(cut(line, 100), " "))
	}
}

// cut is a line's first n characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// submittedEnvironment prints one rank's environment, as an example for all.
func submittedEnvironment(w io.Writer, o *submission.Report, rank int) {
	r := &o.Ranks[rank]
	fmt.Fprintf(w, "\nEnvironment of rank %d", rank)
	count := map[string]int{}
	for k := range o.Ranks {
		for _, v := range o.Ranks[k].Environ {
			count[v]++
		}
	}
	same := 0
	for _, v := range r.Environ {
		if count[v] == len(o.Ranks) {
			same++
		}
	}
	fmt.Fprintf(w, " (%d of %d the same on all ranks)\n", same, len(r.Environ))
	for _, v := range r.Environ {
		fmt.Fprintln(w, cut("  "+v, 100))
	}
}
