// Package jetstream distributes the trials of a study to workers by NATS JetStream: with its own server (Serve) or
// an existing one. The Driver adds trials to a work queue and collects their records; a Worker simulates trials.
// Every trial is delivered until a worker acknowledges it, so workers and driver may be killed at any time. The
// study's store keeps the first record of a trial. During silence, the driver periodically searches for lost trials
// and queues them again. It ends if the server stores nothing. TestProtocol runs this code over schedules of
// faults, in simulated time.
//
//	RAILYARD-<study>-trials    work queue: a Task per message, acknowledged after its record was stored
//	RAILYARD-<study>-records   work queue: a Record per message, acknowledged after the driver has written it
//	RAILYARD-bundles           object store: scenarios with files, by digest
//	RAILYARD-objects           object store: trials and records above the largest message, by digest, for a week
package jetstream

import (
	"os"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/input"
)

// Names of streams, subjects and consumers.
const (
	prefix   = "RAILYARD-"
	trials   = "-trials"
	records  = "-records"
	bundles  = "RAILYARD-bundles"
	objects  = "RAILYARD-objects"
	workers  = "workers"
	driver   = "driver"
	subjects = "railyard."
)

// silence is the time without a heartbeat after which another worker gets a trial; shorter in tests.
var silence = 30 * time.Second

// tries is the number of workers that attempt a trial before it is set aside.
const tries = 3

// Access is the connection to a server.
type Access struct {
	URL   string
	Token string
	CA    string // file with certificates of authorities; "": the system's
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
		return "", input.Fault(field.Under("--token-file", err))
	}
	if t := strings.TrimSpace(string(text)); t != "" {
		return t, nil
	}
	return "", field.New("--token-file", "%s is empty", file)
}
