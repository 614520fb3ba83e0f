package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/unit"
)

// Followed traces a packet hop by hop, for each transmission of it and of its acknowledgements.
func Followed(w io.Writer, f *result.Followed) {
	ends := " (no such queue pair)"
	if f.From != "" {
		ends = ", " + f.From + " → " + f.To
	}
	fmt.Fprintf(w, "Packet %s: PSN %d of queue pair %d%s\n", f.Asked, f.PSN, f.QP, ends)
	if len(f.Copies) == 0 {
		fmt.Fprintln(w, "No NIC sent this packet.")
	}
	for i := range f.Copies {
		copied(w, &f.Copies[i])
	}
	if f.More > 0 {
		fmt.Fprintf(w, "\n%d further transmissions were not followed.\n", f.More)
	}
}

// copied prints one transmission.
func copied(w io.Writer, c *result.Copy) {
	again := ""
	if c.Again {
		again = ", retransmitted"
	}
	fmt.Fprintf(w, "\n%s%s, %s\n", c.Kind, again, size(int64(c.Bytes)))
	t := screen.Table{Indent: "  ", Columns: []screen.Column{{Head: "sent at"}, {Head: "port", Left: true},
		{Head: "queue"}, {Head: "wait"}, {Left: true, Rare: true}}}
	waited, marked, trimmed := int64(0), false, false
	for i, h := range c.Hops {
		found, wait := "", ""
		if i > 0 {
			found, wait = size(int64(h.Found)), dur(h.Left-h.Ready)
			waited += h.Left - h.Ready
		}
		t.Add(since(c, h.Left), h.Name, found, wait, notable(&h, marked, trimmed))
		marked, trimmed = marked || h.Marked, trimmed || h.Trimmed
	}
	t.Print(w)
	switch c.End {
	case "under way":
		fmt.Fprintln(w, "  In flight at the end of the run.")
	default:
		fmt.Fprintf(w, "  %s  %s at %s", since(c, c.EndAt), c.End, c.EndedAt)
		if len(c.Hops) > 0 {
			fmt.Fprintf(w, " after %s, %s in queues", dur(c.EndAt-c.Hops[0].Left), dur(waited))
		}
		fmt.Fprintln(w)
	}
}

// since formats a time of a packet: after the first millisecond of a run, relative to its transmission.
func since(c *result.Copy, at int64) string {
	if len(c.Hops) == 0 || at == c.Hops[0].Left || c.Hops[0].Left < int64(unit.Millisecond) {
		return dur(at)
	}
	return "+" + dur(at-c.Hops[0].Left)
}

// notable names the pause, mark or trim of a packet at a hop, each once.
func notable(h *result.Hop, marked, trimmed bool) (s string) {
	if h.Paused {
		s += ", priority paused"
	}
	if h.Marked && !marked {
		s += ", marked CE"
	}
	if h.Trimmed && !trimmed {
		s += ", trimmed"
	}
	return strings.TrimPrefix(s, ", ")
}
