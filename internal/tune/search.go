package tune

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/internal/rng"
)

// Outcome is the result of a candidate's simulation. Smaller is better in all
// three.
type Outcome struct {
	Time  int64  `json:"completion_ps"`
	Pause int64  `json:"pause_ps"` // summed over ports
	Queue int64  `json:"queue_peak_bytes"`
	Marks int64  `json:"ecn_marks"`
	Drops int64  `json:"drops"`
	Error string `json:"error,omitempty"` // the run did not end: no candidate
}

// Trial is a candidate and its outcome. Trial 0 is the scenario as it is.
type Trial struct {
	N         int       `json:"trial"`
	Baseline  bool      `json:"baseline,omitempty"`
	Candidate Candidate `json:"candidate"`
	Outcome   Outcome   `json:"outcome"`
	point     [dims]float64
}

// Generation is the number of candidates that are made at once from what is known. It does not depend on the
// machine, so neither does the search.
const Generation = 8

// first is the number of candidates that are spread evenly before the search follows the front.
const first = 2 * Generation

// Search makes candidates and keeps their results. Candidates are a function of the seed and of the outcomes of
// earlier generations, so an interrupted search continues unchanged.
type Search struct {
	Space  Space
	Seed   uint64
	Trials []Trial // trials in order; the baseline first
}

// Next returns the candidates up to the end of the current generation, at most
// n. The baseline must be there.
func (s *Search) Next(n int) []Trial {
	have := len(s.Trials)
	start := 1 + (have-1)/Generation*Generation
	front := Front(s.Trials[:start])
	var out []Trial
	for k := have; k < min(start+Generation, have+n); k++ {
		r := rng.New(s.Seed, fmt.Sprintf("tune/%d", k))
		t := Trial{N: k}
		if k <= first || len(front) == 0 {
			t.point = s.spread(k)
		} else {
			t.point = mutate(&r, front, s.Space.dims())
		}
		t.Candidate = s.Space.at(t.point)
		out = append(out, t)
	}
	return out
}

// spread is the k-th point of a Latin hypercube: every stratum of every
// dimension is met once within the first candidates.
func (s *Search) spread(k int) (p [dims]float64) {
	for d := range s.Space.dims() {
		r := rng.New(s.Seed, fmt.Sprintf("tune/dimension/%d", d))
		perm := make([]int, first)
		r.Perm(perm)
		j := rng.New(s.Seed, fmt.Sprintf("tune/jitter/%d/%d", k, d))
		p[d] = (float64(perm[(k-1)%first]) + j.Float64()) / first
	}
	return p
}

// mutate takes a member of the front, crosses it with another one half of the
// time, and moves some of its numbers.
func mutate(r *rng.Stream, front []Trial, count int) (p [dims]float64) {
	p = front[r.Intn(len(front))].point
	if other := front[r.Intn(len(front))]; r.Float64() < 0.5 {
		for d := range count {
			if r.Float64() < 0.5 {
				p[d] = other.point[d]
			}
		}
	}
	for d := range count {
		if r.Float64() < 0.4 {
			// Box and Muller
			step := 0.15 * math.Sqrt(-2*math.Log(1-r.Float64())) * math.Cos(2*math.Pi*r.Float64())
			p[d] = min(max(p[d]+step, 0), 1)
		}
	}
	return p
}

// Add keeps a trial.
func (s *Search) Add(t Trial) { s.Trials = append(s.Trials, t) }

// dominates reports whether a is no worse than b in every figure and better in one.
func dominates(a, b *Outcome) bool {
	return a.Time <= b.Time && a.Pause <= b.Pause && a.Queue <= b.Queue &&
		(a.Time < b.Time || a.Pause < b.Pause || a.Queue < b.Queue)
}

// Front returns the trials that no other one dominates, by completion time.
// The baseline and failed runs have no point to search from and are left out.
func Front(trials []Trial) (front []Trial) {
	for i := range trials {
		t := &trials[i]
		if t.Outcome.Error != "" || t.Baseline {
			continue
		}
		beaten := false
		for j := range trials {
			o := &trials[j]
			if j == i || o.Outcome.Error != "" || o.Baseline {
				continue
			}
			same := o.Outcome.Time == t.Outcome.Time && o.Outcome.Pause == t.Outcome.Pause &&
				o.Outcome.Queue == t.Outcome.Queue
			if dominates(&o.Outcome, &t.Outcome) || same && j < i {
				beaten = true
				break
			}
		}
		if !beaten {
			front = append(front, *t)
		}
	}
	slices.SortFunc(front, func(a, b Trial) int {
		return cmp.Or(cmp.Compare(a.Outcome.Time, b.Outcome.Time),
			cmp.Compare(a.Outcome.Pause, b.Outcome.Pause), cmp.Compare(a.N, b.N))
	})
	return front
}

// Tolerance is the share by which the best may be slower than the fastest when it pauses less: differences below it
// are noise of the seed.
const Tolerance = 0.01

// Best is the member of the front to recommend: of those within 1 % of the
// fastest the one that pauses least, then the one with the shortest queue.
func Best(front []Trial) (Trial, bool) {
	if len(front) == 0 {
		return Trial{}, false
	}
	limit := float64(front[0].Outcome.Time) * (1 + Tolerance)
	best := front[0]
	for _, t := range front[1:] {
		if float64(t.Outcome.Time) > limit {
			break
		}
		if cmp.Or(cmp.Compare(t.Outcome.Pause, best.Outcome.Pause),
			cmp.Compare(t.Outcome.Queue, best.Outcome.Queue)) < 0 {
			best = t
		}
	}
	return best, true
}
