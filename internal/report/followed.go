package report

import (
	"fmt"
	"io"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/unit"
)

// Followed describes a packet hop by hop, for each transmission of it and of its acknowledgements.
func Followed(w io.Writer, f *result.Followed) {
	ends := " (no such queue pair)"
	if f.From != "" {
		ends = ", " + f.From + " → " + f.To
	}
	fmt.Fprintf(w, "Packet %s: PSN %d of queue pair %d%s\n", f.Asked, f.PSN, f.QP, ends)
	if text := NotFollowed(f); text != "" {
		fmt.Fprintln(w, text)
	}
	times := map[string][]int64{} // departures of equal copies
	for i := range f.Copies {
		if c := &f.Copies[i]; len(c.Hops) > 0 {
			times[fate(c)] = append(times[fate(c)], c.Hops[0].Left)
		}
	}
	for i := range f.Copies {
		c := &f.Copies[i]
		if at := times[fate(c)]; len(c.Hops) == 0 || c.Hops[0].Left == at[0] {
			copied(w, c, at)
		}
	}
	if f.More > 0 {
		fmt.Fprintf(w, "\n%d further transmissions were not followed.\n", f.More)
	}
}

// NotFollowed returns the reason of a trace without a packet; "" if there is one.
func NotFollowed(f *result.Followed) string {
	switch {
	case len(f.Copies) > 0:
		return ""
	case strings.Contains(f.Asked, "/longest-wait"):
		return "No packet of it arrived."
	case strings.Contains(f.Asked, "/marked"):
		return "No marked packet of it arrived."
	case strings.Contains(f.Asked, "/paused"):
		return "No packet of it reached a port with its class paused."
	}
	return "No NIC sent this packet."
}

// fate returns what is common to transmissions that differ only in their times, queues and paths.
func fate(c *result.Copy) string {
	marked, trimmed, dropped := false, false, ""
	for _, h := range c.Hops {
		marked, trimmed = marked || h.Marked, trimmed || h.Trimmed
	}
	if c.End == "dropped" {
		dropped = c.EndedAt
	}
	return fmt.Sprint(c.Kind, c.Again, c.Bytes, c.End, dropped, marked, trimmed)
}

// copied prints one transmission, the first of those with its outcome, which left at times.
func copied(w io.Writer, c *result.Copy, times []int64) {
	fmt.Fprintf(w, "\n%s", c.Kind)
	if c.Again {
		fmt.Fprint(w, ", retransmitted")
	}
	fmt.Fprintf(w, ", %s", size(int64(c.Bytes)))
	if n := len(times); n > 1 {
		fmt.Fprintf(w, " × %d, the last sent at %s; the first:", n, dur(times[n-1]))
	}
	fmt.Fprintln(w)
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
