package main

import (
	"fmt"
	"io"

	"railyard/internal/perftest"
	"railyard/roce"
	"railyard/unit"
	"railyard/verbs"
)

// maxExplained is how many queue pairs the table of a set-up shows.
const maxExplained = 8

// stepIndent is the column in which the words of a step begin.
const stepIndent = 37

// explainSetup tells how a session's queue pairs came about: the calls of one in their order, and what each
// end then knows of the other.
func explainSetup(w io.Writer, s *perftest.Setup) {
	fmt.Fprintf(w, "How a queue pair comes about (these calls, on this machine, just now)\n\n")
	for i, step := range s.Steps {
		fmt.Fprintf(w, "%3d  %-18s %8.1f us", i+1, step.Call, step.Micros)
		column := stepIndent
		for k, say := range step.Says {
			switch sep := ", "; {
			case k == 0:
				fmt.Fprintf(w, "  %s", say)
				column += len(say)
			case column+len(sep)+len(say) > 98:
				fmt.Fprintf(w, ",\n%*s%s", stepIndent, "", say)
				column = stepIndent + len(say)
			default:
				fmt.Fprintf(w, "%s%s", sep, say)
				column += len(sep) + len(say)
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nWhat each end knows of the other: here is %v, there is %v\n\n", s.Here[0].Addr, s.There[0].Addr)
	fmt.Fprintf(w, "%8s  %10s %10s %18s %12s %12s\n", "", "QPN", "PSN", "VA", "rkey", "bytes")
	for i := range min(len(s.Here), len(s.There), maxExplained) {
		knows(w, "here", &s.There[i])
		knows(w, "there", &s.Here[i])
	}
	if n := len(s.Here) - maxExplained; n > 0 {
		fmt.Fprintf(w, "%10s%s more (--json has all)\n", "", unit.Plural(n, "pair"))
	}
	fmt.Fprintf(w, "\nFrom here on memory moves by UDP port %d; TCP carries the goodbye.\n\n", roce.Port)
}

// knows is what an end knows of its peer's queue pair.
func knows(w io.Writer, end string, of *verbs.Info) {
	fmt.Fprintf(w, "%8s  %#10x %10d %#18x %#12x %12d\n", end, of.QPN, of.PSN, of.VA, of.RKey, of.Length)
}
