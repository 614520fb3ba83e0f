package report

import (
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

func run(took int64, params, tokens int64, idle int) *result.Summary {
	return &result.Summary{Complete: true, Step: result.Step{StepTime: took},
		Trained: result.Trained{Params: params, Tokens: tokens, TrainingGPUs: 32, IdleGPUs: idle}}
}

// Variants that train different models or batches are ranked by time per token, and idle GPUs are said.
func TestCompareDifferentWork(t *testing.T) {
	for _, c := range []struct {
		name string
		b    *result.Summary
		want []string
	}{
		{"the same", run(2000, 7, 100, 0), []string{"a is fastest: 1 ns (slowest: b, +100 %)"}},
		{"a larger batch", run(1500, 7, 200, 0), []string{"(the batches differ)", "time per token  ",
			"b is fastest: 7 ps per token (the batches differ) (−25.0 % vs a)"}},
		{"another model", run(2000, 8, 100, 0), []string{"(the models differ)", "a is fastest: 10 ps per token"}},
		{"no training", run(500, 0, 0, 0), []string{"not comparable"}},
		{"idle GPUs", run(500, 7, 100, 32), []string{"b is fastest, on 32 of 64 GPUs: ", "b: 32 of 64 GPUs are idle"}},
	} {
		var out strings.Builder
		Compare(&out, "x", []result.Variant{{Label: "a", Runs: []*result.Summary{run(1000, 7, 100, 0)}},
			{Label: "b", Runs: []*result.Summary{c.b}}})
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", c.name, want, out.String())
			}
		}
	}
}

// One network by several fidelities has no fastest one: the difference from packets is the error.
func TestCompareFidelities(t *testing.T) {
	by := func(fidelity string, took int64, e *result.Expected) result.Variant {
		s := run(took, 0, 0, 0)
		s.Fidelity, s.Expected = fidelity, e
		return result.Variant{Label: fidelity, Runs: []*result.Summary{s}}
	}
	var out strings.Builder
	Compare(&out, "x", []result.Variant{by("packet", 1000_000, nil), by("flow", 670_000, &result.Expected{Cases: 2})})
	if got := out.String(); !strings.Contains(got, "x: 1 µs by packets; flow 670 ns, −33.0 %: the error here") ||
		strings.Contains(got, "error up to") {
		t.Error(got)
	}
}

// Variants whose time prints as the fastest one's are equal to it.
func TestCompareEqual(t *testing.T) {
	var out strings.Builder
	one := func(took int64) []*result.Summary { return []*result.Summary{run(took, 0, 0, 0)} }
	Compare(&out, "x", []result.Variant{{Label: "a", Runs: one(366e6)}, {Label: "b", Runs: one(500e6)},
		{Label: "c", Runs: one(366e6 + 1000)}})
	if !strings.HasPrefix(out.String(), "x: a is fastest: 366 µs (slowest: b, +36.6 %); equal: c\n") {
		t.Error(out.String())
	}
}

