package days

import (
	"testing"
	"time"

	"railyard/internal/goodput"
)

// TestOptimum: a job at Daly's interval is at its optimum, and one at twenty times that is not. The gain of
// asynchronous checkpoints equals that of the same question with --async, if it is half a percent or more.
func TestOptimum(t *testing.T) {
	t.Parallel()
	ask := func(change func(*Question)) (*Question, goodput.Input, Report) {
		q := flags()
		q.GPUs, q.Days, q.Storage = 16384, 30, "20GB/s"
		change(&q)
		in, r, err := q.Input(unsimulated(t))
		if err != nil {
			t.Fatal(err)
		}
		if r.Result, err = goodput.Run(in, nil); err != nil {
			t.Fatal(err)
		}
		return &q, in, r
	}
	q, in, r := ask(func(*Question) {})
	if !r.AtOptimum() {
		t.Errorf("every %s is no optimum", Brief(r.Chosen.Interval))
	}
	other, ok := q.Asynchronous(in, &r)
	if !ok {
		t.Fatalf("no gain: %+v", r.Chosen)
	}
	x, err := goodput.Run(other, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Compare(&other, x)
	if _, _, want := ask(func(q *Question) { q.Async = true }); r.Other == nil ||
		r.Other.Effective != want.Chosen.Effective.Mean || r.Other.Stall != 5 {
		t.Errorf("%+v, with --async %+v", r.Other, want.Chosen)
	}
	rare := 20 * time.Duration(r.Daly*float64(time.Second)).Truncate(time.Second)
	_, _, r = ask(func(q *Question) { q.Interval = rare })
	if r.AtOptimum() {
		t.Errorf("every %s is an optimum", Brief(r.Chosen.Interval))
	}
	q, in, r = ask(func(q *Question) { q.GPUs, q.Storage = 64, "1TB/s" })
	if _, ok := q.Asynchronous(in, &r); ok {
		t.Errorf("a write of %g s gains", r.Write)
	}
}

// TestUseless checks that asynchronous checkpoints gain nothing if their snapshot lasts as long as the write.
func TestUseless(t *testing.T) {
	t.Parallel()
	for storage, want := range map[string]bool{"100GB/s": false, "200GB/s": true, "1TB/s": true} {
		for _, async := range []bool{true, false} {
			q := flags()
			q.Async, q.Storage = async, storage
			if _, r, err := q.Input(unsimulated(t)); err != nil || r.Useless() != (async && want) {
				t.Errorf("%s, async %t: %v, a write of %g s, a stall of %g s", storage, async, err, r.Write, r.Stall)
			}
		}
	}
}
