package gnmi

import (
	"context"
	"errors"
	"sync"
	"time"

	"railyard/internal/counters"
)

// atOnce is the number of devices queried in parallel.
const atOnce = 32

// Snapshots queries each device once, some in parallel; results are in the order of the devices.
func Snapshots(ctx context.Context, targets []string, o Options, timeout time.Duration) (all []counters.Snapshot,
	notes []string, err error) {
	type answer struct {
		s     *counters.Snapshot
		notes []string
		err   error
	}
	answers := make([]answer, len(targets))
	slots := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	for i, target := range targets {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			a := &answers[i]
			client, err := Dial(target, o)
			if err != nil {
				a.err = err
				return
			}
			defer client.Close()
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			a.s, a.notes, a.err = client.Snapshot(ctx)
		})
	}
	wait.Wait()
	var faults []error
	for _, a := range answers {
		if notes = append(notes, a.notes...); a.err != nil {
			faults = append(faults, a.err)
			continue
		}
		all = append(all, *a.s)
	}
	if len(all) == 0 {
		return nil, nil, errors.Join(faults...)
	}
	for _, err := range faults {
		notes = append(notes, err.Error())
	}
	return all, notes, nil
}
