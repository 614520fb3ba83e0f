package jetstream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/study/sweep"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// remote is a broker: a server that is connected to.
type remote struct {
	url  string
	conn *nats.Conn
	js   jetstream.JetStream
}

// dial connects to the server.
func (a *Access) dial(name string) (broker, error) {
	conn, js, err := a.connect(name)
	if err != nil {
		return nil, err
	}
	return &remote{a.URL, conn, js}, nil
}

func (r *remote) close() { r.conn.Close() }

// connect connects, and reconnects for ever, also after a connection that became silent without an end. The error names
// the flag that gives the URL.
func (a *Access) connect(name string, options ...nats.Option) (*nats.Conn, jetstream.JetStream, error) {
	options = append(options, nats.Name(name), nats.MaxReconnects(-1),
		nats.ReconnectWait(min(time.Second, silence)), nats.PingInterval(silence/3), nats.MaxPingsOutstanding(2))
	if a.Token != "" {
		options = append(options, nats.Token(a.Token))
	}
	if a.CA != "" {
		options = append(options, nats.RootCAs(a.CA))
	}
	conn, err := nats.Connect(a.URL, options...)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return nil, nil, input.Fault(field.New("--nats", "%s refuses the token; accepted: --token-file, or %s", a.URL,
			TokenName))
	case err != nil:
		return nil, nil, input.Fault(field.New("--nats", "%s cannot be reached: %v; accepted: nats://HOST:PORT, tls://HOST:PORT",
			field.Quote(a.URL), err))
	}
	js, err := jetstream.New(conn)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err = js.AccountInfo(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, nil, input.Fault(field.New("--nats", "%s has no JetStream: %v", a.URL, err))
	}
	return conn, js, nil
}

// queue returns the configuration of a work queue.
func queue(study, kind string) jetstream.StreamConfig {
	return jetstream.StreamConfig{Name: prefix + study + kind, Subjects: []string{subjects + study + kind},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		Description: fmt.Sprintf("railyard sweep, study %s", study)}
}

func (r *remote) prepare(ctx context.Context, study string, all map[string]*sweep.Bundle) error {
	for _, kind := range []string{trials, records} {
		if _, err := r.js.CreateOrUpdateStream(ctx, queue(study, kind)); err != nil {
			return fmt.Errorf("stream of %s: %w", r.url, err)
		}
	}
	_, err := r.js.CreateOrUpdateConsumer(ctx, prefix+study+trials, jetstream.ConsumerConfig{Durable: workers,
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: silence, MaxDeliver: tries, MaxAckPending: -1})
	if err != nil {
		return err
	}
	store, err := r.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bundles})
	if err != nil {
		return err
	}
	for name, b := range all {
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

func (r *remote) purge(ctx context.Context, study string) error {
	stream, err := r.js.Stream(ctx, prefix+study+trials)
	if err == nil {
		err = stream.Purge(ctx)
	}
	return err
}

func (r *remote) put(study string, task []byte) error {
	_, err := r.js.PublishMsgAsync(&nats.Msg{Subject: subjects + study + trials, Data: task})
	return err
}

func (r *remote) flush(ctx context.Context) error {
	select {
	case <-r.js.PublishAsyncComplete():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return fmt.Errorf("%s does not acknowledge trials", r.url)
	}
}

func (r *remote) take(ctx context.Context, study string, f func(delivery)) (stop func(), err error) {
	c, err := r.js.CreateOrUpdateConsumer(ctx, prefix+study+records, jetstream.ConsumerConfig{Durable: driver,
		AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return nil, err
	}
	store, err := r.js.ObjectStore(ctx, bundles)
	if err != nil {
		return nil, err
	}
	run, err := c.Consume(func(m jetstream.Msg) {
		name := m.Headers().Get(object)
		if name == "" {
			f(m)
			return
		}
		switch record, err := store.GetBytes(ctx, name); {
		case err == nil:
			f(&large{m, record, func() error { return store.Delete(ctx, name) }})
		case errors.Is(err, jetstream.ErrObjectNotFound): // the message has come before
			_ = m.Term()
		}
	})
	if err != nil {
		return nil, err
	}
	return run.Stop, nil
}

func (r *remote) aside(ctx context.Context, study string, f func(task []byte)) (stop func(), err error) {
	stream, err := r.js.Stream(ctx, prefix+study+trials)
	if err != nil {
		return nil, err
	}
	subject := "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + prefix + study + trials + "." + workers
	sub, err := r.conn.Subscribe(subject, func(m *nats.Msg) {
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
		f(raw.Data)
		_ = stream.DeleteMsg(ctx, notice.Seq)
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

func (r *remote) idle(ctx context.Context, study string) (bool, error) {
	for _, of := range [][2]string{{trials, workers}, {records, driver}} {
		c, err := r.js.Consumer(ctx, prefix+study+of[0], of[1])
		if err != nil {
			return false, err
		}
		info, err := c.Info(ctx)
		if err != nil || info.NumPending > 0 || info.NumAckPending > 0 {
			return false, err
		}
	}
	return true, nil
}

func (r *remote) rest(ctx context.Context, study string) (list [][]byte, err error) {
	stream, err := r.js.Stream(ctx, prefix+study+trials)
	if err != nil {
		return nil, err
	}
	for seq := uint64(1); ; {
		m, err := stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subjects+study+trials))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list, seq = append(list, m.Data), m.Sequence+1
	}
}

func (r *remote) studies(ctx context.Context) (studies []string, err error) {
	names := r.js.StreamNames(ctx, jetstream.WithStreamListSubject(subjects+"*"))
	for name := range names.Name() {
		study, ours := strings.CutPrefix(name, prefix)
		if study, queue := strings.CutSuffix(study, trials); ours && queue {
			studies = append(studies, study)
		}
	}
	return studies, names.Err()
}

func (r *remote) fetch(ctx context.Context, study string, wait time.Duration) (delivery, error) {
	c, err := r.js.Consumer(ctx, prefix+study+trials, workers)
	if err != nil {
		return nil, nil // the study begins, or has ended
	}
	batch, err := c.Fetch(1, jetstream.FetchMaxWait(wait))
	if err != nil {
		return nil, err
	}
	if m, ok := <-batch.Messages(); ok {
		return m, nil
	}
	return nil, nil
}

func (r *remote) give(ctx context.Context, study string, record []byte) error {
	m := &nats.Msg{Subject: subjects + study + records, Data: record}
	if int64(len(record)) > r.conn.MaxPayload() {
		store, err := r.js.ObjectStore(ctx, bundles)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("record-%x", sha256.Sum256(record))
		if _, err := store.PutBytes(ctx, name, record); err != nil {
			return err
		}
		m.Header, m.Data = nats.Header{object: {name}}, nil
	}
	_, err := r.js.PublishMsg(ctx, m)
	return err
}

// object is the header of a message whose record is in the object store: the server takes no message so large.
const object = "Railyard-Object"

// large is such a message with its record.
type large struct {
	jetstream.Msg
	record []byte
	drop   func() error // from the store
}

func (m *large) Data() []byte { return m.record }

func (m *large) Ack() error { return cmp.Or(m.Msg.Ack(), m.drop()) }

func (r *remote) bundle(ctx context.Context, name string) ([]byte, error) {
	store, err := r.js.ObjectStore(ctx, bundles)
	if err != nil {
		return nil, err
	}
	return store.GetBytes(ctx, name)
}
