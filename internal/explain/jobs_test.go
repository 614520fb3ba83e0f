package explain_test

import (
	"reflect"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/internal/workload"
	"railyard/unit"
)

// Two leafs of four servers with a GPU each, and one cable from each to the spine.
const twoLeafs = `
name: jobs
fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 1B}}}
`

// ringOn computes for a while and is an all-reduce among GPUs then.
func ringOn(name string, start unit.Time, gpus ...int) workload.Job {
	b := workload.NewBuilder(len(gpus))
	ranks := make([]int, len(gpus))
	var ready []int32
	for i := range gpus {
		ranks[i] = i
		ready = append(ready, b.Compute(i, 100*unit.Microsecond, workload.Forward))
	}
	b.Collective(workload.Collective{Name: "sum", Kind: coll.AllReduce, Class: workload.DataParallel,
		Bytes: 4 * unit.MB,
		Ranks: ranks, By: coll.ByRing}, func() {
		last := ready
		for range 2 * (len(gpus) - 1) {
			next := make([]int32, len(gpus))
			for i := range gpus {
				to := (i + 1) % len(gpus)
				next[to] = b.Transfer(i, to, 4*unit.MB/unit.Bytes(len(gpus)), last[i])
			}
			last = next
		}
	})
	d, err := b.Seal()
	if err != nil {
		panic(err)
	}
	return workload.Job{Name: name, DAG: d, Start: start, Place: gpus}
}

// sideBySide runs jobs on one fabric and returns what is said of each, by name.
func sideBySide(t *testing.T, jobs ...workload.Job) (map[string]result.Job, *result.Summary, *result.Tables) {
	t.Helper()
	p := load(t, twoLeafs).Plan
	p.Jobs = jobs
	r, err := sim.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	said := map[string]result.Job{}
	for _, j := range s.Jobs {
		said[j.Name] = j
		parts := j.Compute + j.ExposedComm + j.Waiting
		if parts != j.StepTime || j.End-j.Start != j.StepTime || !j.Complete {
			t.Errorf("%s: parts make %d: %+v", j.Name, parts, j)
		}
		if c := j.Chain; c.Total() != j.StepTime {
			t.Errorf("%s: the chain is %d of %d: %+v", j.Name, c.Total(), j.StepTime, c)
		}
	}
	if parts := s.Compute + s.ExposedComm + s.Waiting; parts != s.StepTime || s.Chain.Total() != s.StepTime {
		t.Errorf("the run's parts make %d, its chain %d, it took %d", parts, s.Chain.Total(), s.StepTime)
	}
	if len(said) != len(jobs) {
		t.Errorf("%d jobs are said of %d", len(said), len(jobs))
	}
	return said, s, tab
}

// What is said of a job is the same whether it runs alone or beside one that it does not
// meet, whenever it starts and in whatever order jobs are given.
func TestJobsApart(t *testing.T) {
	a, b := ringOn("a", 0, 0, 1, 2, 3), ringOn("b", 0, 4, 5, 6, 7)
	one, _, _ := sideBySide(t, a)
	two, s, _ := sideBySide(t, a, b)
	x, y := one["a"], two["a"]
	if *x.Chain != *y.Chain || x.GPUs != 4 {
		t.Errorf("alone %+v, beside another %+v", x.Chain, y.Chain)
	}
	if x.Chain, y.Chain = nil, nil; !reflect.DeepEqual(x, y) {
		t.Errorf("alone %+v, beside another %+v", x, y)
	}
	if s.Collectives[0].Job == "" || len(s.Collectives) != 2 || s.Collectives[0].Count != 1 {
		t.Errorf("collectives of two jobs in %+v", s.Collectives)
	}
	other, _, _ := sideBySide(t, b, a)
	if x, y := two["b"], other["b"]; x.StepTime != y.StepTime || x.Flows != y.Flows {
		t.Errorf("the order of jobs counts: %+v, %+v", x, y)
	}
	late, s, _ := sideBySide(t, a, ringOn("b", unit.Millisecond, 4, 5, 6, 7))
	if x, y := two["b"], late["b"]; x.StepTime != y.StepTime || y.Start != int64(unit.Millisecond) ||
		x.Flows != y.Flows {
		t.Errorf("at once %+v, later %+v", x, y)
	}
	if s.StepTime != late["b"].End || s.Jobs[0].Name != "a" {
		t.Errorf("the run ends at %d, its last job at %d", s.StepTime, late["b"].End)
	}
}

