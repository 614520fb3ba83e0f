package tune

import (
	"math"
	"slices"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

var space = Space{Largest: 16 * unit.MB, Line: 400 * unit.Gbps, DCQCN: true}

// Every point of the search keeps xON < WRED min < WRED max < xOFF.
func TestCandidatesKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var p [dims]float64
		for d := range p {
			p[d] = rapid.Float64Range(0, 1).Draw(rt, "p")
		}
		s := space
		s.Largest = unit.Bytes(rapid.IntRange(100_000, 64_000_000).Draw(rt, "largest"))
		c := s.at(p)
		if err := c.Check(); err != nil || c.Probability < 1 || c.Probability > 100 ||
			c.XOff > s.Largest+unit.KB || c.AI <= 0 || c.RateTimer <= 0 || c.AlphaTimer <= 0 || c.G <= 0 ||
			c.G > 1 {
			rt.Fatalf("%+v: %v", c, err)
		}
	})
}

// judge is a stand-in for the simulator with a known best: short queues cost
// time, long ones too, and a low xOFF pauses.
func judge(c Candidate) Outcome {
	off := math.Abs(math.Log(float64(c.WREDMax) / 500_000))
	return Outcome{Time: int64(1e9 * (1 + off)), Pause: int64(1e12 / float64(c.XOff)),
		Queue: int64(c.WREDMax)}
}

func run(s *Search, n int) {
	if len(s.Trials) == 0 {
		s.Add(Trial{Baseline: true, Outcome: Outcome{Time: 9e9}})
	}
	for len(s.Trials) < n {
		for _, t := range s.Next(n - len(s.Trials)) {
			t.Outcome = judge(t.Candidate)
			s.Add(t)
		}
	}
}

// The front holds what nothing dominates, and the search finds better members
// than spreading points evenly does.
func TestFrontAndProgress(t *testing.T) {
	s := &Search{Space: space, Seed: 1}
	run(s, 200)
	front := Front(s.Trials)
	for _, a := range front {
		for _, b := range s.Trials {
			if !b.Baseline && dominates(&b.Outcome, &a.Outcome) {
				t.Errorf("trial %d dominates %d of the front", b.N, a.N)
			}
		}
	}
	if !slices.IsSortedFunc(front, func(a, b Trial) int { return int(a.Outcome.Time - b.Outcome.Time) }) {
		t.Error("the front is not in order")
	}
	early := Front(s.Trials[:first+1])
	if front[0].Outcome.Time >= early[0].Outcome.Time || front[0].Outcome.Time > 1.02e9 {
		t.Errorf("the best takes %d after 200 trials, %d after %d; the optimum is 1e9",
			front[0].Outcome.Time, early[0].Outcome.Time, first)
	}
	best, ok := Best(front)
	if !ok || best.Outcome.Time > int64(1.01*float64(front[0].Outcome.Time)) {
		t.Errorf("best %+v", best)
	}
	if _, ok := Best(nil); ok {
		t.Error("an empty front has a best")
	}
}

// Runs that did not end are on no front.
func TestFailedTrials(t *testing.T) {
	list := []Trial{{N: 0, Baseline: true}, {N: 1, Outcome: Outcome{Error: "stuck"}},
		{N: 2, Outcome: Outcome{Time: 5}}, {N: 3, Outcome: Outcome{Time: 5}}}
	if f := Front(list); len(f) != 1 || f[0].N != 2 {
		t.Errorf("%+v", f)
	}
}

// Knobs of another congestion control stay between their ends, with three digits, and DCQCN's search is not
// another for them.
func TestKnobs(t *testing.T) {
	s := Space{Largest: 16 * unit.MB, Line: 400 * unit.Gbps}
	s.Knobs[0], s.Knobs[1] = Knob{"beta", 0.2, 1}, Knob{"base_target", 5e6, 80e6}
	search := &Search{Space: s, Seed: 3}
	run(search, 60)
	low, high := 1.0, 0.0
	for _, x := range search.Trials[1:] {
		k := x.Candidate.Knobs
		if k[0] < 0.2 || k[0] > 1 || k[1] < 5e6 || k[1] > 80e6 || k[2] != 0 || x.Candidate.AI != 0 {
			t.Fatalf("%+v", x.Candidate)
		}
		if math.Abs(k[0]*1000-math.Round(k[0]*1000)) > 1e-9 {
			t.Errorf("beta %v", k[0])
		}
		low, high = min(low, k[0]), max(high, k[0])
	}
	if low > 0.25 || high < 0.8 {
		t.Errorf("beta was tried from %v to %v", low, high)
	}
}
