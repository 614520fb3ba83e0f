package workload

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/coll"
	"railyard/unit"
)

// ring is an all-reduce among n ranks.
func ring(t testing.TB, ranks int) *DAG {
	t.Helper()
	d, err := RunCollective(ranks, CollectiveRun{Kind: coll.AllReduce, Bytes: unit.MB}, All(ranks))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A single job whose ranks are the GPUs in order is used unchanged.
func TestMixOfOne(t *testing.T) {
	d := ring(t, 4)
	m, err := NewMix(8, Job{Name: "only", DAG: d})
	if err != nil || m.DAG != d || m.Jobs[0].GPUs != 4 || int(m.Jobs[0].Ops[1]) != len(d.Ops) {
		t.Errorf("%+v, %v", m, err)
	}
}

// In a mix each job's operations are contiguous, on its GPUs, with their dependencies, for any order of the jobs.
func TestMixKeepsJobs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "jobs")
		gpus := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).Draw(rt, "gpus")
		var jobs []Job
		for i := range n {
			ranks := rapid.IntRange(2, 3).Draw(rt, "ranks")
			jobs = append(jobs, Job{Name: string(rune('a' + i)), DAG: ring(t, ranks), Place: gpus[:ranks],
				Start: unit.Time(rapid.IntRange(0, 2).Draw(rt, "start")) * unit.Millisecond})
			gpus = gpus[ranks:]
		}
		m, err := NewMix(12, jobs...)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := NewMix(12, rapid.Permutation(jobs).Draw(rt, "order")...)
		if err != nil || !slices.Equal(m.DAG.Ops, again.DAG.Ops) ||
			!slices.Equal(m.DAG.Succ, again.DAG.Succ) {
			rt.Fatalf("another order makes another mix: %v", err)
		}
		for j := range m.Jobs {
			same(rt, m, j)
		}
	})
}

// same fails unless a job in a mix equals the job alone.
func same(rt *rapid.T, m *Mix, j int) {
	p := &m.Jobs[j]
	if int(p.Ops[1]-p.Ops[0]) != len(p.DAG.Ops) || int(p.Colls[1]-p.Colls[0]) != len(p.DAG.Colls) {
		rt.Fatalf("%s has operations %v and collectives %v", p.Name, p.Ops, p.Colls)
	}
	for i := range p.DAG.Ops {
		want, at := p.DAG.Ops[i], p.Ops[0]+int32(i)
		want.Rank, want.Peer = int32(p.Place[want.Rank]), int32(p.Place[want.Peer])
		want.Coll += p.Colls[0]
		if m.DAG.Ops[at] != want || m.Of(at) != j || m.OfCollective(want.Coll) != j {
			rt.Fatalf("%s: operation %d is %+v of job %d, not %+v", p.Name, i, m.DAG.Ops[at], m.Of(at), want)
		}
		succ := m.DAG.Succ[m.DAG.First[at]:m.DAG.First[at+1]]
		for k, s := range p.DAG.Succ[p.DAG.First[i]:p.DAG.First[i+1]] {
			if succ[k] != p.Ops[0]+s {
				rt.Fatalf("%s: operation %d is followed by %v", p.Name, i, succ)
			}
		}
	}
}

// Incompatible jobs are rejected with their names.
func TestMixRefuses(t *testing.T) {
	d := ring(t, 2)
	for want, jobs := range map[string][]Job{
		"the scenario has no job": nil,
		`two jobs are called "a"`: {{Name: "a", DAG: d},
			{Name: "a", DAG: d, Place: []int{2, 3}}},
		`jobs "a" and "b" are both on GPU 1`: {{Name: "a", DAG: d},
			{Name: "b", DAG: d, Place: []int{1, 2}}},
		`ranks 0 and 1 of job "a" are both on GPU 3`:  {{Name: "a", DAG: d, Place: []int{3, 3}}},
		`rank 1 of job "a" is on GPU 4; there are 4`:  {{Name: "a", DAG: d, Place: []int{3, 4}}},
		`job "a" has 2 ranks and places for 1`:        {{Name: "a", DAG: d, Place: []int{3}}},
		`job "a" has 5 ranks and places for 4`:        {{Name: "a", DAG: ring(t, 5)}},
		`job "a" starts at -1us, before the run does`: {{Name: "a", DAG: d, Start: -unit.Microsecond}},
	} {
		if _, err := NewMix(4, jobs...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}
