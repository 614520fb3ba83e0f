package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"railyard/internal/study/sweep"
)

// world is a broker with faults, in simulated time that only advances while all wait (testing/synctest). Its rules
// are those of JetStream's work queues. A message that is not acknowledged within silence of its delivery or last
// heartbeat is delivered again, at most tries times. It then stays in the queue, and a notice of that may be lost.
type world struct {
	mu      sync.Mutex
	rng     *rand.Rand
	loss    float64   // probability of loss: of requests, of answers, and of messages without an answer
	down    time.Time // until then the server does not answer
	trials  []*message
	records []*message
	bundles map[string][]byte
	made    bool
	added   chan struct{} // closed, and replaced, when a record is added

	restarts, lost, twice, exhausted int
}

// message is a message of a queue.
type message struct {
	data  []byte
	times int       // delivered
	free  time.Time // when it may be delivered again
	out   bool      // acknowledged or deleted
}

var errFault = errors.New("no answer")

func newWorld(seed uint64, loss float64) *world {
	return &world{rng: rand.New(rand.NewPCG(seed, 0)), loss: loss, bundles: map[string][]byte{},
		added: make(chan struct{})}
}

func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

// span draws a time.
func (w *world) span(most time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(int64(most)))
}

// restart ends the server for a while; it may forget its last writes.
func (w *world) restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.restarts++
	w.down = now().Add(w.span(time.Minute))
	if !w.chance(0.3) || len(w.trials) == 0 {
		return
	}
	m := w.trials[w.rng.IntN(len(w.trials))]
	if !m.out {
		m.out = true
		w.lost++
	}
}

// end is one side's connection: a process that may be killed, or stopped for a while.
type end struct {
	*world
	dead    bool
	stopped time.Time
	slow    float64 // its clock's rate, by which its heartbeats are late
}

// call is a request. It takes a while, may be lost, and its answer may be lost.
func (e *end) call(ctx context.Context, do func()) error {
	e.mu.Lock()
	wait, lost, unanswered := e.span(50*time.Millisecond), e.chance(e.loss), e.chance(e.loss)
	if e.chance(0.01) {
		wait += e.span(10 * time.Second)
	}
	stop := e.stopped.Sub(now())
	e.mu.Unlock()
	if pause(ctx, wait+max(0, stop)); ctx.Err() != nil {
		return ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.dead || lost || now().Before(e.down) {
		return errFault
	}
	do()
	if unanswered {
		return errFault
	}
	return nil
}

// tell is a message without an answer. It arrives late, or never.
func (e *end) tell(do func()) {
	e.mu.Lock()
	wait, lost := e.span(50*time.Millisecond), e.chance(e.loss) || e.dead
	stop := e.stopped.Sub(now())
	e.mu.Unlock()
	if lost {
		return
	}
	go func() {
		pause(context.Background(), wait+max(0, stop))
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.dead && now().After(e.down) {
			do()
		}
	}()
}

func (e *end) prepare(ctx context.Context, _ string, all map[string]*sweep.Bundle) error {
	return e.until(ctx, func() {
		e.made = true
		for name, b := range all {
			text, err := json.Marshal(b)
			if err != nil {
				panic(err)
			}
			e.bundles[name] = text
		}
	})
}

// until calls until it is answered, as a reconnecting client does.
func (e *end) until(ctx context.Context, do func()) (err error) {
	for range 100 {
		if err = e.call(ctx, do); err == nil || ctx.Err() != nil || e.dead {
			return err
		}
	}
	return err
}

func (e *end) purge(ctx context.Context, _ string) error {
	return e.until(ctx, func() {
		for _, m := range e.trials {
			m.out = true
		}
		e.trials = nil
	})
}

func (e *end) put(_ context.Context, _ string, task []byte) error {
	e.tell(func() { e.trials = append(e.trials, &message{data: task}) })
	return nil
}

func (e *end) flush(ctx context.Context) error { return e.until(ctx, func() {}) }

func (e *end) take(ctx context.Context, _ string, f func(delivery)) (func(), error) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		for ctx.Err() == nil {
			e.mu.Lock()
			added := e.added
			m := e.next(&e.records, 1<<30, time.Minute)
			e.mu.Unlock()
			if m != nil {
				f(&delivered{e, m, m.times})
				continue
			}
			select {
			case <-ctx.Done():
			case <-added:
			case <-later(silence):
			}
		}
	}()
	return stop, nil
}

