package jetstream

import (
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

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Driver is a sweep.Engine that leaves trials to workers.
type Driver struct {
	Access

	conn    *nats.Conn
	js      jetstream.JetStream
	study   string
	mu      sync.Mutex
	open    map[string]*sweep.Trial
	failure error
	ended   chan struct{}
	ending  sync.Once
}

// Simulate puts trials into the queue and takes their records until none is left.
func (d *Driver) Simulate(ctx context.Context, s *sweep.Study, list []*sweep.Trial) error {
	if len(list) == 0 {
		return nil
	}
	if err := d.prepare(ctx, s); err != nil {
		return err
	}
	defer d.conn.Close()
	d.open, d.ended, d.ending, d.failure = map[string]*sweep.Trial{}, make(chan struct{}), sync.Once{}, nil
	for _, t := range list {
		d.open[t.ID.String()] = t
	}
	stream, err := d.js.Stream(ctx, prefix+d.study+trials)
	if err == nil {
		err = stream.Purge(ctx) // of an earlier driver: what has no record is put in again
	}
	if err != nil {
		return err
	}
	stop, err := d.take(ctx, s)
	if err != nil {
		return err
	}
	defer stop()
	aside, err := d.aside(ctx, s, stream)
	if err != nil {
		return err
	}
	defer aside()
	if err := d.put(ctx, s, list); err != nil && ctx.Err() == nil {
		return err
	}
	select {
	case <-d.ended:
		return d.failure
	case <-ctx.Done():
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return errors.Join(runner.ErrInterrupted, stream.Purge(end))
	}
}

// prepare connects, and makes the streams and the store of bundles.
func (d *Driver) prepare(ctx context.Context, s *sweep.Study) (err error) {
	if d.study, err = identity(s.Dir); err != nil {
		return err
	}
	if d.conn, d.js, err = d.connect("railyard sweep " + s.Dir); err != nil {
		return err
	}
	for _, kind := range []string{trials, records} {
		if _, err = d.js.CreateOrUpdateStream(ctx, queue(d.study, kind)); err != nil {
			return fmt.Errorf("stream of %s: %w", d.URL, err)
		}
	}
	_, err = d.js.CreateOrUpdateConsumer(ctx, prefix+d.study+trials, jetstream.ConsumerConfig{Durable: workers,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: silence, MaxDeliver: tries, MaxAckPending: -1})
	if err != nil {
		return err
	}
	store, err := d.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bundles})
	if err != nil {
		return err
	}
	for name, b := range s.Bundles() {
		if _, err := store.GetInfo(ctx, name); err == nil {
			continue
		}
		text, err := json.Marshal(b)
		if err == nil {
			_, err = store.PutBytes(ctx, name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// put publishes trials; what is published twice is stored once.
func (d *Driver) put(ctx context.Context, s *sweep.Study, list []*sweep.Trial) error {
	subject := subjects + d.study + trials
	for i, t := range list {
		if d.has(t) { // not so where an earlier driver has left its record in the queue
			text, err := json.Marshal(s.Task(t))
			if err != nil {
				return err
			}
			if _, err := d.js.PublishMsgAsync(&nats.Msg{Subject: subject, Data: text}); err != nil {
				return err
			}
		}
		if i%1000 == 999 || i == len(list)-1 {
			select {
			case <-d.js.PublishAsyncComplete():
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Minute):
				return fmt.Errorf("%s does not acknowledge trials", d.URL)
			}
		}
	}
	return nil
}

// take stores the records that workers return.
func (d *Driver) take(ctx context.Context, s *sweep.Study) (stop func(), err error) {
	c, err := d.js.CreateOrUpdateConsumer(ctx, prefix+d.study+records, jetstream.ConsumerConfig{Durable: driver,
		AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return nil, err
	}
	run, err := c.Consume(func(m jetstream.Msg) {
		r := &sweep.Record{}
		if err := json.Unmarshal(m.Data(), r); err != nil {
			_ = m.Term() // not a record
			return
		}
		if t := d.remove(r.Trial); t != nil {
			if err := s.Take(t, r); err != nil {
				d.end(err)
				return
			}
			s.Pool.Finished()
		}
		_ = m.Ack() // a record that comes again is left out
		d.check()
	})
	if err != nil {
		return nil, err
	}
	return run.Stop, nil
}

// aside counts trials that no worker has finished in several tries.
func (d *Driver) aside(ctx context.Context, s *sweep.Study, stream jetstream.Stream) (stop func(), err error) {
	subject := "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + prefix + d.study + trials + "." + workers
	sub, err := d.conn.Subscribe(subject, func(m *nats.Msg) {
		var notice struct {
			Seq uint64 `json:"stream_seq"`
		}
		if json.Unmarshal(m.Data, &notice) != nil {
			return
		}
		raw, err := stream.GetMsg(ctx, notice.Seq)
		if err != nil {
			return // it was acknowledged meanwhile
		}
		var task sweep.Task
		if json.Unmarshal(raw.Data, &task) == nil && d.remove(task.Trial) != nil {
			s.Leave(fmt.Errorf("trial %s: %d workers ended, or had too little memory, while they simulated it", task.Trial,
				tries))
			s.Pool.Finished()
		}
		_ = stream.DeleteMsg(ctx, notice.Seq)
		d.check()
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// has reports whether a trial is open.
func (d *Driver) has(t *sweep.Trial) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[t.ID.String()] != nil
}

// remove returns the trial of an ID the first time.
func (d *Driver) remove(id string) *sweep.Trial {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.open[id]
	delete(d.open, id)
	return t
}

// check ends the study when no trial is open.
func (d *Driver) check() {
	d.mu.Lock()
	left := len(d.open)
	d.mu.Unlock()
	if left == 0 {
		d.end(nil)
	}
}

// end ends Simulate.
func (d *Driver) end(err error) {
	d.ending.Do(func() {
		d.failure = err
		close(d.ended)
	})
}
