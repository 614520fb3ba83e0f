package report_test

import (
	"reflect"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/report"
	"railyard/internal/result"
	"railyard/internal/story"
	"railyard/internal/swconf"
	"railyard/internal/tune"
	"railyard/unit"

	"pgregory.net/rapid"
)

// ms is a time in the run directory's picoseconds.
func ms(x float64) int64 { return int64(x * float64(unit.Millisecond)) }

// training is a step as left by a run of some hundred GPUs.
func training() *result.Summary {
	s := &result.Summary{Name: "pod64-llama2-7b", Version: "test", Complete: true, Seed: 1,
		LB: "ecmp", GPUs: 64,
		Congestion: "dcqcn, NIC form, profile of 400 Gbit/s", Packets: 26_345_678, PacketHops: 78_901_234,
		SimSeconds: 9.5, PeakMemory: 123_456_789, ECNMarks: 45_678, CNPs: 4_321, PFCPauses: 12,
		PFCPause: ms(0.3)}
	s.Step = result.Step{StepTime: ms(183), Compute: ms(110), ExposedComm: ms(60), ExposedTP: ms(9),
		ExposedPP: ms(7),
		ExposedDP: ms(44), Bubble: ms(13), Chain: &cause.Account{}}
	for id, long := range map[cause.ID]float64{cause.Compute: 110, cause.LineRate: 20, cause.Latency: 0.2,
		cause.Recovering: 31, cause.Collision: 14, cause.Incast: 2, cause.Pause: 1.5} {
		s.Chain.Own[id] = ms(long)
	}
	s.Params, s.MFU, s.Tokens, s.TrainingGPUs = 6_738_415_616, 0.423, 131_072, 64
	s.Collectives = []result.Collective{
		{Name: "gradients", Kind: "all-reduce", Algorithm: "ring", Count: 128, Bytes: 100e6, Ranks: 8,
			Time:  ms(4.2),
			AlgBW: 23.8e9, BusBW: 41.7e9, Bound: 50e9, BoundWhy: "host-1/nic-1"},
		{Name: "activations of the tensor parallel ranks", Kind: "all-gather", Count: 2048,
			Bytes: 33_554_432, Ranks: 8,
			Time: ms(0.09), AlgBW: 372e9, BusBW: 326e9, Bound: 450e9, BoundWhy: "NVLink"}}
	s.Links = result.LinkUse{Max: 0.81, Mean: 0.12, Count: 512, Uplinks: 128, UplinkMax: 0.81,
		UplinkMin:  0.02,
		UplinkMean: 0.3, UplinkIdle: 3, Hottest: []result.LinkLoad{
			{Name: "seg-1-rail-1:Eth9 → spine-3", Utilisation: 0.81, Marks: 12_345, QueuePeak: 2_345_678,
				Paused: ms(0.2)},
			{Name: "spine-3:Eth2 → seg-2-rail-1", Utilisation: 0.8, QueuePeak: 345_678}}}
	s.Flows = result.FlowTimes{Count: 65_536, Mean: ms(0.21), P50: ms(0.18), P99: ms(1.1), Max: ms(2.4)}
	s.Slowest = &result.Slowest{From: "host-3/gpu-1", To: "host-5/gpu-1", Bytes: 12_500_000, Time: ms(2.4),
		Why: "6.2 × ideal (387 µs): mean queue wait 1.1 ms at seg-1-rail-1:Eth9 with 3 other flows; 40 rate reductions", SharedWith: []string{"host-4/gpu-1", "host-6/gpu-1",
			"host-7/gpu-1"},
		PausedBy: []string{"spine-3:Eth2", "seg-2-rail-1:Eth1"}}
	return s
}

