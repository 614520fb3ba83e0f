package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"railyard/internal/capture"
)

// pathsShown is how many paths of a flow are listed: those that something has become of.
const pathsShown = 12

// printMRC adds to a flow of MRC what became of its paths, or what answers say.
func printMRC(w io.Writer, m *capture.MRCFlow) {
	if m.Writes+m.Trimmed > 0 {
		printPaths(w, m)
	}
	if m.Sacks > 0 {
		fmt.Fprintf(w, "    %d SACKs up to PSN %d, widest gap %d", m.Sacks, m.Cumulative, m.WidestGap)
		if m.FarLate > 0 {
			fmt.Fprintf(w, ", %d out of order there", m.FarLate)
		}
		if m.Penalty > 0 {
			fmt.Fprintf(w, ", penalty up to %d of 127", m.Penalty)
		}
		fmt.Fprintln(w)
	}
	for i, n := range m.Nacks {
		fmt.Fprintf(w, "%s%d %s", map[bool]string{true: "    NACKs: ", false: ", "}[i == 0], n.N, n.Reason)
		if i == len(m.Nacks)-1 {
			fmt.Fprintln(w)
		}
	}
	if m.Probes > 0 {
		fmt.Fprintf(w, "    %d probes, %d answered\n", m.Probes, m.Answered)
	}
}

func printPaths(w io.Writer, m *capture.MRCFlow) {
	least, most := int64(1<<62), int64(0)
	var ports []string
	by := map[string]int64{}
	for _, p := range m.Paths {
		least, most = min(least, p.Packets), max(most, p.Packets)
		if by[p.Port] == 0 && p.Port != "" {
			ports = append(ports, p.Port)
		}
		by[p.Port] += p.Packets
	}
	fmt.Fprintf(w, "    %d paths (entropy values) of %d to %d packets each", len(m.Paths), least, most)
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
	if m.Block != "" {
		fmt.Fprintf(w, "    segments behind block %s\n", m.Block)
	}
	shown, more := 0, 0
	for _, p := range m.Paths {
		told := p.Again + p.Lost + p.Trimmed + p.Nacked + p.SkipOnce + p.AlwaysSkip
		if p.Segments == "" && p.State == "GOOD" && told == 0 {
			continue
		}
		if shown++; shown > pathsShown {
			more++
			continue
		}
		fmt.Fprintf(w, "      %s\n", pathLine(p))
	}
	if more > 0 {
		fmt.Fprintf(w, "      ... and %d more paths (--json lists all)\n", more)
	}
}

// pathLine says what became of a path.
func pathLine(p *capture.Path) string {
	parts := []string{fmt.Sprintf("%d packets", p.Packets)}
	for _, c := range []struct {
		n    int64
		what string
	}{{p.Again, "again"}, {p.Lost, "lost"}, {p.Trimmed, "trimmed"}, {p.Nacked, "refused"},
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
