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

// remote is a broker on a connected server.
type remote struct {
	url  string
	conn *nats.Conn
	js   jetstream.JetStream
	acks []jetstream.PubAckFuture // acknowledgements of trials since the last flush
}

// dial connects to the server.
func (a *Access) dial(name string) (broker, error) {
	conn, js, err := a.connect(name)
	if err != nil {
		return nil, err
	}
	return &remote{url: a.URL, conn: conn, js: js}, nil
}

func (r *remote) close() { r.conn.Close() }

// connect connects, and reconnects without a limit, also after a connection that became silent. The error names the
// flag that gives the URL.
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
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncTimeout(time.Minute))
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
	_, err = r.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: objects, TTL: week})
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

func (r *remote) put(ctx context.Context, study string, task []byte) error {
	m, err := r.message(ctx, subjects+study+trials, task)
	if err != nil {
		return err
	}
	ack, err := r.js.PublishMsgAsync(m)
	if err == nil {
		r.acks = append(r.acks, ack)
	}
	return err
}

// flush waits until all trials are stored. Messages lost with a connection are later found missing.
func (r *remote) flush(ctx context.Context) error {
	select {
	case <-r.js.PublishAsyncComplete():
	case <-ctx.Done():
		return ctx.Err()
	}
	acks := r.acks
	r.acks = nil
	for _, a := range acks {
		var refused *jetstream.APIError
		select {
		case err := <-a.Err():
			if errors.As(err, &refused) || errors.Is(err, jetstream.ErrAsyncPublishTimeout) {
				return fmt.Errorf("%s does not store trials: %w", r.url, err)
			}
		default:
		}
	}
	return nil
}

func (r *remote) take(ctx context.Context, study string, f func(delivery)) (stop func(), err error) {
	c, err := r.js.CreateOrUpdateConsumer(ctx, prefix+study+records, jetstream.ConsumerConfig{Durable: driver,
		AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return nil, err
	}
	run, err := c.Consume(func(m jetstream.Msg) {
		if whole, err := r.open(ctx, m); err == nil && whole != nil {
			f(whole)
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
			return // the message was acknowledged meanwhile
		}
		if text, _, err := r.data(ctx, raw.Header, raw.Data); err == nil {
			f(text)
		}
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

// stores stores a record without a trial in the server, which the driver ignores.
func (r *remote) stores(ctx context.Context, study string) error {
	if err := r.give(ctx, study, []byte("{}")); r.conn.IsConnected() {
		return err
	}
	return nil
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
		text, _, err := r.data(ctx, m.Header, m.Data)
		if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil, err
		}
		list, seq = append(list, text), m.Sequence+1
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
		return r.open(ctx, m)
	}
	return nil, nil
}

func (r *remote) give(ctx context.Context, study string, record []byte) error {
	m, err := r.message(ctx, subjects+study+records, record)
	if err == nil {
		_, err = r.js.PublishMsg(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("%s does not store a record: %w", r.url, err)
	}
	return nil
}

// object is the header of a message whose data are in the object store, because the server accepts no message of
// that size.
const object = "Railyard-Object"

// week is the lifetime of such data, because a killed process may leave them without a message. A trial or record
// lost by this is found missing by the driver.
const week = 7 * 24 * time.Hour

// message returns a message with data, or with the name of data above the server's largest message.
func (r *remote) message(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	m := &nats.Msg{Subject: subject, Data: data}
	if int64(len(data)) <= r.conn.MaxPayload() {
		return m, nil
	}
	store, err := r.js.ObjectStore(ctx, objects)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%x", sha256.Sum256(data))
	m.Header, m.Data = nats.Header{object: {name}}, nil
	_, err = store.PutBytes(ctx, name, data)
	return m, err
}

// data returns the data of a message, and a function that drops them from the object store.
func (r *remote) data(ctx context.Context, h nats.Header, data []byte) (all []byte, drop func() error, err error) {
	name := h.Get(object)
	if name == "" {
		return data, nil, nil
	}
	store, err := r.js.ObjectStore(ctx, objects)
	if err != nil {
		return nil, nil, err
	}
	all, err = store.GetBytes(ctx, name)
	return all, func() error { return store.Delete(ctx, name) }, err
}

// open returns a message with its data; nil if the object store no longer has them.
func (r *remote) open(ctx context.Context, m jetstream.Msg) (delivery, error) {
	data, drop, err := r.data(ctx, m.Headers(), m.Data())
	switch {
	case errors.Is(err, jetstream.ErrObjectNotFound): // the message was received before, or too late
		return nil, m.Term()
	case err != nil:
		return nil, err
	case drop == nil:
		return m, nil
	}
	return &large{m, data, drop}, nil
}

// large is a message with its data from the object store.
type large struct {
	jetstream.Msg
	data []byte
	drop func() error
}

func (m *large) Data() []byte { return m.data }

func (m *large) Ack() error { return cmp.Or(m.Msg.Ack(), m.drop()) }

func (m *large) DoubleAck(ctx context.Context) error { return cmp.Or(m.Msg.DoubleAck(ctx), m.drop()) }

func (r *remote) bundle(ctx context.Context, name string) ([]byte, error) {
	store, err := r.js.ObjectStore(ctx, bundles)
	if err != nil {
		return nil, err
	}
	return store.GetBytes(ctx, name)
}
