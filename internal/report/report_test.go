package report_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/swconf"
	"railyard/internal/tune"
	"railyard/unit"
)

// TestWrap checks that text is broken at spaces, within 80 columns, after its indent, and that a percent sign stays
// with its number. A word longer than a line has its own line.
func TestWrap(t *testing.T) {
	var b strings.Builder
	long := strings.Repeat("x", 120)
	report.Wrap(&b, "   ", strings.Repeat("a spine carries 50 % and ", 20)+long+" end")
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 && strings.TrimSpace(line) != long {
			t.Errorf("a line of %d columns: %s", n, line)
		}
		if !strings.HasPrefix(line, "   ") || strings.HasPrefix(line, "   %") {
			t.Errorf("a line begins wrongly: %q", line)
		}
	}
	if len(lines) < 7 || lines[len(lines)-1] != "   end" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

// Further lines of a labelled text begin below its first word.
func TestLabelled(t *testing.T) {
	var b strings.Builder
	report.Labelled(&b, "      why: ", strings.Repeat("because ", 20))
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if want := []string{"      why: because", "           because"}[min(i, 1)]; !strings.HasPrefix(line,
			want) {
			t.Errorf("line %d is %q", i, line)
		}
	}
}

func summary(step unit.Time) *result.Summary {
	return &result.Summary{Name: "pod", Complete: true, GPUs: 64, Seed: 1, LB: "ecmp",
		Step: result.Step{StepTime: int64(step)}, Links: result.LinkUse{Max: 0.5, UplinkMax: 0.5}}
}

// The report of a run prints only what happened: each line below appears exactly with its cause.
func TestTextSaysWhatHappened(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(s *result.Summary)
		says  string
	}{
		"interrupted":    {func(s *result.Summary) { s.Complete = false }, "INCOMPLETE, 1 ms simulated"},
		"a dead peer":    {func(s *result.Summary) { s.FailedQPs = 2 }, "2 failed queue pairs"},
		"a lossy class":  {func(s *result.Summary) { s.Drops, s.DropsWRED = 1234, 1234 }, "1,234 by WRED"},
		"a broken cable": {func(s *result.Summary) { s.DropsDown = 7 }, "7 on failed links"},
		"a storm, dropped": {func(s *result.Summary) {
			s.PFCStorms, s.DropsStorm = 1, 9
		}, "9 by the PFC watchdog in 1 storm"},
		"a storm, forwarded": {func(s *result.Summary) { s.PFCStorms = 2 },
			"2 PFC storms: the PFC watchdog forwarded."},
		"a slow flow": {func(s *result.Summary) {
			s.Slowest = &result.Slowest{From: "host-1", To: "host-2", Why: "it shared a spine",
				PausedBy: []string{"a", "b"}}
		}, "PFC pause tree: a ← b"},
		"a cable at half rate": {func(s *result.Summary) {
			s.LinkEvents = []result.LinkEvent{
				{At: int64(unit.Microsecond), Link: "a:Eth1 – b:Eth2", Change: "down",
					Routes: int64(2 * unit.Microsecond)},
				{At: int64(unit.Millisecond), Link: "c", Change: "50 Gbit/s"}}
		}, "Events\n       1 µs  a:Eth1 – b:Eth2: down, routes converged at 2 µs\n       1 ms  c: 50 Gbit/s\n"},
		"a flapping cable": {func(s *result.Summary) { s.LinkEvents = make([]result.LinkEvent, 20) },
			"12 more in summary.json"},
		"pipes":          {func(s *result.Summary) { s.Fidelity = "pipes" }, "64 GPUs, seed 1, fidelity pipes"},
		"pipes, at once": {func(s *result.Summary) { s.Fidelity = "pipes" }, " (pipes fidelity)"},
		"two jobs": {func(s *result.Summary) {
			step := result.Step{StepTime: int64(unit.Millisecond), Compute: int64(unit.Millisecond / 4)}
			s.Jobs = []result.Job{{Name: "one", Complete: true, Step: step}, {Name: "other", GPUs: 16,
				Start: int64(unit.Microsecond), Step: step}}
		}, "other    16   1 µs  1 ms     25.0 %      0 %  incomplete"},
		"a job that lost a rank": {func(s *result.Summary) {
			s.Outcome = &result.Outcome{Ended: result.RankLost}
			s.Jobs = []result.Job{{Name: "one", Complete: true}, {Name: "other", GPUs: 16,
				End: int64(unit.Millisecond)}}
		}, "fails; last operation ended at 1 ms"},
	} {
		t.Run(name, func(t *testing.T) {
			var calm, upset strings.Builder
			report.Text(&calm, summary(unit.Millisecond))
			s := summary(unit.Millisecond)
			c.spoil(s)
			report.Text(&upset, s)
			if !strings.Contains(upset.String(), c.says) || strings.Contains(calm.String(), c.says) {
				t.Errorf("want %q here:\n%s\nand not here:\n%s", c.says, upset.String(), calm.String())
			}
		})
	}
}

