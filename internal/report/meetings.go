package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// Meetings prints the first ports that several jobs used at the same time; rest is where the others are listed.
func Meetings(w io.Writer, all []result.Meeting, most int, rest string) {
	if len(all) == 0 || most == 0 {
		return
	}
	fmt.Fprintln(w, "\nContention between jobs")
	for i := range all[:min(len(all), most)] {
		m := &all[i]
		var of []string
		for _, j := range m.Jobs {
			of = append(of, j.Job+" "+size(j.Bytes))
		}
		Labelled(w, "  ", fmt.Sprintf("%s: shared for %s between %s and %s, %s of its rate: %s", m.Port,
			dur(m.Together), at(m.From), at(m.To), percent(m.Load), strings.Join(of, ", ")))
	}
	if more := len(all) - most; more > 0 {
		fmt.Fprintf(w, "  %s more %s\n", unit.Plural(more, "port"), rest)
	}
}
