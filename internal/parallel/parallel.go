package parallel

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
)

// Job is a piece of work.
type Job struct {
	Seconds float64 // time on one processor, approximate
	MB      int     // held while it runs, about
	Do      func()
}

// Run executes jobs on a number of workers, and returns when all are done. The longest jobs begin first, so that no
// worker ends long after the others. A job waits while it and the running jobs together would hold more than the
// budget. One that alone holds more runs when no other does. A panic of a job is one of Run's, once all running
// jobs are done.
func Run(jobs []Job, workers, budgetMB int) {
	q := queue{free: budgetMB, waiting: slices.Clone(jobs)}
	q.changed.L = &q.mu
	slices.SortStableFunc(q.waiting, func(a, b Job) int { return cmp.Compare(b.Seconds, a.Seconds) })
	var all sync.WaitGroup
	for range min(workers, len(jobs)) {
		all.Go(func() {
			for job, ok := q.take(); ok; job, ok = q.take() {
				q.do(job)
			}
		})
	}
	all.Wait()
	if q.panicked != "" {
		panic(q.panicked)
	}
}

type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []Job // longest first
	running int
	free    int // MB; below 0 while one runs that holds more than the budget

	panicked string // the first panic, and where
}

// take removes the longest job that fits, when one does; ok is false when none is left.
func (q *queue) take() (job Job, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) > 0 {
		i := slices.IndexFunc(q.waiting, func(j Job) bool { return j.MB <= q.free })
		if i < 0 && q.running == 0 {
			i = 0
		}
		if i >= 0 {
			job = q.waiting[i]
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.running, q.free = q.running+1, q.free-job.MB
			return job, true
		}
		q.changed.Wait()
	}
	return Job{}, false
}

// do does a job. After one that panics no other begins.
func (q *queue) do(job Job) {
	defer func() {
		failed := recover()
		q.mu.Lock()
		defer q.mu.Unlock()
		if failed != nil && q.panicked == "" {
			q.waiting, q.panicked = nil, fmt.Sprintf("%v\n%s", failed, debug.Stack())
		}
		q.running, q.free = q.running-1, q.free+job.MB
		q.changed.Broadcast()
	}()
	job.Do()
}