// Jobs that share a cable are slower by what the other sends over it, and it is blamed on that.
func TestJobsMeet(t *testing.T) {
	x, y := ringOn("x", 0, 0, 1, 4, 5), ringOn("y", 0, 2, 3, 6, 7)
	one, _, _ := sideBySide(t, x)
	two, _, tab := sideBySide(t, x, y)
	if two["x"].StepTime <= one["x"].StepTime {
		t.Errorf("alone %d, with another on the cable %d", one["x"].StepTime, two["x"].StepTime)
	}
	blamed := func(j result.Job) int64 {
		c := j.Chain
		return c.Of(cause.Oversubscription) + c.Of(cause.Collision) + c.Of(cause.Recovering) + c.Of(cause.Incast)
	}
	if blamed(two["x"]) <= blamed(one["x"]) {
		t.Errorf("alone %+v, with another %+v", one["x"].Chain, two["x"].Chain)
	}
	rows := map[string]int{}
	for _, f := range tab.Flows {
		rows["flow "+f.Job]++
	}
	for _, o := range tab.Ranks {
		rows["rank "+o.Job]++
	}
	// Six steps of four messages; each rank computes once and takes part in the sum.
	for what, n := range map[string]int{"flow x": 24, "flow y": 24, "rank x": 8, "rank y": 8} {
		if rows[what] != n {
			t.Errorf("%d rows of %s, not %d", rows[what], what, n)
		}
	}
	for _, c := range tab.Collectives {
		rows[c.Job]++
		if c.Lost.Of(cause.LineRate) > c.End-c.Start || gapParts(c)+c.Lost.Of(cause.LineRate) != c.End-c.Start {
			t.Errorf("%+v", c)
		}
	}
	if rows["x"] != 1 || rows["y"] != 1 {
		t.Errorf("collectives by job: %v", rows)
	}
}

// Where jobs met is the cables that carried both, when both had something under way, and as many bytes as
// each sent meanwhile: all of them, where it was as long as they ran. Jobs apart met nowhere, nor do
// jobs that follow one another.
func TestWhereJobsMeet(t *testing.T) {
	x, y := ringOn("x", 0, 0, 1, 4, 5), ringOn("y", 0, 2, 3, 6, 7)
	_, s, _ := sideBySide(t, x, y)
	// one edge of either ring goes up at each leaf and down at the other
	if len(s.Meetings) != 4 {
		t.Fatalf("%+v", s.Meetings)
	}
	for _, m := range s.Meetings {
		if m.From < int64(100*unit.Microsecond) || m.To > s.StepTime || m.Together > m.To-m.From ||
			len(m.Jobs) != 2 || m.Jobs[0].Job != "x" || m.Load < 0.5 || m.Load > 1 {
			t.Errorf("%+v", m)
		}
		for _, j := range m.Jobs { // six transfers of 1 MB, and headers
			if j.Bytes < int64(5*unit.MB) || j.Bytes > int64(6300*unit.KB) {
				t.Errorf("%s: %s sent %d bytes", m.Port, j.Job, j.Bytes)
			}
		}
	}
	for name, jobs := range map[string][]workload.Job{
		"apart":           {ringOn("a", 0, 0, 1, 2, 3), ringOn("b", 0, 4, 5, 6, 7)},
		"one after other": {x, ringOn("y", 20*unit.Millisecond, 2, 3, 6, 7)},
		"one":             {x},
	} {
		if _, s, _ := sideBySide(t, jobs...); len(s.Meetings) != 0 {
			t.Errorf("%s: %+v", name, s.Meetings)
		}
	}
}
