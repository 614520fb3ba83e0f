package table

import (
	"fmt"
	"io"

	"railyard/internal/lab/load"
)

// MoveRow prints one line of the table, the first with its head.
func MoveRow(w io.Writer, i int, m *load.Move) {
	if i == 0 {
		fmt.Fprintf(w, "%-40s %9s %17s %17s %7s %9s %8s\n", "event", "moved", "path, Gbit/s", "arriving, Gbit/s",
			"retrans", "longest", "verified")
		fmt.Fprintf(w, "%-40s %9s %17s %17s %7s %9s\n", "", "(ms)", "before   after", "before   after", "", "(ms)")
	}
	moved := "not"
	if m.Moved >= 0 {
		moved = fmt.Sprintf("%.0f", m.Moved)
	}
	fmt.Fprintf(w, "%-40s %9s %9.3f %7.3f %9.3f %7.3f %7d %9.1f %8v\n", m.Event, moved, m.Before, m.After,
		m.Arrived, m.Arrives, m.Again, m.Longest, m.Verified)
}

// VariantRow prints one line of the table, the first with its head.
func VariantRow(w io.Writer, i int, v *load.Variant) {
	if i == 0 {
		fmt.Fprintf(w, "%-32s %10s %12s %7s %7s %7s %7s %8s %8s %7s\n", "congestion control", "time", "busbw",
			"reduced", "marks", "CNPs", "retrans", "timeouts", "drops", "#wrong")
		fmt.Fprintf(w, "%-32s %10s %12s\n", "", "(ms)", "(GB/s)")
	}
	r := &v.Row
	fmt.Fprintf(w, "%-32s %10.1f %12.4f %7d %7d %7d %7d %8d %8d %7d\n", v.CC, r.TimeUS/1e3, r.BusBW,
		r.Stats.Cuts, v.Marked, r.Stats.CNPs, r.Stats.Retransmissions, r.Stats.Timeouts, v.Dropped, r.Wrong)
}
