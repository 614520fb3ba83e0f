package table

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/capture"
	"railyard/internal/report"
	"railyard/unit"
)

// pathsShown is the number of listed paths of a flow: the paths with the most losses.
const pathsShown = 8

// printMRC adds the paths of an MRC flow, or the reports in its answers.
func printMRC(w io.Writer, m *capture.MRCFlow) {
	if m.Writes+m.Trimmed > 0 {
		printPaths(w, m)
	}
	if m.Sacks > 0 {
		said := fmt.Sprintf("%s up to PSN %d, widest gap %d", unit.Plural(m.Sacks, "SACK"), m.Cumulative, m.WidestGap)
		if m.FarLate > 0 {
			said += fmt.Sprintf(", %d out of order there", m.FarLate)
		}
		if m.Penalty > 0 {
			said += fmt.Sprintf(", penalty up to %d of 127", m.Penalty)
		}
		report.Wrap(w, "    ", said)
	}
	for i, n := range m.Nacks {
		fmt.Fprintf(w, "%s%d %s", map[bool]string{true: "    NACKs: ", false: ", "}[i == 0], n.N, n.Reason)
		if i == len(m.Nacks)-1 {
			fmt.Fprintln(w)
		}
	}
	if m.Probes > 0 {
		fmt.Fprintf(w, "    %s, %d answered\n", unit.Plural(m.Probes, "probe"), m.Answered)
	}
}

func printPaths(w io.Writer, m *capture.MRCFlow) {
	least, most, skips, skipped := int64(1<<62), int64(0), int64(0), 0
	var ports []string
	by := map[string]int64{}
	for _, p := range m.Paths {
		least, most = min(least, p.Packets), max(most, p.Packets)
		if by[p.Port] == 0 && p.Port != "" {
			ports = append(ports, p.Port)
		}
		by[p.Port] += p.Packets
		if p.SkipOnce > 0 {
			skips, skipped = skips+p.SkipOnce, skipped+1
		}
	}
	fmt.Fprintf(w, "    %s (entropy values) of ", unit.Plural(len(m.Paths), "path"))
	if least == most {
		fmt.Fprint(w, unit.Plural(most, "packet"))
	} else {
		fmt.Fprintf(w, "%d to %d packets", least, most)
	}
	if len(m.Paths) > 1 {
		fmt.Fprint(w, " each")
	}
	slices.Sort(ports)
	for _, p := range ports {
		fmt.Fprintf(w, ", %d by %s", by[p], p)
	}
	for _, c := range []struct {
		n    int64
		what string
	}{{m.OutOfOrder, "out of order here"}, {m.Repeated, "twice here"}, {m.Trimmed, "trimmed"},
		{m.MorePaths, "by more paths"}} {
		if c.n > 0 {
			fmt.Fprintf(w, ", %d %s", c.n, c.what)
		}
	}
	fmt.Fprintln(w)
	if skips > 0 {
		fmt.Fprintf(w, "    %s of SKIP_ONCE, on %d of them\n", unit.Plural(skips, "verdict"), skipped)
	}
	if m.Block != "" {
		fmt.Fprintf(w, "    segments behind block %s\n", m.Block)
	}
	var bad []*capture.Path
	for _, p := range m.Paths {
		if p.Segments != "" || trouble(p) > 0 || p.State == "ASSUMED_BAD" {
			bad = append(bad, p)
		}
	}
	slices.SortStableFunc(bad, func(a, b *capture.Path) int { return cmp.Compare(trouble(b), trouble(a)) })
	for i, p := range bad {
		if i == pathsShown {
			fmt.Fprintf(w, "      ... and %d more paths (--json lists all)\n", len(bad)-i)
			break
		}
		fmt.Fprintf(w, "      %s\n", pathLine(p))
	}
}

// trouble counts a path's trimmed and lost packets, without marks: congestion is normal on any path.
func trouble(p *capture.Path) int64 { return p.Again + p.Lost + p.Trimmed + p.Nacked + p.AlwaysSkip }

// pathLine describes the packets of a path.
func pathLine(p *capture.Path) string {
	parts := []string{unit.Plural(p.Packets, "packet")}
	for _, c := range []struct {
		n    int64
		what string
	}{{p.Again, "retransmitted"}, {p.Lost, "lost"}, {p.Trimmed, "trimmed"}, {p.Nacked, "NACKed"},
		{p.SkipOnce, "SKIP_ONCE"}, {p.AlwaysSkip, "ALWAYS_SKIP"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	where := "EV " + p.EV
	if p.Port != "" {
		where += " by " + p.Port
	}
	if p.Segments != "" {
		where += " along " + p.Segments
	}
	return where + ": " + strings.Join(append(parts, p.State), ", ")
}