// next delivers a message, if one may be delivered.
func (w *world) next(queue *[]*message, most int, hold time.Duration) *message {
	if now().Before(w.down) {
		return nil
	}
	kept := (*queue)[:0]
	var found *message
	for _, m := range *queue {
		if m.out {
			continue
		}
		kept = append(kept, m)
		if found == nil && m.times < most && !m.free.After(now()) {
			found = m
		}
	}
	*queue = kept
	if found != nil {
		found.times++
		found.free = now().Add(hold)
	}
	return found
}

// aside polls once a second, and misses some.
func (e *end) aside(ctx context.Context, _ string, f func([]byte)) (func(), error) {
	ctx, stop := context.WithCancel(ctx)
	told := map[*message]bool{}
	go func() {
		for ctx.Err() == nil {
			pause(ctx, time.Second)
			var all [][]byte
			e.mu.Lock()
			for _, m := range e.trials {
				if m.out || told[m] || m.times < tries || m.free.After(now()) {
					continue
				}
				told[m] = true
				e.exhausted++
				if !e.chance(max(e.loss, 0.3)) && !e.dead {
					m.out = true
					all = append(all, m.data)
				}
			}
			e.mu.Unlock()
			for _, text := range all {
				f(text)
			}
		}
	}()
	return stop, nil
}

func (e *end) idle(ctx context.Context, _ string) (is bool, err error) {
	err = e.call(ctx, func() {
		is = true
		for _, m := range e.trials {
			is = is && (m.out || m.times >= tries && !m.free.After(now()))
		}
		for _, m := range e.records {
			is = is && m.out
		}
	})
	return is, err
}

func (e *end) stores(ctx context.Context, study string) error {
	_ = e.give(ctx, study, []byte("{}"))
	return nil
}

func (e *end) rest(ctx context.Context, _ string) (list [][]byte, err error) {
	err = e.call(ctx, func() {
		for _, m := range e.trials {
			if !m.out {
				list = append(list, m.data)
			}
		}
	})
	return list, err
}

func (e *end) studies(ctx context.Context) (list []string, err error) {
	err = e.call(ctx, func() {
		if e.made {
			list = []string{"s"}
		}
	})
	return list, err
}

func (e *end) fetch(ctx context.Context, _ string, wait time.Duration) (delivery, error) {
	var m *message
	err := e.call(ctx, func() { m = e.next(&e.trials, tries, silence) })
	if err != nil {
		return nil, err // a message in flight is lost to this worker
	}
	if m == nil {
		pause(ctx, wait)
		return nil, nil
	}
	return &delivered{e, m, m.times}, nil
}

func (e *end) give(ctx context.Context, _ string, record []byte) error {
	return e.call(ctx, func() {
		copies := 1
		if e.chance(e.loss) {
			copies = 2
			e.twice++
		}
		for range copies {
			e.records = append(e.records, &message{data: record})
		}
		close(e.added)
		e.added = make(chan struct{})
	})
}

func (e *end) bundle(ctx context.Context, name string) (text []byte, err error) {
	err = e.call(ctx, func() { text = e.bundles[name] })
	return text, err
}

func (e *end) close() {}

// delivered is a delivery of a message. An acknowledgement always counts; a heartbeat or refusal only of the last
// delivery.
type delivered struct {
	*end
	m     *message
	times int
}

func (d *delivered) Data() []byte { return d.m.data }

func (d *delivered) Ack() error {
	d.tell(func() { d.m.out = true })
	return nil
}

func (d *delivered) Term() error { return d.Ack() }

func (d *delivered) DoubleAck(ctx context.Context) error {
	return d.call(ctx, func() { d.m.out = true })
}

func (d *delivered) NakWithDelay(wait time.Duration) error {
	d.tell(func() {
		if d.m.times == d.times {
			d.m.free = now().Add(wait)
		}
	})
	return nil
}

func (d *delivered) InProgress() error {
	late := time.Duration((d.slow - 1) * float64(silence) / 3)
	d.tell(func() {
		if free := now().Add(silence - late); d.m.times == d.times && free.After(d.m.free) {
			d.m.free = free
		}
	})
	return nil
}