// One screen, at most 100 columns, for any numbers and names.
func TestTextFitsTheScreen(t *testing.T) {
	s := summary(3 * unit.Second)
	s.Name, s.Complete, s.Slowest = strings.Repeat("long-name-", 20), false,
		&result.Slowest{Why: strings.Repeat("words ", 50)}
	for range 20 {
		s.Jobs = append(s.Jobs, result.Job{Name: strings.Repeat("long-name-", 3), GPUs: 1e6})
	}
	for i := range 8 {
		s.Links.Hottest = append(s.Links.Hottest, result.LinkLoad{Name: strings.Repeat("spine", 20),
			Marks: 1e9, QueuePeak: 1e9})
		s.Collectives = append(s.Collectives,
			result.Collective{Name: strings.Repeat("all-reduce", 5), Count: i})
	}
	var b strings.Builder
	report.Text(&b, s)
	lines := strings.Split(b.String(), "\n")
	for _, line := range lines {
		if n := len([]rune(line)); n > 80 && strings.Contains(line, " ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if len(lines) > 60 {
		t.Errorf("%d lines", len(lines))
	}
}

// Variants are next to each other with the mean over their seeds, and the conclusion uses the same figures.
func TestCompare(t *testing.T) {
	with := func(step unit.Time, change func(s *result.Summary)) *result.Summary {
		s := summary(step)
		change(s)
		return s
	}
	same := func(*result.Summary) {}
	for name, c := range map[string]struct {
		variants []result.Variant
		says     []string
	}{
		"one is faster, by the means of three seeds, but not beyond the noise": {[]result.Variant{
			{Label: "ecmp", Runs: []*result.Summary{with(9*unit.Millisecond, same),
				with(4*unit.Millisecond, same), with(6*unit.Millisecond, same)}},
			{Label: "spray", Runs: []*result.Summary{with(3*unit.Millisecond, same),
				with(3*unit.Millisecond, same), with(8*unit.Millisecond, same)}},
		}, []string{"6.33 ms", "Means over 3 seeds",
			"spray is fastest: 4.67 ms (−26.3 % vs ecmp); within the noise of 3\nseeds: ecmp"}},
		"one is faster with each seed": {[]result.Variant{
			{Label: "ecmp", Runs: []*result.Summary{with(9*unit.Millisecond, same), with(4*unit.Millisecond, same)}},
			{Label: "spray", Runs: []*result.Summary{with(8*unit.Millisecond, same), with(3*unit.Millisecond, same)}},
		}, []string{"spray is fastest: 5.5 ms (−15.4 % vs ecmp); beyond the noise of 2"}},
		"neither is": {[]result.Variant{
			{Label: "ecmp", Runs: []*result.Summary{with(1000*unit.Microsecond, same)}},
			{Label: "spray", Runs: []*result.Summary{with(1001*unit.Microsecond, same)}},
		}, []string{"no difference, all variants take 1 ms ± 0.1 %"}},
		"reordering is taken for loss": {[]result.Variant{
			{Label: "ecmp", Runs: []*result.Summary{with(unit.Millisecond, same)}},
			{Label: "spray", Runs: []*result.Summary{with(2*unit.Millisecond, func(s *result.Summary) {
				s.Retransmissions = 5000
			})}},
		}, []string{"spray: 5,000 spurious retransmissions: reordering is treated as loss."}},
		"what was cut is retransmitted": {[]result.Variant{
			{Label: "roce", Runs: []*result.Summary{with(2*unit.Millisecond, same)}},
			{Label: "mrc", Runs: []*result.Summary{with(unit.Millisecond, func(s *result.Summary) {
				s.Retransmissions, s.Trims = 90, 90
			})}},
		}, []string{"mrc is fastest"}},
		"time-outs are too short": {[]result.Variant{
			{Label: "srd", Runs: []*result.Summary{with(unit.Millisecond, func(s *result.Summary) {
				s.Retransmissions, s.Timeouts, s.Trims = 90, 70, 10
			})}},
			{Label: "roce", Runs: []*result.Summary{with(2*unit.Millisecond, same)}},
		}, []string{"srd: 80 spurious retransmissions: the timeout is shorter than the wait in"}},
		"jobs have rows of their own": {[]result.Variant{
			{Label: "packed", Runs: []*result.Summary{with(unit.Millisecond, func(s *result.Summary) {
				s.Jobs = []result.Job{{Name: "left", Step: result.Step{StepTime: 7e8}},
					{Name: "right", Step: result.Step{StepTime: 1e9}}}
			})}},
			{Label: "spread", Runs: []*result.Summary{with(unit.Millisecond, func(s *result.Summary) {
				s.Jobs = []result.Job{{Name: "left", Step: result.Step{StepTime: 5e8}},
					{Name: "right", Step: result.Step{StepTime: 1e9}}}
			})}},
		}, []string{"\n  left        700 µs  500 µs     −28.6 %\n  right "}},
		"one failed": {[]result.Variant{
			{Label: "ecmp", Runs: []*result.Summary{with(unit.Millisecond, same)}},
			{Label: "spray", Failed: "it got stuck"},
		}, []string{"spray failed: it got stuck"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			report.Compare(&b, "two ways", c.variants)
			for _, want := range c.says {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is missing in\n%s", want, b.String())
				}
			}
			if !strings.Contains(strings.Join(c.says, ""), "spurious") && strings.Contains(b.String(), "spurious") {
				t.Errorf("spurious retransmissions in\n%s", b.String())
			}
		})
	}
}

