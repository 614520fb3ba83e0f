package table

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/capture"
)

// The outcomes of paths are listed worst first, and those along segments always. The number of rows is limited.
func TestPrintMRC(t *testing.T) {
	m := capture.MRCFlow{Writes: 30, OutOfOrder: 4, Trimmed: 2, Block: "fcbbbb00", Probes: 1,
		Paths: []*capture.Path{
			{EV: "0x1", Packets: 3, Segments: "[11 2002 33]", State: "GOOD"},
			{EV: "0x2", Packets: 3, SkipOnce: 2, State: "SKIP"},
			{EV: "0x3", Packets: 3, Lost: 3, AlwaysSkip: 1, Port: "plane1", State: "ASSUMED_BAD"}}}
	var b strings.Builder
	printMRC(&b, &m)
	want := `    3 paths (entropy values) of 3 packets each, 3 by plane1, 4 out of order here, 2 trimmed
    2 verdicts of SKIP_ONCE, on 1 of them
    segments behind block fcbbbb00
      EV 0x3 by plane1: 3 packets, 3 lost, 1 ALWAYS_SKIP, ASSUMED_BAD
      EV 0x1 along [11 2002 33]: 3 packets, GOOD
    1 probe, 0 answered
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	m = capture.MRCFlow{Sacks: 1, Cumulative: 9, WidestGap: 2,
		Nacks: []capture.NackCount{{Reason: "TRIMMED", N: 3},
			{Reason: "NO_RESOURCE", N: 1}}}
	b.Reset()
	printMRC(&b, &m)
	want = "    1 SACK up to PSN 9, widest gap 2\n    NACKs: 3 TRIMMED, 1 NO_RESOURCE\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	m = capture.MRCFlow{Writes: 20}
	for i := range 20 {
		m.Paths = append(m.Paths, &capture.Path{EV: fmt.Sprint(i), Packets: 1, Again: 1, State: "GOOD"})
	}
	b.Reset()
	printMRC(&b, &m)
	if n := strings.Count(b.String(), "\n"); n != 2+pathsShown || !strings.Contains(b.String(),
		"... and 12 more paths (--json lists all)") {
		t.Errorf("%d lines:\n%s", n, b.String())
	}
}
