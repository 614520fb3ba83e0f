package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/report/screen"
	"railyard/internal/result"
	"railyard/unit"
)

// network prints links, the signals of congestion, losses, and the actions of congestion control.
func network(w io.Writer, s *result.Summary) {
	l := s.Links
	fmt.Fprintln(w)
	t := screen.Table{Columns: []screen.Column{{Head: "Link"}, {Head: "utilization"}, {Head: "queue peak", Rare: approximate(s)},
		{Head: "ECN marks", Rare: true}, {Head: "paused", Rare: true}}}
	for _, h := range l.Hottest {
		paused := unit.NotApplicable
		if h.Paused > 0 {
			paused = dur(h.Paused)
		}
		t.Add(h.Name, percent(h.Utilisation), size(h.QueuePeak), count(h.Marks), paused)
	}
	if t.Rows() > 0 {
		t.Print(w)
	}
	all := fmt.Sprintf("All links: mean %s, max %s", percent(l.Mean), percent(l.Max))
	if l.Uplinks > 0 {
		all += fmt.Sprintf("; uplinks %s, %d of %d idle", span(l.UplinkMin, l.UplinkMax), l.UplinkIdle, l.Uplinks)
	}
	screen.Painted(w, screen.Baseline, "", all)
	Wrap(w, "", Signals(s))
	pauseRoots(w, s.PauseRoots)
	chains(w, s.Deadlock)
	dropped(w, s)
	scheduled(w, s.Scheduled)
	control(w, s.Control)
	hosts(w, s)
}

// hosts prints the servers' costs of a transport in software; nothing for RDMA.
func hosts(w io.Writer, s *result.Summary) {
	if s.CoreTime() == 0 {
		return
	}
	calls, interrupts := int64(0), int64(0)
	for i := range s.Control {
		calls += s.Control[i].Counted("system_calls")
		interrupts += s.Control[i].Counted("interrupts")
	}
	Wrap(w, "", fmt.Sprintf("Hosts: %s of core time, %.3g copies per byte, %s, %s", dur(s.CoreTime()), s.Copies(),
		many(calls, "system call"), many(interrupts, "interrupt")))
}

// span is a range of shares: 2.0–13.7 %.
func span(a, b float64) string {
	if a == b {
		return percent(b)
	}
	return strings.TrimSuffix(percent(a), " %") + "–" + percent(b)
}

// Signals lists drops, marks, pauses and retransmissions, and in one sentence those that did not occur.
func Signals(s *result.Summary) string {
	var met, none []string
	drops := "drops"
	if refused(s) > 0 {
		drops = "drops by switches"
	}
	for _, x := range []struct {
		n       int64
		one     string
		more    string
		missing string // name in the list of zeros; "": not listed
	}{
		{s.ECNMarks, "ECN mark", "", "ECN marks"},
		{s.CNPs, "CNP", "", ""},
		{s.PFCPauses, "PFC pause", " (" + dur(s.PFCPause) + ", summed over ports)", "PFC pauses"},
		{s.Trims, "trimmed packet", " (" + size(s.TrimmedBytes) + " of payload)", ""},
		{s.Drops, "drop", "", drops},
		{refused(s), "drop", " by NICs with full reorder memory", ""},
		{s.Retransmissions, "retransmission", "", "retransmissions"},
		{s.OutOfOrder, "packet", " out of order", "reordering"},
		{s.Naks, "NAK", "", ""},
		{s.Timeouts, "timeout", "", ""},
		{s.EarlyTimeouts, "recovery timeout", " before the ACK timeout", ""},
		{s.FailedQPs, "failed queue pair", "", ""},
	} {
		switch {
		case x.n > 0:
			met = append(met, many(x.n, x.one)+x.more)
		case x.missing != "":
			none = append(none, x.missing)
		}
	}
	text := strings.Join(met, ", ")
	if text != "" {
		text += ". "
	}
	if approximate(s) {
		return text + "Queues, ECN marks, PFC pauses, drops and retransmissions are not simulated."
	}
	if len(none) > 0 {
		text += "No " + joined(none, "or") + "."
	}
	if s.Reorder != nil {
		text += " " + reorderMemory(s.Reorder)
	}
	return text
}

// refused returns how many packets NICs dropped because their reorder memory was full.
func refused(s *result.Summary) int64 {
	if s.Reorder == nil {
		return 0
	}
	return s.Reorder.Refused
}