// Many variants are printed below each other, and labels too long for a column get numbers. No line is wider than
// the screen.
func TestCompareFitsTheScreen(t *testing.T) {
	var variants []result.Variant
	for i := range 12 {
		variants = append(variants, result.Variant{Label: fmt.Sprintf("%s=%d", strings.Repeat("key.", 9), i),
			Runs: []*result.Summary{summary(unit.Time(i+1) * unit.Millisecond)}})
	}
	var b strings.Builder
	report.Compare(&b, "many", variants)
	for _, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for i := range 12 { // in the list of labels and above its column
		if n := fmt.Sprintf("(%d)", i+1); strings.Count(b.String(), n) != 2 {
			t.Errorf("variant %s is not there twice:\n%s", n, b.String())
		}
	}
}

// A finding is printed in the order place, cause, remedy.
func TestFindings(t *testing.T) {
	var b strings.Builder
	report.Findings(&b, []swconf.Finding{{Severity: swconf.Error, Rule: "pfc-headroom", File: "leaf.cfg",
		Line: 12, Column: 3,
		Message: "too little", Why: "packets are lost", Fix: "raise it"}, {Rule: "whole", File: "spine.cfg"}},
		func(string, int) string { return "  no shutdown" }, itself)
	at := -1
	for _, part := range []string{"error[pfc-headroom]: too little", "--> leaf.cfg:12:3", "12 |   no shutdown",
		"   |   ^^\n", "cause: packets are lost", "remedy: raise it", "--> spine.cfg"} {
		i := strings.Index(b.String(), part)
		if i <= at {
			t.Fatalf("%q is missing or too early in\n%s", part, b.String())
		}
		at = i
	}
}