// Printed results of a run: a training step, a run in a deadlock that was interrupted, a faulty fabric, variants
// with seeds, a search, findings. They have at most 80 columns.
func TestPages(t *testing.T) {
	stuck := training()
	stuck.Name, stuck.Complete, stuck.Collectives, stuck.MFU, stuck.Params = "cyclic", false, nil, 0, 0
	stuck.Step = result.Step{StepTime: ms(1000.2), ExposedOther: ms(1000.2)}
	stuck.PFCPauses, stuck.PFCPause, stuck.Flows.Count = 1_234_567, ms(987_654), 3
	stuck.Slowest.PausedBy = []string{"a:Eth1", "b:Eth2", "c:Eth3", "a:Eth1"}
	faulty := training()
	faulty.Name, faulty.Drops, faulty.DropsWRED, faulty.DropsDown, faulty.DropsCorrupt = "faulty",
		999, 900, 90, 9
	faulty.PFCStorms, faulty.DropsStorm, faulty.DropsNoRoute = 2, 7_000, 44
	faulty.Retransmissions, faulty.OutOfOrder, faulty.Naks, faulty.Timeouts, faulty.FailedQPs = 12_345,
		1, 345, 67, 2
	spray := func(seed uint64, step float64, again int64) *result.Summary {
		s := training()
		s.Seed, s.StepTime, s.LB, s.Links.UplinkMax, s.OutOfOrder = seed, ms(step), "spray", 0.31, 80_000
		s.Chain.Own[cause.Collision], s.Retransmissions = 0, again
		return s
	}
	half := spray(1, 20, 0)
	half.Complete = false
	lost := training()
	lost.Name, lost.Complete, lost.Outcome = "lost", false, &result.Outcome{Ended: result.RankLost,
		At: ms(536), Last: ms(90), Limit: ms(600_000), Job: ms(600_090), Waited: 60, Failed: 12,
		Why:    "the queue pair from host-3/nic-1 to host-4/nic-1 gave up (transport retry counter exceeded)",
		Broken: []string{"a", "b", "c", "d", "e"}, LostMost: ms(1_800_000), LostMean: ms(900_000),
		Done: result.Finished{Operations: 123, OfOperations: 4567, Bytes: 1e9, OfBytes: 2e10, Collectives: 3,
			OfColls: 17}}
	for name, tell := range map[string]func(b *strings.Builder){
		"training": func(b *strings.Builder) { report.Text(b, training()) },
		"stuck":    func(b *strings.Builder) { report.Text(b, stuck) },
		"lost":     func(b *strings.Builder) { report.Text(b, lost) },
		"faulty":   func(b *strings.Builder) { report.Text(b, faulty) },
		"compared": func(b *strings.Builder) {
			report.Compare(b, "pod64-llama2-7b by load balancing", []result.Variant{
				{Label: "lb=ecmp", Runs: []*result.Summary{training(), training(), training()}},
				{Label: "lb=spray", Runs: []*result.Summary{spray(1, 171, 0), spray(2, 168, 0),
					spray(3, 175, 0)}},
				{Label: "lb=spray,transport.recovery=go-back-n",
					Runs: []*result.Summary{spray(1, 1710, 40_000)}},
				{Label: "lb=spray-least", Runs: []*result.Summary{half}},
				{Label: "lb=flowlet", Failed: "no event is left and 3 of 9 operations wait"}})
		},
		"tuned": func(b *strings.Builder) {
			trial := func(n int, time, pause float64, err string) tune.Trial {
				return tune.Trial{N: n, Candidate: tune.Candidate{XOn: 100 * unit.KB, WREDMin: 150 * unit.KB,
					WREDMax: 3 * unit.MB, XOff: 3500 * unit.KB, Probability: 7, AI: 5 * unit.Mbps,
					RateTimer: 300 * unit.Microsecond},
					Outcome: tune.Outcome{Time: ms(time), Pause: ms(pause),
						Queue: 2_345_678, Error: err}}
			}
			all := []tune.Trial{trial(0, 4.2, 0.9, ""), trial(1, 3.9, 1.1, ""), trial(2, 0, 0, "stuck"),
				trial(3, 4.0, 0, "")}
			report.Tuning(b, "incast", &tune.Space{DCQCN: true}, all,
				[]tune.Trial{all[1], all[3]}, all[3], []string{
					"WRED maximum: lower it; the queue never came near, and what is marked late is paused."})
		},
		"findings": func(b *strings.Builder) {
			report.Findings(b, []swconf.Finding{
				{Severity: swconf.Error, Rule: "threshold-order", File: "leaf-1.cfg", Line: 29, Column: 5,
					Message: "queue 3: WRED maximum 4000KB is not below xOFF 3500KB",
					Why:     swconf.RuleByID("threshold-order").Why,
					Fix: "keep xON < WRED minimum < WRED maximum < xOFF, for example 100, 150, 3000 and " +
						"3500 kbytes"},
				{Severity: swconf.Warning, Rule: "switch-missing", File: "old.cfg",
					Message: `the fabric has no switch "old"`,
					Why:     "rules on links and neighbors are not checked", Fix: "set the hostname"}}, func(string, int) string { return "    random-detect threshold burst-optimized" }, itself)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			tell(&b)
			fits(t, b.String())
			story.Check(t, name, b.String())
		})
	}
}

