package explain_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/explain"
	"railyard/internal/result"
	"railyard/internal/whatif"
)

// goal builds a schedule of ranks, each operation of a rank behind others of the same.
type goal struct {
	text strings.Builder
	n    int
}

func (g *goal) add(op string, after ...int) int {
	g.n++
	fmt.Fprintf(&g.text, "l%d: %s\n", g.n, op)
	for _, l := range after {
		fmt.Fprintf(&g.text, "l%d requires l%d\n", g.n, l)
	}
	return g.n
}

// goals is a schedule of all ranks.
func goals(ranks int, of func(g *goal, rank int)) string {
	all := fmt.Sprintf("num_ranks %d\n", ranks)
	for r := range ranks {
		g := &goal{}
		of(g, r)
		all += fmt.Sprintf("rank %d {\n%s}\n", r, g.text.String())
	}
	return all
}

// rings is a training without stages: ranks compute, sum by a ring, and compute at the end.
func rings(ranks, steps, bytes int, compute func(rank, step int) int, end func(rank int) int) string {
	return goals(ranks, func(g *goal, rank int) {
		var last []int
		for step := range steps {
			last = []int{g.add(fmt.Sprintf("calc %d", compute(rank, step)), last...)}
			for k := range 2 * (ranks - 1) {
				tag := 100*step + k
				send := g.add(fmt.Sprintf("send %db to %d tag %d", bytes, (rank+1)%ranks, tag), last...)
				receive := g.add(fmt.Sprintf("recv %db from %d tag %d", bytes, (rank+ranks-1)%ranks, tag), last...)
				last = []int{send, receive}
			}
		}
		if ns := end(rank); ns > 0 {
			g.add(fmt.Sprintf("calc %d", ns), last...)
		}
	})
}

// stages is a pipeline of eight, one forward and one backward pass after the other (1F1B). The first and the last
// compute more: an embedding, a head; backward passes take twice as long.
func stages() string {
	const batches, act = 8, 1_000_000
	took := [8]int{150_000, 100_000, 100_000, 100_000, 100_000, 100_000, 100_000, 200_000}
	last := len(took) - 1
	return goals(len(took), func(g *goal, rank int) {
		before := 0
		pass := func(from, to, tag, ns int) {
			var after []int
			if before > 0 {
				after = []int{before}
			}
			if from >= 0 && from <= last {
				after = append(after, g.add(fmt.Sprintf("recv %db from %d tag %d", act, from, tag)))
			}
			if before = g.add(fmt.Sprintf("calc %d", ns), after...); to >= 0 && to <= last {
				g.add(fmt.Sprintf("send %db to %d tag %d", act, to, tag), before)
			}
		}
		ahead := last - rank // forward passes before the first backward one
		for k := range batches + ahead {
			if k < batches {
				pass(rank-1, rank+1, k, took[rank])
			}
			if k >= ahead {
				pass(rank+1, rank-1, 100+k-ahead, 2*took[rank])
			}
		}
	})
}

// experts is a layer whose experts have unequal tokens, which they receive and compute.
func experts() string {
	const ranks = 8
	tokens := func(to int) int {
		return []int{100_000, 140_000, 90_000, 400_000, 120_000, 100_000, 80_000, 110_000}[to]
	}
	return goals(ranks, func(g *goal, rank int) {
		first := g.add("calc 100000")
		var in []int
		for k := 1; k < ranks; k++ {
			to, from := (rank+k)%ranks, (rank+ranks-k)%ranks
			g.add(fmt.Sprintf("send %db to %d tag 1", tokens(to), to), first)
			in = append(in, g.add(fmt.Sprintf("recv %db from %d tag 1", tokens(rank), from), first))
		}
		g.add(fmt.Sprintf("calc %d", 7*tokens(rank)/4), in...)
	})
}

