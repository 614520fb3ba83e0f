package report

import (
	"fmt"
	"io"

	"railyard/internal/result"
	"railyard/unit"
)

// Followed tells what became of a packet, each time that it or an answer to it left a NIC.
func Followed(w io.Writer, f *result.Followed) {
	ends := ", which this run does not have"
	if f.From != "" {
		ends = ", " + f.From + " → " + f.To
	}
	fmt.Fprintf(w, "Packet %s: PSN %d of queue pair %d%s\n", f.Asked, f.PSN, f.QP, ends)
	if len(f.Copies) == 0 {
		fmt.Fprintln(w, "No such packet left a NIC in this run.")
	}
	for i := range f.Copies {
		copied(w, &f.Copies[i])
	}
	if f.More > 0 {
		fmt.Fprintf(w, "\nIt left %d times more, which were not followed.\n", f.More)
	}
}

// copied tells one of them.
func copied(w io.Writer, c *result.Copy) {
	again := ""
	if c.Again {
		again = ", sent again"
	}
	fmt.Fprintf(w, "\n%s%s, %s\n", c.Kind, again, unit.Bytes(c.Bytes))
	fmt.Fprintf(w, "  %12s  %-34s %12s %12s\n", "left at", "port", "found there", "waited")
	waited, marked, trimmed := int64(0), false, false
	for i, h := range c.Hops {
		found, wait := "", ""
		if i > 0 {
			found, wait = unit.Bytes(h.Found).String(), unit.Time(h.Left-h.Ready).String()
			waited += h.Left - h.Ready
		}
		fmt.Fprintf(w, "  %12s  %-34s %12s %12s%s\n", since(c, h.Left), h.Name, found, wait,
			notable(&h, marked, trimmed))
		marked, trimmed = marked || h.Marked, trimmed || h.Trimmed
	}
	switch c.End {
	case "under way":
		fmt.Fprintln(w, "  The run ended while it was under way.")
	default:
		fmt.Fprintf(w, "  %12s  %s at %s", since(c, c.EndAt), c.End, c.EndedAt)
		if len(c.Hops) > 0 {
			fmt.Fprintf(w, ", %v after it left, %v of them in queues", unit.Time(c.EndAt-c.Hops[0].Left),
				unit.Time(waited))
		}
		fmt.Fprintln(w)
	}
}

// since is a moment of a packet's way: late in a run, what has passed since it left.
func since(c *result.Copy, at int64) string {
	if len(c.Hops) == 0 || at == c.Hops[0].Left || c.Hops[0].Left < int64(unit.Millisecond) {
		return unit.Time(at).String()
	}
	return "+" + unit.Time(at-c.Hops[0].Left).String()
}

// notable says what happened to a packet at a hop that had not happened before.
func notable(h *result.Hop, marked, trimmed bool) (s string) {
	if h.Paused {
		s += "  its class was paused"
	}
	if h.Marked && !marked {
		s += "  marked"
	}
	if h.Trimmed && !trimmed {
		s += "  trimmed"
	}
	return s
}