// reorderMemory describes the use of the NICs' memory for out-of-order packets.
func reorderMemory(m *result.ReorderMemory) string {
	text := fmt.Sprintf("NIC reorder memory: peak %s", size(m.Peak))
	if m.Limit > 0 {
		text += " of " + size(m.Limit)
	}
	text += fmt.Sprintf(" (%s), %s", m.NIC, unit.Plural(m.Packets, "packet"))
	if m.Entries > 0 {
		text += " of " + count(int64(m.Entries))
	}
	if m.Full > 0 {
		text += fmt.Sprintf("; full at %s", unit.Plural(m.Full, "NIC"))
	}
	return text + "."
}

// dropped lists the reasons of packet losses, unless all were full buffers.
func dropped(w io.Writer, s *result.Summary) {
	var parts []string
	for _, d := range []struct {
		n   int64
		why string
	}{
		{s.DropsWRED, "by WRED (not marked CE)"},
		{s.DropsTrimmed, "trimmed, no room for headers"},
		{s.DropsStorm, fmt.Sprintf("by the PFC watchdog in %s", unit.Plural(int(s.PFCStorms), "storm"))},
		{s.DropsDown, "on failed links"},
		{s.DropsNoRoute, "without a route"},
		{s.DropsCorrupt, "by bit errors"},
		{lacking(s), "with missing cells"},
	} {
		if d.n > 0 {
			parts = append(parts, count(d.n)+" "+d.why)
		}
	}
	if len(parts) > 0 {
		Labelled(w, "Drops: ", strings.Join(parts, ", "))
	} else if s.PFCStorms > 0 {
		Wrap(w, "", unit.Plural(int(s.PFCStorms), "PFC storm")+": the PFC watchdog forwarded.")
	}
}

// messages prints the times of messages, and the slowest one.
func messages(w io.Writer, s *result.Summary) {
	f := s.Flows
	if f.Count == 0 && s.Slowest == nil {
		return
	}
	fmt.Fprintln(w)
	if f.Count > 0 {
		Labelled(w, "Messages  ", fmt.Sprintf("%s: mean %s, p50 %s, p99 %s, max %s", count(f.Count), dur(f.Mean),
			dur(f.P50), dur(f.P99), dur(f.Max)))
		if x := f.Slowdown; x != nil {
			Wrap(w, "          ", fmt.Sprintf("slowdown (time over time on an idle fabric): mean %s, p50 %s, p99 %s, max %s",
				unit.ShowFactor(x.Mean), unit.ShowFactor(x.P50), unit.ShowFactor(x.P99), unit.ShowFactor(x.Max)))
		}
	}
	x := s.Slowest
	if x == nil {
		return
	}
	Labelled(w, "Slowest   ", fmt.Sprintf("%s → %s, %s, %s", x.From, x.To, size(x.Bytes), dur(x.Time)))
	Wrap(w, "          ", x.Why)
	if len(x.SharedWith) > 0 {
		Wrap(w, "          ", "shares the queue with "+strings.Join(x.SharedWith, ", "))
	}
	if len(x.PausedBy) > 0 {
		Wrap(w, "          ", "PFC pause tree: "+strings.Join(x.PausedBy, " ← "))
	}
}

// Listed is some words, and how many more there are.
func Listed(all []string, most int) string {
	all = slices.Compact(slices.Clone(all))
	if len(all) <= most {
		return strings.Join(all, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], " "), len(all)-most)
}

// control prints the actions of congestion control, by service; nothing for a run without one.
func control(w io.Writer, all []result.Control) {
	for i := range all {
		c := &all[i]
		if c.Algorithm == "none" && c.Transport == "" || c.QueuePairs == 0 {
			continue
		}
		text := Acted(c)
		if len(all) > 1 {
			text = c.Service + ": " + text
		}
		Wrap(w, "", text)
	}
}

// Acted describes the actions of a congestion control: its rate reductions, and its pacing delay.
func Acted(c *result.Control) string {
	if c.Acted == 0 {
		return fmt.Sprintf("%s: no rate reductions on %s", c.Title, many(c.QueuePairs, "queue pair"))
	}
	text := fmt.Sprintf("%s: %s on %s of %s", c.Title, many(c.Cuts(), "rate reduction"), count(c.Acted),
		many(c.QueuePairs, "queue pair"))
	if c.Held > 0 {
		text += fmt.Sprintf("; pacing delay %s (summed over queue pairs)", dur(c.Held))
	}
	return text
}

func many(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}