// fits checks that a page fits a screen of 80 columns and has valid figures.
func fits(t interface{ Errorf(string, ...any) }, page string) {
	for _, line := range strings.Split(page, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
		for _, none := range []string{"NaN", "Inf", "%!"} {
			if strings.Contains(line, none) {
				t.Errorf("a figure is none: %s", line)
			}
		}
	}
}

// fill fills a summary with random values: zeros, ones, and values that no run reaches.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "elements")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "host-1/gpu-1",
			"seg-12-rail-8:Eth12 → pod-3-super-spine-14",
			"a reason of several words that is told in one breath and takes more than a line to be told, " +
				"as some do"}).
			Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{0, 1e-9, 0.5, 1}).Draw(t, "float"))
	case reflect.Uint64:
		v.SetUint(rapid.SampledFrom([]uint64{0, 1, 1 << 40}).Draw(t, "uint"))
	case reflect.Int: // of ranks or of links: bounded by the size of a fabric
		v.SetInt(rapid.SampledFrom([]int64{0, 1, 64, 32_768}).Draw(t, "count"))
	case reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, 1, 999, 1_000, 123_456_789, 987_654_321}).Draw(t, "int"))
	}
}

// parts keeps the parts of a step within it.
func parts(s *result.Step) {
	for _, p := range []*int64{&s.Compute, &s.ExposedComm, &s.ExposedTP, &s.ExposedPP, &s.ExposedDP,
		&s.ExposedCP,
		&s.ExposedEP, &s.ExposedOther, &s.Bubble} {
		*p = min(*p, s.StepTime)
	}
	if s.Chain != nil {
		for i := range s.Chain.Own {
			s.Chain.Own[i] = min(s.Chain.Own[i], s.StepTime)
			s.Chain.Reaction[i] = min(s.Chain.Reaction[i], s.StepTime/int64(len(cause.All())))
		}
	}
}

// For any summary, even of a run that ended before it began, no line is wider than the screen, and no figure is a
// division by zero.
func TestAnySummaryFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &result.Summary{}
		fill(t, reflect.ValueOf(s).Elem())
		parts(&s.Step)
		for i := range s.Collectives { // TestNothingAboveItsBound checks runs for that
			c := &s.Collectives[i]
			c.AlgBW, c.BusBW = 3.7e11*c.AlgBW, 3.7e11*c.BusBW
			c.Bound, c.BoundWhy = max(c.Bound, c.BusBW), "its NIC"
		}
		for i := range s.Jobs {
			parts(&s.Jobs[i].Step)
		}
		var b strings.Builder
		report.Text(&b, s)
		fits(t, b.String())
		b.Reset()
		other := &result.Summary{}
		fill(t, reflect.ValueOf(other).Elem())
		report.Compare(&b, "of "+s.Name,
			[]result.Variant{{Label: "one", Runs: []*result.Summary{s}},
				{Label: "other", Runs: []*result.Summary{other}}})
		fits(t, b.String())
		b.Reset()
		report.Algorithms(&b, "of "+s.Name, []result.Variant{
			{Label: "dcqcn", Runs: []*result.Summary{s}, Switch: "ECN", NIC: "CNPs"},
			{Label: "a long name with recovery and all", Runs: []*result.Summary{other}}},
			[]result.Unfit{{Label: "ndp", Why: "ndp needs trimming (switch.trim)"}})
		fits(t, b.String())
		if t.Failed() {
			t.Fatal(b.String())
		}
	})
}
