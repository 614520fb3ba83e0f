package table

import (
	"fmt"
	"io"

	"railyard/internal/report"
	"railyard/internal/study/layouts"
)

func Simulated(w io.Writer, sims []layouts.Simulated) {
	if len(sims) > 0 {
		fmt.Fprintln(w, "\nsimulated packet by packet, best first:")
	}
	for _, s := range sims {
		if s.Skipped != "" {
			report.Labelled(w, "  not simulated: ", s.Layout+": "+s.Skipped)
			continue
		}
		report.Labelled(w, fmt.Sprintf("  %.4gs  MFU %.1f%%  ", s.Seconds, 100*s.MFU), s.Layout)
		report.Labelled(w, "           ",
			fmt.Sprintf("estimated %.4gs (%+.1f%%); bubble %.3gs, exposed communication %.3gs; %.3g packets",
				s.Estimate, 100*(s.Estimate/s.Seconds-1), s.Bubble, s.Exposed, float64(s.Packets)))
		if s.Slice != "" {
			report.Labelled(w, "           ",
				fmt.Sprintf("a slice ran, %.4gs: %s; for what is left out the cost model adds %+.3gs", s.Ran,
					s.Slice, s.Added))
		}
	}
}
