package main

import (
	"fmt"
	"io"
	"strings"
)

// report is the output of --json.
type report struct {
	Seed    uint64   `json:"seed"`
	Killed  int      `json:"killed"`
	Count   int      `json:"count"`
	Rate    float64  `json:"rate_percent"`
	Skipped left     `json:"skipped"`
	Mutants []result `json:"mutants"`
}

// sum counts the mutants that were killed.
func (r *report) sum() {
	r.Count, r.Killed = len(r.Mutants), 0
	for _, m := range r.Mutants {
		if m.Killed {
			r.Killed++
		}
	}
	if r.Count > 0 {
		r.Rate = 100 * float64(r.Killed) / float64(r.Count)
	}
}

// line is a result in one line.
func (r *result) line(of int) string {
	end := "SURVIVED"
	switch {
	case r.Killed:
		end = "killed by " + r.By
		if r.How != "fails" {
			end += ", which " + r.How
		}
	case r.Reached == 0:
		end += ", no test reaches it"
	case r.Unrun > 0:
		end += fmt.Sprintf(" %d of %d that reach it, no time for the others", r.Reached-r.Unrun, r.Reached)
	default:
		end += fmt.Sprintf(" all %d that reach it", r.Reached)
	}
	return fmt.Sprintf("%3d/%d %s %s: %s: %s (%.1f s)", r.Number, of, r.Place, r.Func, r.What, end, r.CPU)
}

// print lists the survivors and ends with the kill rate.
func (r *report) print(out io.Writer) {
	for _, m := range r.Mutants {
		if !m.Killed {
			fmt.Fprintf(out, "\n%s\n%s\n", m.line(r.Count), indent(m.Diff))
		}
	}
	fmt.Fprintf(out, "\nskipped: %d that do not compile, %d equivalent, %d that cannot be switched\n",
		r.Skipped.Uncompilable, r.Skipped.Equivalent, r.Skipped.Unswitchable)
	fmt.Fprintf(out, "%d of %d mutants killed (%.1f %%), seed %d\n", r.Killed, r.Count, r.Rate, r.Seed)
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
