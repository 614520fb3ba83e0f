package jetstream

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"railyard/internal/study/sweep"
)

var (
	schedules = flag.Int("schedules", 60, "schedules of faults that TestProtocol draws")
	first     = flag.Uint64("schedule", 1, "the first of them")
	most      = flag.Int("most-workers", 24, "workers of a schedule, at most")
)

// now is the world's time.
func now() time.Time { return time.Now() }

func later(d time.Duration) <-chan time.Time { return time.After(d) }

// book is a ledger in memory that several drivers use one after another.
type book struct {
	mu      sync.Mutex
	bundle  *sweep.Bundle
	records map[string]*sweep.Record
	taken   map[string]int
	left    map[string]bool
	text    []byte // document of the tasks
}

func (b *book) Bundles() map[string]*sweep.Bundle {
	return map[string]*sweep.Bundle{b.bundle.Digest(): b.bundle}
}

func (b *book) Task(t *sweep.Trial) sweep.Task {
	return sweep.Task{Trial: t.ID.String(), Bundle: b.bundle.Digest(), Document: b.text}
}

func (b *book) Take(t *sweep.Trial, r *sweep.Record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken[t.ID.String()]++
	b.records[t.ID.String()] = r
	return nil
}

func (b *book) Leave(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left[strings.TrimSuffix(strings.Fields(why.Error())[1], ":")] = true
}

// figure is the result of a trial, for any worker.
func figure(trial string) float64 {
	b, err := hex.DecodeString(trial)
	if err != nil {
		panic(err)
	}
	return float64(b[0]) + 256*float64(b[1])
}

// schedule is one course of a study: its actions and its outcome.
type schedule struct {
	*world
	book    *book
	list    []*sweep.Trial
	poison  map[string]bool
	limit   time.Duration
	drivers int
	killed  int
	stalled int
}

