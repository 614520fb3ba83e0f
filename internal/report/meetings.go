package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// Meetings prints the ports at which jobs met, the first few, and where the rest is told.
func Meetings(w io.Writer, all []result.Meeting, most int, rest string) {
	if len(all) == 0 || most == 0 {
		return
	}
	fmt.Fprintln(w, "\nWhere jobs met")
	for i := range all[:min(len(all), most)] {
		m := &all[i]
		var of []string
		for _, j := range m.Jobs {
			of = append(of, fmt.Sprintf("%s %v", j.Job, size(j.Bytes)))
		}
		Wrap(w, "  ", fmt.Sprintf("%s: %v together, from %v to %v, %.0f %% of its rate: %s", m.Port,
			unit.Time(m.Together), unit.Time(m.From), unit.Time(m.To), 100*m.Load, strings.Join(of, ", ")))
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(w, "  and at %s more, %s\n", unit.Plural(more, "port"), rest)
	}
}
