package exec

import (
	"testing"

	"railyard/internal/workload"
	"railyard/unit"
)

// job is a computation and a transfer to a GPU of another server.
func job(t testing.TB, name string, start unit.Time, place ...int) workload.Job {
	b := workload.NewBuilder(2)
	b.Transfer(0, 1, unit.MB, b.Compute(0, 10*us, workload.Forward))
	return workload.Job{Name: name, DAG: seal(t, b), Start: start, Place: place}
}

// together executes jobs over a wire and returns when each ended, by name.
func together(t testing.TB, jobs ...workload.Job) map[string]unit.Time {
	t.Helper()
	w := &wire{rate: rate, latency: lat, free: map[int]unit.Time{}}
	m := machine(4)
	mix, err := workload.NewMix(len(m.Server), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	w.x = New(w, m, mix)
	w.run()
	ends := map[string]unit.Time{}
	for _, p := range mix.Jobs {
		for i := p.Ops[0]; i < p.Ops[1]; i++ {
			ends[p.Name] = max(ends[p.Name], w.x.End[i])
		}
	}
	if !w.x.Done() || w.x.Computing != 0 {
		t.Errorf("%d left", w.x.Left)
	}
	return ends
}

// Jobs start at their times, run on their GPUs, and do not affect each other.
func TestJobs(t *testing.T) {
	alone := 10*us + lat + unit.Serialize(unit.MB, rate)
	a, b, c := job(t, "a", 0, 0, 2), job(t, "b", 7*us, 4, 6), job(t, "c", 0, 1, 3)
	for _, jobs := range [][]workload.Job{{a, b, c}, {c, b, a}, {b}} {
		for name, end := range together(t, jobs...) {
			want := alone
			if name == "b" {
				want += 7 * us
			}
			if end != want {
				t.Errorf("%d jobs: %s ended at %v, not %v", len(jobs), name, end, want)
			}
		}
	}
}

// A job that has not started waits for no transfer.
func TestNotBegun(t *testing.T) {
	d := workload.NewBuilder(2)
	d.Transfer(0, 1, unit.MB)
	m := machine(2)
	mix, err := workload.NewMix(len(m.Server), workload.Job{DAG: seal(t, d), Place: []int{0, 2}, Start: us})
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{rate: rate, latency: lat, free: map[int]unit.Time{}}
	w.x = New(w, m, mix)
	w.x.Begin()
	if w.x.Waiting() >= 0 || w.x.Computing != 1 {
		t.Errorf("waits for %d before it begins", w.x.Waiting())
	}
}
