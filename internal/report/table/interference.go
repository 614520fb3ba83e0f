package table

import (
	"fmt"
	"io"
	"text/tabwriter"

	"railyard/internal/report"
	"railyard/internal/study/interference"
	"railyard/unit"
)

func Interference(w io.Writer, x *interference.Result, top int) {
	fmt.Fprintf(w, "%s: %s, together and each alone on the same GPUs\n\n", x.Name, unit.Plural(len(x.Jobs), "job"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "job\tGPUs\tstarts\talone\ttogether\tslowdown\tmessages: p50\tp99")
	for _, j := range x.Jobs {
		fmt.Fprintf(t, "%s\t%d\t%v\t%s\t%s\t%s\t%s\n", j.Job, j.GPUs, unit.Time(j.Start),
			interference.Took(j.Alone, j.Lost.Alone),
			interference.Took(j.Together, j.Lost.Together), j.Ratio(), j.Messages.Words())
	}
	t.Flush()
	if x.Outcome != nil {
		report.Labelled(w, "rank lost  ", x.Outcome.Why)
	}
	if len(x.Meetings) == 0 {
		fmt.Fprintln(w, "\nThey never had bytes under way at one port at a time.")
	}
	report.Meetings(w, x.Meetings, top, "which --top and --json show")
}
