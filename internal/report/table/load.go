package table

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"railyard/internal/report"
	"railyard/internal/scenario"
	"railyard/internal/study/load"
	"railyard/unit"
)

func Loads(w io.Writer, plan *scenario.Plan, curves []load.Curve) {
	fmt.Fprintf(w, "%s: %s, messages by chance\n\n", plan.Name, unit.Plural(plan.Graph.TotalGPUs(), "GPU"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "lb\toffered\tdelivered\tmean\tp99\tpauses\t\t")
	for _, c := range curves {
		for _, p := range c.Points {
			note := ""
			if p.Saturated {
				note = "saturated"
			}
			fmt.Fprintf(t, "%s\t%.1f %%\t%.1f %%\t%v\t%v\t%d\t%s\t\n", p.LB, 100*p.Offered, 100*p.Delivered,
				unit.Time(p.Mean), unit.Time(p.P99), p.Pauses, note)
		}
	}
	t.Flush()
	var most []string
	for _, c := range curves {
		most = append(most, fmt.Sprintf("%s %.1f %%", c.LB, 100*c.Most))
	}
	report.Labelled(w, "\nmost that was delivered: ", strings.Join(most, ", "))
}
