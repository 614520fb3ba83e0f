package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"

	"railyard/internal/exec"
	"railyard/internal/fidelity"
	"railyard/internal/input"
	"railyard/internal/scenario"
	"railyard/unit"
)

// A large run has the collector leave less garbage lying about, in the same time, because the event loop makes none.
const (
	large   = 300 * unit.MB
	largeGC = 40 // percent
)

// New builds the run of a plan within a limit of memory; 0 is none. An error is the input's fault, or a
// *fidelity.ErrMemory.
func New(p *scenario.Plan, limit unit.Bytes) (*fidelity.Simulation, error) {
	_, build, err := Prepare(p, limit)
	if err != nil {
		return nil, err
	}
	return build()
}

// Prepare estimates the run of a plan, which build creates; its errors are the errors of New.
func Prepare(p *scenario.Plan, limit unit.Bytes) (c fidelity.Cost, build func() (*fidelity.Simulation, error),
	err error) {
	c, make, err := fidelity.Prepare(p.Fidelity, p, limit)
	if err != nil {
		return c, nil, refused(err)
	}
	return c, func() (*fidelity.Simulation, error) {
		r, err := make()
		if err != nil {
			return nil, refused(err)
		}
		if c.Memory > large {
			debug.SetGCPercent(largeGC)
		}
		if limit > 0 {
			debug.SetMemoryLimit(int64(limit)) // the collector works harder before it is reached
		}
		return r, nil
	}, nil
}

// refused marks an error as the scenario's fault, unless memory is short.
func refused(err error) error {
	if memory := (*fidelity.ErrMemory)(nil); errors.As(err, &memory) {
		return err
	}
	return input.Fault(err)
}

// ErrInterrupted is returned for a run that its observer has ended; errors.Is also matches it with context.Canceled.
var ErrInterrupted error = interrupted{}

type interrupted struct{}

func (interrupted) Error() string        { return "interrupted" }
func (interrupted) Is(target error) bool { return target == context.Canceled }

// Guarded runs a simulation by calling simulate with an observer. The run ends early in two cases. watch returns
// false, which is ErrInterrupted; or the process uses nine tenths of the run's memory limit, so that the results so
// far can still be written.
func Guarded(run *fidelity.Simulation, watch exec.Observer, simulate func(exec.Observer) error) error {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	over := false
	err := simulate(func(p exec.Progress) bool {
		if run.Limit > 0 {
			metrics.Read(sample)
			over = unit.Bytes(sample[0].Value.Uint64()-sample[1].Value.Uint64()) > run.Limit/10*9
		}
		return watch(p) && !over
	})
	switch {
	case err != nil:
		return err
	case over && run.Interrupted(): // not caused by the confirming simulation's interruption
		return outgrown(run.Limit)
	case run.Interrupted():
		return ErrInterrupted
	}
	return nil
}

// ErrOutgrown matches, by errors.Is, the error of a run that was stopped at its memory limit.
var ErrOutgrown = errors.New("outgrown")

type outgrown unit.Bytes

func (o outgrown) Error() string {
	return fmt.Sprintf("stopped: the run came to need more than the %v of memory that it may use (--memory), above its estimate", unit.Bytes(o))
}

func (outgrown) Is(target error) bool { return target == ErrOutgrown }

// Release is the public version number; a change of results raises it.
const Release = "0.1.0"

// Version is the release, with the commit if the build recorded one (go build does, go run does not).
func Version() string {
	v, dirty := Release, ""
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			switch {
			case s.Key == "vcs.revision" && len(s.Value) >= 12:
				v += "+" + s.Value[:12]
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = "-dirty"
			}
		}
	}
	return v + dirty
}
