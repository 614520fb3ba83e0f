package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"railyard/internal/runner"
	"railyard/internal/study"
	"railyard/internal/study/sweep"
)

// Worker simulates the trials of all studies of a server.
type Worker struct {
	Access
	Pool *study.Pool
	Idle time.Duration // ends after this time without a trial; 0: never
	Warn func(error)   // called for the first record that the server does not store

	Trials atomic.Int64 // simulated

	broker  broker
	perform func(context.Context, *sweep.Bundle, *sweep.Task) (*sweep.Record, error)
	warned  sync.Once
	mu      sync.Mutex
	held    map[string]*sweep.Bundle
}

// maxBundles is the number of scenarios that a worker caches.
const maxBundles = 64

// Run simulates until ctx ends or Idle has passed. An *sweep.ErrVersion reports that a study is of another version.
func (w *Worker) Run(ctx context.Context) error {
	b, err := w.dial("railyard worker")
	if err != nil {
		return err
	}
	defer b.close()
	w.broker, w.perform = b, (&sweep.Performer{Pool: w.Pool}).Perform
	return w.run(ctx, w.Pool.AtOnce())
}

// run simulates the given number of trials in parallel.
func (w *Worker) run(ctx context.Context, atOnce int) error {
	w.held = map[string]*sweep.Bundle{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var last atomic.Int64 // time at which a trial last began or ended
	last.Store(time.Now().UnixNano())
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for ctx.Err() == nil {
				found, err := w.round(ctx)
				if found {
					last.Store(time.Now().UnixNano())
				}
				if version := (*sweep.ErrVersion)(nil); errors.As(err, &version) {
					cancel(err)
				}
				if !found && w.Idle > 0 && time.Since(time.Unix(0, last.Load())) > w.Idle {
					return
				}
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if ctx.Err() != nil {
		return runner.ErrInterrupted
	}
	return nil
}

// patience is the time that a round waits for a trial.
const patience = time.Second

// round simulates one trial of each study that has one.
func (w *Worker) round(ctx context.Context) (found bool, err error) {
	studies, err := w.broker.studies(ctx)
	if len(studies) == 0 || err != nil {
		pause(ctx, patience)
		return false, nil
	}
	for _, study := range studies {
		for ctx.Err() == nil {
			m, err := w.broker.fetch(ctx, study, patience/time.Duration(len(studies)))
			if err != nil {
				pause(ctx, patience)
			}
			if m == nil {
				break
			}
			found = true
			if err := w.one(ctx, study, m); err != nil {
				return true, err
			}
		}
	}
	return found, nil
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// one simulates the trial of a message and acknowledges it once its record is stored.
func (w *Worker) one(ctx context.Context, study string, m delivery) error {
	var t sweep.Task
	if err := json.Unmarshal(m.Data(), &t); err != nil {
		return m.Term()
	}
	alive, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for tick := time.NewTicker(silence / 3); ; {
			select {
			case <-alive.Done():
				tick.Stop()
				return
			case <-tick.C:
				_ = m.InProgress() // the next beat, or another worker, follows
			}
		}
	}()
	b, err := w.bundle(ctx, t.Bundle)
	var r *sweep.Record
	if err == nil {
		r, err = w.perform(ctx, b, &t)
	}
	version := (*sweep.ErrVersion)(nil)
	switch {
	case errors.As(err, &version):
		_ = m.NakWithDelay(patience) // leaves it to a worker of the study's version
		return err
	case err != nil: // interrupted, short of memory or without a server: another worker, or later
		_ = m.NakWithDelay(patience)
		pause(ctx, patience)
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := w.broker.give(ctx, study, text); err != nil {
		if w.Warn != nil && ctx.Err() == nil {
			w.warned.Do(func() { w.Warn(err) })
		}
		_ = m.NakWithDelay(patience)
		return nil
	}
	w.Trials.Add(1)
	_ = m.DoubleAck(ctx) // without it the trial runs again, and its second record is dropped
	return nil
}

// bundle returns a scenario: a cached one, or the server's. Other trials do not wait during the download.
func (w *Worker) bundle(ctx context.Context, name string) (*sweep.Bundle, error) {
	w.mu.Lock()
	b := w.held[name]
	w.mu.Unlock()
	if b != nil {
		return b, nil
	}
	text, err := w.broker.bundle(ctx, name)
	if err != nil {
		return nil, err
	}
	b = &sweep.Bundle{}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, err
	}
	if b.Digest() != name {
		return nil, fmt.Errorf("bundle %s has other content", name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.held) >= maxBundles {
		clear(w.held)
	}
	w.held[name] = b
	return b, nil
}
