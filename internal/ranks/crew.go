package ranks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"railyard/internal/input"
	"railyard/internal/runner"
)

// Crew runs ranks as processes of this program. When one fails, the others are interrupted; they also end when this
// process ends.
type Crew struct {
	Cancel  context.CancelFunc
	Ctx     context.Context // done when a rank has failed
	results chan rankEnd
	started int
}

// rankEnd is the result of a rank's process, and its standard error.
type rankEnd struct {
	rank int
	err  error
	says string
}

// NewCrew returns a crew of at most the given number of ranks.
func NewCrew(ctx context.Context, most int) *Crew {
	ctx, cancel := context.WithCancel(ctx)
	return &Crew{Cancel: cancel, Ctx: ctx, results: make(chan rankEnd, most)}
}

// Start runs a rank, by the command line in under if any, with some more environment; stdout may be nil.
func (c *Crew) Start(rank int, stdout io.Writer, env, under []string, args ...string) error {
	cmd, err := Command(c.Ctx, under, args...)
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, env...)
	var says strings.Builder
	cmd.Stdout, cmd.Stderr = stdout, &says
	cmd.Cancel = func() error { // a stopped process receives the signal once it continues
		return errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Process.Signal(syscall.SIGCONT))
	}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	c.started++
	go func() {
		err := cmd.Wait()
		c.results <- rankEnd{rank, err, strings.TrimSpace(says.String())}
		if err != nil {
			c.Cancel() // without one rank the rest need not wait
		}
	}()
	return nil
}

// Wait returns the first rank's error that is its own, and copies the standard error of ranks that succeeded.
func (c *Crew) Wait(stderr io.Writer) (first error) {
	for range c.started {
		r := <-c.results
		switch {
		case r.err == nil && r.says != "":
			fmt.Fprintln(stderr, r.says)
		case r.err != nil && first == nil && !strings.Contains(r.says, runner.ErrInterrupted.Error()):
			if r.says == "" { // killed
				r.says = r.err.Error()
			}
			first = fmt.Errorf("rank %d: %s", r.rank, strings.TrimPrefix(r.says, "error: "))
			if exit := (*exec.ExitError)(nil); errors.As(r.err, &exit) && exit.ExitCode() == Refused {
				first = input.Fault(first)
			}
		}
	}
	return first
}
