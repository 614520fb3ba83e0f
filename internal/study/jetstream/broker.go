package jetstream

import (
	"context"
	"time"

	"railyard/internal/study/sweep"
)

// broker is the interface of a server for driver and workers. It has, for each study, a queue of trials and one of
// records, and a store of bundles. A message is delivered until it is acknowledged, at most tries times. A failed
// call may have taken effect, and a message may arrive twice. The tests have their own broker, with simulated time
// and faults.
type broker interface {
	// prepare creates the queues of a study and stores its bundles.
	prepare(ctx context.Context, study string, all map[string]*sweep.Bundle) error
	// purge drops the trials in the queue.
	purge(ctx context.Context, study string) error
	// put adds a trial to the queue, at the latest when flush returns.
	put(ctx context.Context, study string, task []byte) error
	flush(ctx context.Context) error
	// take calls f for each record.
	take(ctx context.Context, study string, f func(delivery)) (stop func(), err error)
	// aside calls f for each trial that was delivered the maximum number of times; a call may be lost.
	aside(ctx context.Context, study string, f func(task []byte)) (stop func(), err error)
	// idle reports whether no trial is being simulated or queued, and no record is in transit.
	idle(ctx context.Context, study string) (bool, error)
	// stores returns why the server does not store a record; nil: it does, or cannot be reached at present.
	stores(ctx context.Context, study string) error
	// rest returns the trials in the queue.
	rest(ctx context.Context, study string) ([][]byte, error)

	// studies names the studies that have a queue of trials.
	studies(ctx context.Context) ([]string, error)
	// fetch returns a trial, or nil if none arrives in time.
	fetch(ctx context.Context, study string, wait time.Duration) (delivery, error)
	// give adds a record to the queue.
	give(ctx context.Context, study string, record []byte) error
	// bundle returns a bundle's contents.
	bundle(ctx context.Context, name string) ([]byte, error)

	close()
}

// delivery is a message that waits to be acknowledged.
type delivery interface {
	Data() []byte
	Ack() error
	DoubleAck(ctx context.Context) error
	NakWithDelay(d time.Duration) error
	Term() error
	InProgress() error
}
