package parallel

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Every job runs once, never more at a time than workers, nor such as hold more than the budget unless one
// is alone; and nobody waits while a job fits: on a fake clock the last one ends within Graham's bound for
// list scheduling, the work of a worker and the longest job, where memory keeps none apart.
func TestRun(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		workers := rapid.IntRange(1, 6).Draw(rt, "workers")
		budget := rapid.IntRange(0, 100).Draw(rt, "budget")
		least := rapid.SampledFrom([]int{0, 1}).Draw(rt, "least MB") // 0: memory is no matter
		n := rapid.IntRange(0, 30).Draw(rt, "jobs")
		var mu sync.Mutex
		var running, held, ran int
		var wrong string
		jobs := make([]Job, n)
		sum, longest := time.Duration(0), time.Duration(0)
		for i := range jobs {
			took := time.Duration(rapid.IntRange(1, 50).Draw(rt, "seconds")) * time.Second
			mb := least * rapid.IntRange(0, 120).Draw(rt, "MB")
			sum, longest = sum+took, max(longest, took)
			jobs[i] = Job{Seconds: took.Seconds(), MB: mb, Do: func() {
				mu.Lock()
				running, held, ran = running+1, held+mb, ran+1
				if running > workers {
					wrong = "more jobs at a time than workers"
				}
				if held > budget && running > 1 && mb > 0 {
					wrong = "more memory held than the budget"
				}
				mu.Unlock()
				time.Sleep(took)
				mu.Lock()
				running, held = running-1, held-mb
				mu.Unlock()
			}}
		}
		var all time.Duration
		synctest.Test(t, func(*testing.T) {
			began := time.Now()
			Run(jobs, workers, budget)
			all = time.Since(began)
		})
		if wrong != "" || ran != n {
			rt.Fatalf("%s; %d of %d jobs ran", wrong, ran, n)
		}
		if most := sum/time.Duration(workers) + longest; least == 0 && all > most || all > sum {
			rt.Fatalf("took %v of %v work, of %v at most", all, sum, most)
		}
	})
}

// The longest begins first.
func TestLongestFirst(t *testing.T) {
	var order []float64
	var jobs []Job
	for _, s := range []float64{1, 5, 3, 5, 2} {
		jobs = append(jobs, Job{Seconds: s, Do: func() { order = append(order, s) }})
	}
	Run(jobs, 1, 0)
	if !slices.Equal(order, []float64{5, 5, 3, 2, 1}) {
		t.Errorf("order %v", order)
	}
	if jobs[0].Seconds != 1 {
		t.Error("the caller's jobs were reordered")
	}
}

// A job that panics is the caller's panic, with where it was, and jobs that wait do not begin.
func TestRunPassesOnPanics(t *testing.T) {
	began := 0
	defer func() {
		text, _ := recover().(string)
		if !strings.Contains(text, "index out of range") || !strings.Contains(text, "parallel_test.go") {
			t.Errorf("panic %q, want the job's", text)
		}
		if began != 1 {
			t.Errorf("%d jobs began, want 1", began)
		}
	}()
	one := Job{Do: func() { began++; _ = []int{}[began-1] }}
	Run([]Job{one, one, one}, 1, 0)
}