// ofGoal is the run of a schedule on hosts with one GPU each, with a change.
func ofGoal(t *testing.T, schedule string, hosts int, change *cause.Change, sets ...string) *result.Summary {
	t.Helper()
	s := &whatif.Scenario{Name: "slow.yaml", Sets: sets, Text: fmt.Appendf(nil, `
fabric: {kind: rail, hosts: %d, spines: 1}
server: {gpus: 1, nics: 1}
workload: {trace: {format: goal, files: [slow.goal]}}
`, hosts), Read: func(string) ([]byte, error) { return []byte(schedule), nil }}
	o, err := s.Run(change, whatif.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return o.Summary
}

// TestSlowRank checks what slow ranks cost against simulations in which they compute as long as their siblings: where
// others wait for them, where they end last, and where both happen.
func TestSlowRank(t *testing.T) {
	t.Parallel()
	const ranks, bytes, us = 8, 500_000, 1000
	even := func(int, int) int { return 500 * us }
	none := func(int) int { return 0 }
	one := func(slow, all int) func(int) int {
		return func(rank int) int {
			if rank == 5 {
				return slow * us
			}
			return all * us
		}
	}
	for _, c := range []struct {
		name    string
		steps   int
		compute func(rank, step int) int
		end     func(rank int) int
		like    func(rank int) int // end without slow ranks
		slow    []int32
	}{
		{"others wait", 1, func(r, _ int) int { return one(900, 500)(r) }, none, none, []int32{5}},
		{"each step", 2, func(r, _ int) int { return one(900, 500)(r) }, none, none, []int32{5}},
		{"it ends last", 2, func(r, _ int) int { return one(900, 500)(r) }, one(180, 100), one(100, 100), []int32{5}},
		{"only at the end", 1, even, one(180, 100), one(100, 100), []int32{5}},
		{"hidden in part", 2, func(r, step int) int {
			if r == 5-3*step { // another one in the second step
				return 900 * us
			}
			return 500 * us
		}, none, none, []int32{2, 5}},
		{"the slower one hides the other", 1, func(r, _ int) int { return cmp.Or(map[int]int{4: 900, 5: 890}[r], 500) * us },
			none, none, []int32{4, 5}},
		{"three hide one another", 2, func(r, _ int) int { return []int{890, 900, 880, 500}[min(r, 3)] * us },
			none, none, []int32{1, 0, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			schedule := rings(ranks, c.steps, bytes, c.compute, c.end)
			s := ofGoal(t, schedule, ranks, &cause.Change{})
			without := ofGoal(t, rings(ranks, c.steps, bytes, even, c.like), ranks, &cause.Change{})
			change := cause.SlowRank.Get().Without(nil)
			if edited := ofGoal(t, schedule, ranks, &change); edited.StepTime != without.StepTime {
				t.Errorf("the edit makes the step %d, not %d ps", edited.StepTime, without.StepTime)
			}
			saved, said := s.StepTime-without.StepTime, s.Chain.Costs(cause.SlowRank)
			estimate := s.Chain.Saving[cause.SlowRank]
			if saved <= 0 || 200*abs(said-saved) > s.StepTime || s.Slow != said || estimate != said {
				t.Errorf("%d ps are said to be lost to slow ranks, %d in the step, and %d are saved", said, s.Slow, saved)
			}
			parts := s.Compute + s.ExposedComm + s.Bubble + s.Waiting + s.Slow
			if parts != s.StepTime || s.Chain.Total() != s.StepTime {
				t.Errorf("parts %d, account %d of %d ps", parts, s.Chain.Total(), s.StepTime)
			}
			if d := abs(s.Compute - without.Compute); 200*d > s.StepTime || s.Chain.Costs(cause.LateRank) != 0 {
				t.Errorf("the other parts: %+v, without slow ranks %+v", s.Step, without.Step)
			}
			var named []int32
			for _, x := range s.SlowRanks {
				if named = append(named, x.Rank); x.Compute <= x.Usual {
					t.Errorf("%+v", x)
				}
			}
			if fmt.Sprint(named) != fmt.Sprint(c.slow) {
				t.Errorf("ranks %v are slow, not %v", named, c.slow)
			}
		})
	}
}

// TestNoSlowRank checks work whose ranks compute unlike one another for a reason: ends of a pipeline, experts with more
// tokens, computing that varies everywhere.
func TestNoSlowRank(t *testing.T) {
	t.Parallel()
	vary := rand.New(rand.NewPCG(1, 2))
	for name, schedule := range map[string]string{
		"pipeline": stages(),
		"experts":  experts(),
		"varying": rings(8, 3, 100_000, func(int, int) int { return 500_000 + vary.IntN(200_000) },
			func(int) int { return 0 }),
		"even": rings(8, 2, 100_000, func(int, int) int { return 500_000 }, func(int) int { return 0 }),
	} {
		t.Run(name, func(t *testing.T) {
			s := ofGoal(t, schedule, 8, &cause.Change{})
			if ps := s.Chain.Costs(cause.SlowRank); ps != 0 || s.Slow != 0 || len(s.SlowRanks) > 0 {
				t.Errorf("%d ps of the step, %d in its parts: %+v", ps, s.Slow, s.SlowRanks)
			}
		})
	}
}

// TestWaitForAlike checks that, where half of the ranks or more compute longer than the others, the one that is waited
// for is not the only one: the others are counted. Where all compute as long, none are.
func TestWaitForAlike(t *testing.T) {
	t.Parallel()
	for slow, alike := range map[int]int{4: 3, 5: 4} {
		s := ofGoal(t, rings(8, 2, 100_000, func(rank, _ int) int { return 900_000 - 400_000*((rank+8-slow)/8) },
			func(int) int { return 0 }), 8, &cause.Change{})
		if len(s.WaitedFor) != 1 || s.WaitedFor[0].Alike != alike || len(s.SlowRanks) > 0 {
			t.Errorf("%d of 8: waits for %+v, slow %+v", slow, s.WaitedFor, s.SlowRanks)
		}
	}
	s := ofGoal(t, goals(3, func(g *goal, rank int) { // one after the other
		var after []int
		if rank > 0 {
			after = []int{g.add(fmt.Sprintf("recv 100b from %d tag 1", rank-1))}
		}
		if after = []int{g.add("calc 500000", after...)}; rank < 2 {
			g.add(fmt.Sprintf("send 100b to %d tag 1", rank+1), after...)
		}
	}), 3, &cause.Change{})
	if len(s.WaitedFor) != 2 || s.WaitedFor[0].Alike+s.WaitedFor[1].Alike != 0 {
		t.Errorf("in turn: waits for %+v", s.WaitedFor)
	}
}

// TestSlowRankOfMany checks that a run of too many messages for a replay per cause has what its slow rank costs.
func TestSlowRankOfMany(t *testing.T) {
	schedule := rings(8, 2, 500_000, func(rank, _ int) int { return 500_000 + 400_000*(rank/7) },
		func(int) int { return 0 })
	each := ofGoal(t, schedule, 8, &cause.Change{}, "fidelity=flow")
	defer explain.LimitReplays(1)()
	all := ofGoal(t, schedule, 8, &cause.Change{}, "fidelity=flow")
	parts := all.Compute + all.ExposedComm + all.Bubble + all.Waiting + all.Slow
	if each.Slow == 0 || all.Slow != each.Slow || all.Chain != nil || parts != all.StepTime || len(all.SlowRanks) != 1 {
		t.Errorf("%d ps, with a replay per cause %d; parts %d of %d: %s", all.Slow, each.Slow, parts, all.StepTime,
			all.Unaccounted)
	}
}
