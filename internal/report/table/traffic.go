package table

import (
	"fmt"
	"io"
	"text/tabwriter"

	"railyard/internal/planner"
	"railyard/internal/report"
	"railyard/unit"
)

// Traffic shows who sends how much, by kind of parallelism and by distance.
func Traffic(w io.Writer, name string, t *planner.Traffic) {
	total := float64(max(t.Total(), 1))
	silent := fmt.Sprintf("%.2f %%", 100*t.Silent())
	if silent == "100.00 %" && len(t.Pairs) > 0 {
		silent = "more than 99.99 %"
	}
	report.Wrap(w, "", fmt.Sprintf("%s: %s, %s in a step; %s of the pairs send nothing", name,
		unit.Plural(t.Ranks, "rank"), gigabytes(t.Total()), silent))
	fmt.Fprintln(w)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "parallel\tbytes\tshare\tof pairs\t")
	for _, tier := range planner.TierNames {
		fmt.Fprint(tw, tier+"\t")
	}
	fmt.Fprintln(tw)
	for k, kind := range planner.KindNames {
		if t.Kinds[k] == 0 {
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%.2f %%\t%.3f %%\t", kind, gigabytes(t.Kinds[k]),
			100*float64(t.Kinds[k])/total, 100*t.Carriers(k))
		for i := range planner.TierNames {
			fmt.Fprintf(tw, "%s\t", gigabytes(t.ByTier[i][k]))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

func gigabytes(b int64) string {
	switch {
	case b == 0:
		return "-"
	case b >= 1e13:
		return fmt.Sprintf("%.4g TB", float64(b)/1e12)
	}
	return fmt.Sprintf("%.4g GB", float64(b)/1e9)
}
