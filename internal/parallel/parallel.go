package parallel

import (
	"cmp"
	"slices"
	"sync"
)

// Job is a piece of work.
type Job struct {
	Seconds float64 // of one processor, about
	MB      int     // held while it runs, about
	Do      func()
}

// Run does jobs with so many workers, and returns when all are done. Those that take longest begin first, so
// that no worker ends long after the others; a job waits while those that run and it would together hold more
// than the budget. One that alone holds more runs when no other does.
func Run(jobs []Job, workers, budgetMB int) {
	q := queue{free: budgetMB, waiting: slices.Clone(jobs)}
	q.changed.L = &q.mu
	slices.SortStableFunc(q.waiting, func(a, b Job) int { return cmp.Compare(b.Seconds, a.Seconds) })
	var all sync.WaitGroup
	for range min(workers, len(jobs)) {
		all.Go(func() {
			for job, ok := q.take(); ok; job, ok = q.take() {
				job.Do()
				q.done(job)
			}
		})
	}
	all.Wait()
}

type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []Job // longest first
	running int
	free    int // MB; below 0 while one runs that holds more than the budget
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

func (q *queue) done(job Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running, q.free = q.running-1, q.free+job.MB
	q.changed.Broadcast()
}
