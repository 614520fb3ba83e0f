package validate

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestOwnFault checks which runs without the cause are doubtful judges. They are those that have a kind of fault
// which the run with the cause lacks, even once. More faults of a kind that both runs have do not count.
func TestOwnFault(t *testing.T) {
	run := func(timeouts, again, trims int64) *result.Summary {
		return &result.Summary{Timeouts: timeouts, Retransmissions: again, Trims: trims}
	}
	for _, c := range []struct {
		with, without *result.Summary
		doubt         bool
	}{
		{run(0, 0, 0), run(0, 0, 0), false},
		{run(0, 5, 0), run(1, 5, 0), true},
		{run(1, 5, 0), run(90, 700, 0), false},
		{run(0, 0, 0), run(0, 1, 0), true},
		{run(0, 1, 0), run(0, 9, 0), false},
		{run(0, 20, 20), run(0, 30, 30), false},
		{run(0, 20, 20), run(0, 30, 29), true},
	} {
		if got := ownFault(c.with, c.without); (got != "") != c.doubt {
			t.Errorf("%d/%d/%d, without %d/%d/%d: %q", c.with.Timeouts, c.with.Retransmissions, c.with.Trims,
				c.without.Timeouts, c.without.Retransmissions, c.without.Trims, got)
		}
	}
}

// TestUndecided checks savings of runs that differ in the length of cables. They judge an account if one figure
// agrees with all of them, whatever the account is. The tolerance is 2 % of the step, here 20, or 20 % of the
// saving.
func TestUndecided(t *testing.T) {
	const step = 1000
	for _, c := range []struct {
		saved []int64 // the last one counts
		doubt bool
		said  map[int64]string
	}{
		{[]int64{100}, false, map[int64]string{100: Agrees, 121: Over, 79: Under}},
		{[]int64{130, 90, 100}, false, map[int64]string{120: Agrees, 130: Over}},
		{[]int64{151, 100}, true, nil},
		{[]int64{500, 350}, false, map[int64]string{410: Agrees}},
		{[]int64{500, 300}, true, nil},
		{[]int64{-500, 5}, true, nil},
		{[]int64{10, -5, -20}, false, map[int64]string{0: Agrees, 1: Over}},
		{[]int64{-30, -5, -20}, false, map[int64]string{1: WrongSign}},
		{[]int64{-500, -400}, true, nil},
	} {
		if got := undecided(step, c.saved); (got != "") != c.doubt {
			t.Errorf("%v: %q", c.saved, got)
		}
		for said, want := range c.said {
			if got := verdict(step, said, c.saved); got != want {
				t.Errorf("%d said of %v: %s, want %s", said, c.saved, got, want)
			}
		}
	}
}

// TestOutage checks that a run without the window limit is also without the failures that lost packets: larger windows
// would lose more packets before routes change, and the run would take longer.
func TestOutage(t *testing.T) {
	t.Parallel()
	j := JudgeRandom(314159, 130, false)
	if j.Cause != cause.Window.Get().Name || j.Verdict != Agrees {
		t.Errorf("%s (%s) saves %d of %d ps, %d by the account: %s", j.Cause, j.Without, j.Saved, j.Step, j.Blamed,
			j.Verdict)
	}
}

// TestRepeated checks that a saving is in doubt if it depends on 10 cm of cable or on which packets bit errors hit.
// Another saving is judged.
func TestRepeated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seed   uint64
		number int
		doubt  bool
	}{{2076, 29, true}, {2076, 0, false}, {24601, 249, true}, {24601, 9, false}} {
		j := JudgeRandom(c.seed, c.number, false)
		if len(j.Repeated) != blameRepeats || (j.Doubt != "") != c.doubt {
			t.Errorf("number %d of seed %d saves %d of %d ps, repeated %d: %q", c.number, c.seed, j.Saved, j.Step,
				j.Repeated, j.Doubt)
		}
	}
}