// TestProtocol runs the real code of driver, server and workers over schedules of faults. Workers join, are killed,
// and are stopped for minutes. Requests, answers, acknowledgements and notices are lost or late, records arrive
// twice, and clocks have other rates. The server restarts and forgets its last writes, the driver is killed and
// replaced, and one trial ends every worker that simulates it. Every trial is stored once, with its one result, or
// is counted as set aside; and the study ends.
func TestProtocol(t *testing.T) {
	var sum schedule
	sum.world = &world{}
	for n := range *schedules {
		seed := *first + uint64(n)
		synctest.Test(t, func(t *testing.T) {
			s := draw(seed)
			took := s.course(t, seed)
			if took > s.limit {
				t.Errorf("-schedule %d: the study takes %v", seed, took)
			}
			s.check(t, seed)
			sum.restarts, sum.lost, sum.twice = sum.restarts+s.restarts, sum.lost+s.lost, sum.twice+s.twice
			sum.exhausted, sum.drivers = sum.exhausted+s.exhausted, sum.drivers+s.drivers
			sum.killed, sum.stalled = sum.killed+s.killed, sum.stalled+s.stalled
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d schedules: %d workers killed, %d stopped; %d restarts of the server, %d trials lost by it; "+
		"%d records twice, %d trials delivered as often as may be, %d drivers", *schedules, sum.killed, sum.stalled,
		sum.restarts, sum.lost, sum.twice, sum.exhausted, sum.drivers)
	if *schedules >= 60 && min(sum.killed, sum.stalled, sum.restarts, sum.lost, sum.twice, sum.exhausted) == 0 {
		t.Error("a kind of fault did not happen")
	}
}

// draw draws a schedule.
func draw(seed uint64) *schedule {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &schedule{world: newWorld(seed, []float64{0, 0.01, 0.1}[rng.IntN(3)]), poison: map[string]bool{},
		limit: 24 * time.Hour, book: &book{bundle: &sweep.Bundle{Path: "s.yaml"}, records: map[string]*sweep.Record{},
			taken: map[string]int{}, left: map[string]bool{}}}
	for range 1 + rng.IntN(40) {
		t := &sweep.Trial{}
		for i := range t.ID {
			t.ID[i] = byte(rng.Uint32())
		}
		s.list = append(s.list, t)
		if rng.IntN(40) == 0 {
			s.poison[t.ID.String()] = true
		}
	}
	return s
}

// course runs the study until a driver ends by itself, and returns its duration.
func (s *schedule) course(t *testing.T, seed uint64) time.Duration {
	began := time.Now()
	all, stop := context.WithCancel(context.Background())
	rng := rand.New(rand.NewPCG(seed, 2))
	var group sync.WaitGroup
	for range 1 + rng.IntN(*most) {
		group.Go(func() { s.worker(all, time.Duration(s.draw(int64(2*time.Minute)))) })
	}
	group.Go(func() { // faults
		for all.Err() == nil {
			pause(all, time.Duration(s.draw(int64(10*time.Minute))))
			if s.draw(4) == 0 && all.Err() == nil {
				s.restart()
			}
		}
	})
	for kills := rng.IntN(3); ; kills-- {
		one, kill := context.WithTimeout(all, s.limit)
		e := &end{world: s.world, slow: 1}
		if kills > 0 {
			group.Go(func() {
				pause(one, time.Duration(s.draw(int64(5*time.Minute))))
				s.mu.Lock()
				e.dead = true
				s.mu.Unlock()
				kill()
			})
		}
		var todo []*sweep.Trial
		for _, trial := range s.list {
			if id := trial.ID.String(); s.book.records[id] == nil && !s.book.left[id] {
				todo = append(todo, trial)
			}
		}
		s.drivers++
		var err error
		if len(todo) > 0 {
			err = newDrive(e, "s", s.book, func() {}).run(one, todo)
		}
		ended := one.Err() == nil
		kill()
		if ended && err == nil || time.Since(began) > s.limit {
			break
		}
		if ended && !errors.Is(err, errFault) {
			t.Errorf("-schedule %d: driver: %v", seed, err)
			break
		}
	}
	took := time.Since(began)
	stop()
	group.Wait()
	time.Sleep(time.Hour) // messages still in flight
	return took
}

// draw draws a number with the world's generator.
func (s *schedule) draw(n int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rng.Int64N(n)
}

// worker joins after a while. Its process is sometimes killed or stopped, and another one begins.
func (s *schedule) worker(all context.Context, joins time.Duration) {
	pause(all, joins)
	for all.Err() == nil {
		e := &end{world: s.world, slow: 1 + float64(s.draw(100))/100}
		ctx, kill := context.WithCancel(all)
		die := func() {
			s.mu.Lock()
			e.dead = true
			s.killed++
			s.mu.Unlock()
			kill()
		}
		w := &Worker{broker: e}
		w.perform = func(ctx context.Context, _ *sweep.Bundle, t *sweep.Task) (*sweep.Record, error) {
			takes := time.Duration(s.draw(int64(time.Minute)))
			if s.draw(10) == 0 {
				takes *= 10
			}
			pause(ctx, takes)
			switch {
			case s.poison[t.Trial]:
				die()
			case s.draw(50) == 0:
				die()
			case s.draw(50) == 0: // stopped, together with its heartbeats
				s.mu.Lock()
				e.stopped = time.Now().Add(10 * time.Minute)
				s.stalled++
				s.mu.Unlock()
				pause(ctx, 10*time.Minute)
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return &sweep.Record{Trial: t.Trial, Status: sweep.Done,
				Figures: map[string]float64{"x": figure(t.Trial)}}, nil
		}
		_ = w.run(ctx, 1+int(s.draw(2)))
		kill()
		pause(all, time.Duration(s.draw(int64(time.Minute))))
	}
}

// check compares the stored records with the trials.
func (s *schedule) check(t *testing.T, seed uint64) {
	for _, trial := range s.list {
		id := trial.ID.String()
		r := s.book.records[id]
		switch {
		case s.book.left[id] != (r == nil):
			t.Errorf("-schedule %d: trial %s is stored: %v, set aside: %v", seed, id, r != nil, s.book.left[id])
		case r != nil && (s.book.taken[id] != 1 || fmt.Sprint(r.Figures["x"]) != fmt.Sprint(figure(id))):
			t.Errorf("-schedule %d: trial %s is stored %d times, as %v", seed, id, s.book.taken[id], r.Figures)
		case r != nil && s.poison[id]:
			t.Errorf("-schedule %d: trial %s ends every worker, and is stored", seed, id)
		}
	}
}
