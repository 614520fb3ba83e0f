// Package jetstream distributes the trials of a study over workers by NATS JetStream: a server of its own (Serve) or
// one that exists. The Driver puts trials into a work queue and takes their records; a Worker simulates trials. Every
// trial is delivered until a worker acknowledges it, so that workers and driver may be killed at any time; the study's
// store keeps the first record of a trial.
//
//	RAILYARD-<study>-trials    work queue: a Task per message, acknowledged after its record was stored
//	RAILYARD-<study>-records   work queue: a Record per message, acknowledged after the driver has written it
//	RAILYARD-bundles           object store: scenarios with their files, by digest
package jetstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Names of streams, subjects and consumers.
const (
	prefix   = "RAILYARD-"
	trials   = "-trials"
	records  = "-records"
	bundles  = "RAILYARD-bundles"
	workers  = "workers"
	driver   = "driver"
	subjects = "railyard."
)

// silence is the time without a beat after which a trial goes to another worker; shorter in tests.
var silence = 30 * time.Second

// tries is how many workers take a trial before it is set aside.
const tries = 3

// Access is how to connect to a server.
type Access struct {
	URL   string
	Token string
	CA    string // file with the certificates of authorities; "" those of the system
}

// TokenName is the environment variable with the token.
const TokenName = "RAILYARD_NATS_TOKEN"

// Token returns the token: from a file, or from the environment.
func Token(file string) (string, error) {
	if file == "" {
		return os.Getenv(TokenName), nil
	}
	text, err := input.Text(file, 4096)
	if err != nil {
		return "", input.Fault(err)
	}
	if t := strings.TrimSpace(string(text)); t != "" {
		return t, nil
	}
	return "", field.New("--token-file", "%s is empty", file)
}

// connect connects, and reconnects for ever. The error names the flag that gives the URL.
func (a *Access) connect(name string, options ...nats.Option) (*nats.Conn, jetstream.JetStream, error) {
	options = append(options, nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second))
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
