package table

import (
	"strings"
	"testing"

	"railyard/internal/study/failures"
	"railyard/internal/study/layouts"
	"railyard/unit"
)

// A failure that loses a rank, one that only slows down, and one without an end, each with its text, and the weak
// points below.
func TestFailures(t *testing.T) {
	v := &failures.Variant{Label: "unchanged", Base: 0.5, At: 0.25,
		Rows: []failures.Row{
			{Kind: "nic", Tier: "host", Name: "host-1/nic-1", Alike: 4, Lost: true, Isolated: 1,
				Members: []string{"host-1/nic-1", "host-2/nic-1", "host-3/nic-1", "host-4/nic-1"}},
			{Kind: "switch", Tier: "spine", Name: "spine-1", Alike: 2, Step: 1, Least: 0.75, Slower: 2, Again: 2_500_000},
			{Kind: "link", Tier: "spine", Name: "spine-1:Eth1", Alike: 8, Error: "out of memory"},
		},
		Sums: failures.Totals{Elements: 14, Weak: 4, Worst: 1, Mean: 0.9, Isolated: 1}}
	var b strings.Builder
	Failures(&b, []*failures.Variant{v})
	for _, want := range []string{"500 ms", "nic host-1/nic-1 4 failed", "750 ms–1 s",
		"2.5 MB", "no end", "spine-1:Eth1 did not end: out of memory",
		"4 of 14 elements are single points of failure: host-1/nic-1, host-2/nic-1, host-3/nic-1, host-4/nic-1"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	v.Rows, v.Sums.Weak = nil, 0
	b.Reset()
	Failures(&b, []*failures.Variant{v, v})
	if !strings.Contains(b.String(), "no single point of failure among 14 elements") ||
		strings.Count(b.String(), "0 of 14") != 2 {
		t.Errorf("%s", b.String())
	}
}

// Rows beyond those that a terminal shows are counted.
func TestManyRows(t *testing.T) {
	v := &failures.Variant{Rows: make([]failures.Row, maxFailureRows+3)}
	var b strings.Builder
	Failures(&b, []*failures.Variant{v})
	if !strings.Contains(b.String(), "3 more: --json") {
		t.Errorf("%s", b.String())
	}
}

// A configuration that was not simulated has its reason; a slice names what was added for the remainder.
func TestSimulated(t *testing.T) {
	var b strings.Builder
	simulated(&b, []layouts.Simulated{{Layout: "TP8", Seconds: 2, MFU: 0.4, Estimate: 2.2, Slice: "2 of 16 segments",
		Ran: 1.5, Added: 0.5}, {Layout: "TP4", Skipped: "too large"}}, 7)
	for _, want := range []string{"2 s 40 2.2 s +10.0 %", "TP8: 2 of 16 segments (1.5 s); the cost model adds 500 ms for " +
		"the rest", "not simulated: TP4: too large",
		"Simulated, packet level: 1 of 7 feasible"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// TestSettings checks that a configured number is not rounded: an MTU of 1024 is no 1,020.
func TestSettings(t *testing.T) {
	for v, want := range map[string]string{"1024": "1,024", "4096": "4,096", "0.125": "0.125", "150KB": "150 KB",
		"ecmp": "ecmp", "": unit.NotApplicable} {
		if got := Setting(v); got != want {
			t.Errorf("%s: %s, want %s", v, got, want)
		}
	}
}
