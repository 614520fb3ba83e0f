package table

import (
	"fmt"
	"io"

	"railyard/internal/planner"
	"railyard/internal/report/screen"
	"railyard/unit"
)

// Traffic prints the bytes of each sender, by kind of parallelism and by distance.
func Traffic(w io.Writer, name string, t *planner.Traffic) {
	total := float64(max(t.Total(), 1))
	silent := fmt.Sprintf("%.2f %%", 100*t.Silent())
	if silent == "100.00 %" && len(t.Pairs) > 0 {
		silent = "more than 99.99 %"
	}
	screen.Painted(w, screen.Answer, "", fmt.Sprintf("%s: %s per step between %s; %s of the pairs exchange nothing", name,
		sent(t.Total()), unit.Plural(t.Ranks, "rank"), silent))
	tb := screen.Table{Columns: []screen.Column{{Head: "Parallelism"}, {Head: "sent"}, {Head: "share"}, {Head: "of pairs", Spare: true}}}
	for _, tier := range tiers {
		tb.Columns = append(tb.Columns, screen.Column{Head: tier, Rare: true})
	}
	for k, kind := range planner.KindNames {
		if t.Kinds[k] == 0 {
			continue
		}
		cells := []string{kind, sent(t.Kinds[k]), unit.ShowShare(float64(t.Kinds[k]) / total),
			unit.Digits(100*t.Carriers(k)) + " %"}
		for i := range tiers {
			cells = append(cells, sent(t.ByTier[i][k]))
		}
		tb.Add(cells...)
	}
	tb.Print(w)
}

// tiers are planner.TierNames as columns.
var tiers = [planner.Tiers]string{"in a host", "one switch", "over spines", "between rails"}

// sent is an amount of bytes for people, – for none.
func sent(b int64) string {
	if b == 0 {
		return "–"
	}
	return unit.Bytes(b).Show()
}
