package table

import (
	"fmt"
	"io"
	"text/tabwriter"

	"railyard/internal/dcbx"
	"railyard/internal/swconf"
	"railyard/roce"
	"railyard/unit"
)

// DCBX prints a line per cable that differs from those before it.
func DCBX(w io.Writer, results []*dcbx.Result, all bool) {
	type kind struct {
		version    dcbx.Version
		a, b       uint8
		wa, wb     string
		problems   int
		sysA, sysB roce.MAC // only the kind byte counts
	}
	count := map[kind]int{}
	kindOf := func(r *dcbx.Result) kind {
		return kind{r.Version, r.OperA, r.OperB, r.WhyA, r.WhyB, len(r.Problems), roce.MAC{1: r.A.MAC[1]},
			roce.MAC{1: r.B.MAC[1]}}
	}
	for _, r := range results {
		count[kindOf(r)]++
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "end\tDCBX\tconfigured\tin operation\tbecause")
	for _, r := range results {
		k := kindOf(r)
		n := count[k]
		if n == 0 {
			continue
		}
		if !all {
			count[k] = 0
		}
		for i, s := range []struct {
			st   dcbx.Station
			oper uint8
			why  string
		}{{r.A, r.OperA, r.WhyA}, {r.B, r.OperB, r.WhyB}} {
			will := ""
			if s.st.Willing {
				will = " willing"
			}
			version := r.Version.String()
			if i > 0 {
				version = ""
			}
			fmt.Fprintf(t, "%s\t%s\t%s %s%s\t%s\t%s\n", s.st.Name, version, s.st.Mode,
				swconf.Priorities(s.st.Enable), will, swconf.Priorities(s.oper), s.why)
		}
		for _, p := range r.Problems {
			fmt.Fprintf(t, "  problem: %s\n", p)
		}
		if n > 1 && !all {
			fmt.Fprintf(t, "  and %s equivalent\n", unit.Plural(n-1, "cable"))
		}
	}
	t.Flush()
}