// Messages that begin at random times are compared by their slowdown, because the end of the last one depends on
// when it began.
func TestCompareSlowdowns(t *testing.T) {
	random := func(took int64, mean, p99 float64) []*result.Summary {
		s := run(took, 0, 0, 0)
		s.Flows.Slowdown = &result.Slowdowns{Mean: mean, P99: p99}
		return []*result.Summary{s}
	}
	var out strings.Builder
	Compare(&out, "x", []result.Variant{{Label: "a", Runs: random(1000, 4, 30)}, {Label: "b", Runs: random(2000, 3, 10)}})
	for _, want := range []string{"b has the lowest mean slowdown: 3 × (−25.0 % vs a)", "p99 slowdown"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestCompareQueues checks that a comparison has the longest queue where variants differ in it, the cost of high ECN
// thresholds, and that notes about the slowest messages name their variants in full.
func TestCompareQueues(t *testing.T) {
	of := func(step, peak int64) []*result.Summary {
		s := run(step, 0, 0, 0)
		s.QueuePeak, s.Slowest = peak, &result.Slowest{From: "a", To: "b", Why: "incast"}
		return []*result.Summary{s}
	}
	var out strings.Builder
	Compare(&out, "x", []result.Variant{{Label: "wred_min=150KB wred_max=3MB", Runs: of(1000, 1e6)},
		{Label: "wred_min=150KB wred_max=6MB", Runs: of(900, 2e6)}})
	for _, want := range []string{"queue peak", "1 MB", "2 MB", "Slowest, wred_min=150KB wred_max=3MB: ",
		"Slowest, wred_min=150KB wred_max=6MB: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	out.Reset()
	Compare(&out, "x", []result.Variant{{Label: "a", Runs: of(1000, 100e3)}, {Label: "b", Runs: of(900, 105e3)}})
	if strings.Contains(out.String(), "queue peak") {
		t.Error(out.String())
	}
}

// TestCompareNotes checks that a comparison names the variants within the noise, the main cause of each, and those
// with default ECN thresholds, in columns and in rows.
func TestCompareNotes(t *testing.T) {
	of := func(step int64, why cause.ID, words string) *result.Summary {
		s := run(step, 0, 0, 0)
		s.Chain, s.Congestion, s.TrainingGPUs = &cause.Account{}, words, 0
		s.Chain.Own[why] = step / 2
		return s
	}
	const marks = "DCQCN; ECN thresholds are the default, 150 KB to 3 MB at any rate"
	var all []result.Variant
	for i, label := range []string{"dcqcn", "hpcc", "swift"} {
		v := result.Variant{Label: label, Switch: "ECN"}
		for seed := range int64(3) {
			why, words := cause.Window, marks
			if i > 0 {
				why, words = cause.Incast, label
			}
			v.Runs = append(v.Runs, of(1000+200*((seed+int64(i))%3)+10*int64(i), why, words))
		}
		all = append(all, v)
	}
	for name, print := range map[string]func(w *strings.Builder){
		"columns": func(w *strings.Builder) { Compare(w, "x", all) },
		"rows":    func(w *strings.Builder) { Algorithms(w, "x", all, nil) },
	} {
		var out strings.Builder
		print(&out)
		for _, want := range []string{"within the noise of 3", "hpcc, swift", "ain cause", "window limit", "incast",
			"note: ECN thresholds are the default, 150 KB to 3 MB at any rate: dcqcn\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
			}
		}
	}
}

// TestCompareReceiver checks that a comparison names the receiver's link only if it is busy for nearly the whole
// run and no variant loses time that other paths save.
func TestCompareReceiver(t *testing.T) {
	for _, c := range []struct {
		name  string
		share float64
		why   cause.ID
		cost  int64
		want  bool
	}{
		{"incast at a full link", 0.98, cause.Incast, 900, true},
		{"a link with room", 0.643, cause.Incast, 900, false},
		{"flows that collide", 0.98, cause.Collision, 146, false},
		{"a slow link", 0.98, cause.SlowLink, 146, false},
		{"a collision that costs nothing", 0.98, cause.Collision, 4, true},
	} {
		var all []result.Variant
		for i, label := range []string{"a", "b"} {
			s := run(1000+100*int64(i), 0, 0, 0)
			s.Links = result.LinkUse{Max: c.share, UplinkMax: 0.4,
				Hottest: []result.LinkLoad{{Name: "leaf:Eth1 → host-1", ToHost: true, Utilisation: c.share}}}
			s.Chain = &cause.Account{}
			if i == 1 { // the slowest variant
				s.Chain.Own[c.why] = c.cost
			}
			all = append(all, result.Variant{Label: label, Runs: []*result.Summary{s}})
		}
		var out strings.Builder
		Compare(&out, "x", all)
		if got := strings.Contains(out.String(), "load balancing cannot relieve it"); got != c.want {
			t.Errorf("%s: %t, expected %t:\n%s", c.name, got, c.want, out.String())
		}
	}
}
