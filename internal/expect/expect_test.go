package expect

import (
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// run is a summary with figures of each kind.
func run() *result.Summary {
	s := &result.Summary{Name: "small", PFCPauses: 3, QueuePeak: 2_000_000}
	s.StepTime = 497_000_000_000
	s.Flows.P99 = 1_000_000
	s.Links.Max = 0.67
	s.Chain = &cause.Account{}
	s.Chain.Own[0] = 5_000_000
	s.Jobs = []result.Job{{Name: "train"}, {Name: "other"}}
	s.Jobs[1].StepTime = 7_000_000
	s.Collectives = []result.Collective{{Name: "all-reduce", BusBW: 90e9}}
	return s
}

// TestCheck compares figures of each kind with bounds.
func TestCheck(t *testing.T) {
	first := cause.All()[0].Key
	for text, want := range map[string]string{
		"step_time < 550ms":                         "true 497 ms",
		"step_time_ps>=0.5s":                        "false 497 ms",
		"drops = 0":                                 "true 0",
		"trims == 0":                                "true 0", // which JSON leaves out
		"pfc_pauses != 3":                           "false 3",
		"queue_peak <= 2MB":                         "true 2 MB",
		"flow_completion.p99 < 1us":                 "false 1 µs",
		"links.max_utilisation < 70%":               "true 0.67",
		"links.max_utilisation < 0.6":               "false 0.67",
		"links.max_utilization < 0.7":               "true 0.67",
		"links.max_utilisation <= 1":                "true 0.67",
		"jobs.other.step_time < 8us":                "true 7 µs",
		"jobs.1.step_time < 8us":                    "true 7 µs",
		"collectives.0.busbw > 89GB/s":              "true 90 GB/s",
		"collectives.all-reduce.busbw > 91GB/s":     "false 90 GB/s",
		"chain." + first + " < 6us":                 "true 5 µs",
		"chain." + first + "_saving_ps = 0ps":       "true 0 s",
		"  step_time   <   550ms ":                  "true 497 ms",
		"flow_completion_ps.p50 = 0ps":              "true 0 s",
		"collectives.0.busbw_bytes_per_second>1B/s": "true 90 GB/s",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		all, err := Check(run(), []*Expectation{e})
		if err != nil {
			t.Fatal(err)
		}
		if got := map[bool]string{true: "true ", false: "false "}[all[0].Met] + all[0].Found; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestMissing checks that a figure that a run does not have is an error. It is neither 0 nor a met expectation.
func TestMissing(t *testing.T) {
	for _, text := range []string{"mfu < 30%", "tokens = 0", "jobs.other.mfu < 1", "storage.read < 1GB", "slowest_flow.time < 1s",
		"expected_error.worst < 5%", "jobs.nobody.step_time < 8us"} {
		list, err := ParseAll([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := Check(run(), list); err == nil || !strings.Contains(err.Error(), "--expect: the run has no "+list[0].path[0]) {
			t.Errorf("%s: %v, %v", text, all, err)
		}
	}
}

// TestParseRefuses checks the errors of expectations that cannot be.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"step_time":                  "has no comparison",
		"step_tim < 550ms":           `did you mean "step_time"?`,
		"step_time < 550":            "step_time is a time: write for example 'step_time < 550ms', found",
		"drops < lots":               "drops is a number",
		"drops < NaN":                "drops is a number",
		"ecn_marks < 95%":            "ecn_marks is a number: write for example 'ecn_marks < 10', found",
		"mfu > 30":                   `mfu is a share of 1: write 30% or 0.3, found "30"`,
		"links.max_utilization < 50": `links.max_utilization is a share of 1: write 50% or 0.5, found "50"`,
		"mfu > much":                 "mfu is a share of 1: write for example 'mfu > 30%', found",
		"jobs.0.mfu > 1.5":           "write 1.5% or 0.015",
		"name = x":                   "is a word, not a figure",
		"links < 3":                  "links\" is a group (such as links.",
		"collectives > 3":            "is a list (write collectives.0",
		"step_time.p99 < 3ms":        `step_time is a figure and has no "p99"`,
		"collectives.0.busbw>1":      "is a bandwidth",
		"step_time ! 3ms":            "has no comparison",
		"chain.cosmic_rays < 1s":     "unknown figure",
		"< 3ms":                      "unknown figure",
		"":                           "has no comparison",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestWriteJUnit pins the XML, and the table.
func TestWriteJUnit(t *testing.T) {
	list, err := ParseAll([]string{"step_time < 550ms", "drops > 0"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Check(run(), list)
	if err != nil || Met(all) {
		t.Fatal(all, err)
	}
	var b strings.Builder
	if err := WriteJUnit(&b, "small", all); err != nil {
		t.Fatal(err)
	}
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1">
  <testsuite name="railyard run small" tests="2" failures="1">
    <testcase classname="small" name="step_time &lt; 550ms">
      <system-out>found 497 ms</system-out>
    </testcase>
    <testcase classname="small" name="drops &gt; 0">
      <failure message="expected drops &gt; 0, found 0"></failure>
      <system-out>found 0</system-out>
    </testcase>
  </testsuite>
</testsuites>
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	if err := Print(&b, all); err != nil || b.String() != `2 expectations, 1 met
  met      step_time < 550ms  found 497 ms
  not met  drops > 0          found 0
` {
		t.Errorf("%v\n%s", err, b.String())
	}
}
