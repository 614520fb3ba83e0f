package jetstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"railyard/internal/runner"
	"railyard/internal/study/sweep"
)

// Driver is a sweep.Engine that leaves trials to workers.
type Driver struct {
	Access
	Server *Server // server in this process, which the driver monitors; nil: another process
}

// Simulate adds trials to the queue and collects their records until none is left.
func (d *Driver) Simulate(ctx context.Context, s *sweep.Study, list []*sweep.Trial) error {
	if len(list) == 0 {
		return nil
	}
	study, err := identity(s.Dir)
	if err != nil {
		return err
	}
	b, err := d.dial("railyard sweep " + s.Dir)
	if err != nil {
		return err
	}
	defer b.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if d.Server != nil {
		defer context.AfterFunc(d.Server.disk.failed, stop)()
	}
	err = newDrive(b, study, s, s.Pool.Finished).run(ctx, list)
	if err != nil && d.Server != nil {
		d.Server.disk.Errorf("%v", err) // the error of a request, which the server does not log
		return cmp.Or(d.Server.disk.fault(), err)
	}
	return err
}

// identity names the queues of a study's directory, so that two directories share none.
func identity(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	host, _ := os.Hostname()
	return fmt.Sprintf("%x", sha256.Sum256([]byte(host+"\x00"+full)))[:12], nil
}

// ledger is a drive's interface to a study.
type ledger interface {
	Task(t *sweep.Trial) sweep.Task
	Bundles() map[string]*sweep.Bundle
	Take(t *sweep.Trial, r *sweep.Record) error
	Leave(why error)
}

// drive is one call of Simulate.
type drive struct {
	broker   broker
	study    string
	ledger   ledger
	finished func() // called for each trial that has ended

	mu      sync.Mutex
	open    map[string]*sweep.Trial
	failure error
	ended   chan struct{}
	ending  sync.Once
}

func newDrive(b broker, study string, l ledger, finished func()) *drive {
	return &drive{broker: b, study: study, ledger: l, finished: finished, open: map[string]*sweep.Trial{},
		ended: make(chan struct{})}
}

// run adds trials to the queue and collects their records until none is left. Messages, acknowledgements and
// notices may be lost: during silence, the driver searches for open trials.
func (d *drive) run(ctx context.Context, list []*sweep.Trial) error {
	for _, t := range list {
		d.open[t.ID.String()] = t
	}
	var stop, aside func()
	defer func() {
		for _, end := range []func(){stop, aside} {
			if end != nil {
				end()
			}
		}
	}()
	for _, step := range []func() error{
		func() error { return d.broker.prepare(ctx, d.study, d.ledger.Bundles()) },
		func() error { return d.broker.purge(ctx, d.study) }, // trials of an earlier driver are queued again
		func() (err error) { stop, err = d.broker.take(ctx, d.study, d.record); return err },
		func() (err error) { aside, err = d.broker.aside(ctx, d.study, d.aside); return err },
		func() error { return d.put(ctx, list) },
	} {
		if err := persist(ctx, step); err != nil && ctx.Err() == nil {
			return err
		}
	}
	still := time.NewTicker(silence)
	defer still.Stop()
	for quiet, refused, before := 0, 0, -1; ; {
		select {
		case <-d.ended:
			return d.failure
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return errors.Join(runner.ErrInterrupted, d.broker.purge(end, d.study))
		case <-still.C:
			left := d.left()
			moves := left != before
			if before = left; moves {
				refused = 0
			} else if err := d.broker.stores(ctx, d.study); err == nil || ctx.Err() != nil {
				refused = 0
			} else if refused++; refused == refusals {
				return fmt.Errorf("the NATS server stores no records; the same command resumes once it does: %w",
					cmp.Or(d.broker.purge(ctx, d.study), err)) // the first error has the reason
			}
			if idle, err := d.broker.idle(ctx, d.study); err != nil || !idle {
				quiet = 0
				continue
			}
			if quiet++; quiet == 2 { // a record may be between the two queues once
				quiet = 0
				if err := d.search(ctx); err != nil && ctx.Err() == nil {
					return err
				}
			}
		}
	}
}

// refusals is the number of consecutive silences, in which a connected server stores no record and no worker sends
// one, after which the driver gives up. The server's disk is then full. A connection that became silent is noticed
// before.
const refusals = 3

// persist repeats a step that fails: an interrupted connection is restored within seconds.
func persist(ctx context.Context, step func() error) (err error) {
	for range 4 {
		if err = step(); err == nil || ctx.Err() != nil {
			return err
		}
		pause(ctx, patience)
	}
	return fmt.Errorf("a request to the NATS server failed 4 times: %w", err)
}

// search handles trials without a record that no worker simulates. Trials still in the queue have reached the
// delivery limit, and others were lost in transit and are queued again. The error reports that the server does not
// store them.
func (d *drive) search(ctx context.Context) error {
	rest, err := d.broker.rest(ctx, d.study)
	if err != nil {
		return nil // the lock is free until the next attempt
	}
	for _, task := range rest {
		d.aside(task)
	}
	var again []*sweep.Trial
	d.mu.Lock()
	for _, t := range d.open {
		again = append(again, t)
	}
	d.mu.Unlock()
	if d.broker.purge(ctx, d.study) != nil {
		return nil
	}
	return persist(ctx, func() error { return d.put(ctx, again) })
}

// put adds trials to the queue.
func (d *drive) put(ctx context.Context, list []*sweep.Trial) error {
	for i, t := range list {
		if d.has(t) { // unless an earlier driver has left its record in the queue
			text, err := json.Marshal(d.ledger.Task(t))
			if err == nil {
				err = d.broker.put(ctx, d.study, text)
			}
			if err != nil {
				return err
			}
		}
		if i%1000 == 999 || i == len(list)-1 {
			if err := d.broker.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// record stores a record that a worker returns.
func (d *drive) record(m delivery) {
	r := &sweep.Record{}
	if err := json.Unmarshal(m.Data(), r); err != nil {
		_ = m.Term() // not a record
		return
	}
	if t := d.remove(r.Trial); t != nil {
		if err := d.ledger.Take(t, r); err != nil {
			d.end(err)
			return
		}
		d.finished()
	}
	_ = m.Ack() // a repeated record is omitted
	d.check()
}

// aside counts a trial that no worker has finished in several tries.
func (d *drive) aside(text []byte) {
	var task sweep.Task
	if json.Unmarshal(text, &task) == nil && d.remove(task.Trial) != nil {
		d.ledger.Leave(fmt.Errorf("trial %s: %d workers ended, had too little memory or could not return its record",
			task.Trial, tries))
		d.finished()
	}
	d.check()
}

// has reports whether a trial is open.
func (d *drive) has(t *sweep.Trial) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[t.ID.String()] != nil
}

// remove returns the trial of an ID the first time.
func (d *drive) remove(id string) *sweep.Trial {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.open[id]
	delete(d.open, id)
	return t
}

// check ends the study when no trial is open.
func (d *drive) check() {
	if d.left() == 0 {
		d.end(nil)
	}
}

// left returns the number of open trials.
func (d *drive) left() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}

// end ends run.
func (d *drive) end(err error) {
	d.ending.Do(func() {
		d.failure = err
		close(d.ended)
	})
}