// itself names a switch by its file.
func itself(file string) string { return file }

// Findings of many switches that differ only in the switch and in lines are printed once, with all switches.
// Another remedy or another neighbor's AS number separates them.
func TestFindingsOfManySwitches(t *testing.T) {
	name := func(file string) string { return strings.TrimSuffix(file, ".cfg") }
	find := func(file string, line int, text, fix string) swconf.Finding {
		return swconf.Finding{Severity: swconf.Error, Rule: "r", File: file, Line: line, Column: 1,
			Message: text, Fix: fix}
	}
	var list []swconf.Finding
	for _, i := range []int{1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9} {
		file := fmt.Sprintf("leaf-%d.cfg", i)
		list = append(list, find(file, i, name(file)+" balances otherwise", "mode flowlet"))
		for _, port := range []string{"Ethernet1", "Ethernet2"} {
			list = append(list, find(file, i, port+" does no PFC", "turn it on"))
		}
	}
	list = append(list, find("spine-1.cfg", 7, "Ethernet9 does no PFC", "turn it on"),
		find("spine-1.cfg", 8, "spine-1 balances otherwise", "mode per-packet"),
		find("spine-2.cfg", 8, "AS 1 is that of leaf-1", "another"),
		find("leaf-1.cfg", 8, "AS 2 is that of leaf-2", "another"))
	var b strings.Builder
	report.Findings(&b, list, func(string, int) string { return "" }, name)
	for part, want := range map[string]int{"error[r]": 5, "leaf-1 balances otherwise (on 11 switches)\n": 1,
		"   = switches: leaf-1 to leaf-11\n": 1, "Ethernet1 does no PFC (and 22 more ports, on 12 switches)": 1,
		"  --> leaf-1.cfg:1:1\n": 2, "   = switches: leaf-1 to leaf-11, spine-1\n": 1, "AS ": 2} {
		if n := strings.Count(b.String(), part); n != want {
			t.Errorf("%q is there %d times, want %d:\n%s", part, n, want, b.String())
		}
	}
}

// Findings that differ only in the names of ports are printed once, with all places; other numbers separate them.
func TestFindingsOfManyPorts(t *testing.T) {
	var list []swconf.Finding
	for i, m := range []string{"Ethernet1 pauses none, its neighbour leaf-1 Ethernet5 pauses 3",
		"Ethernet2/1 pauses none, its neighbour leaf-2 Ethernet7 pauses 3",
		"Ethernet3 pauses 4, its neighbour leaf-3 Ethernet5 pauses 3"} {
		list = append(list, swconf.Finding{Severity: swconf.Error, Rule: "pfc-one-end", File: "spine.cfg", Line: i + 1,
			Column: 1, Message: m})
	}
	var b strings.Builder
	report.Findings(&b, list, func(string, int) string { return "" }, itself)
	for part, want := range map[string]int{"error[pfc-one-end]": 2, "(and 1 more port)": 1,
		"spine.cfg:1:1, 2:1": 1, "spine.cfg:3:1": 1} {
		if n := strings.Count(b.String(), part); n != want {
			t.Errorf("%q is there %d times, want %d:\n%s", part, n, want, b.String())
		}
	}
}

// A search prints the unchanged scenario, the best trial once, and how much of a long front it omits.
func TestTuning(t *testing.T) {
	front := make([]tune.Trial, 20)
	for i := range front {
		front[i] = tune.Trial{N: i, Outcome: tune.Outcome{Time: int64(i+1) * int64(unit.Millisecond)}}
	}
	front[3].Outcome.Error = "it got stuck"
	var b strings.Builder
	report.Tuning(&b, "pod", &tune.Space{DCQCN: true}, front, front, front[7], []string{"raise xOFF"})
	for _, want := range []string{"pod: best of 20 simulations (within 1 % of the fastest the least pauses, then\nthe shortest queue): step 8 ms (+700.0 % vs baseline); 1 did not end",
		"0 baseline", "7 best",
		"4 more on the Pareto front", "raise xOFF"} {
		if strings.Count(b.String(), want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, b.String())
		}
	}
}
