package main

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

// crew runs ranks as processes of this program. When one fails, the others are
// interrupted; when this process is gone, they end by themselves.
type crew struct {
	cancel  context.CancelFunc
	ctx     context.Context
	results chan rankEnd
	started int
}

// rankEnd is how a rank's process ended, and what it said on standard error.
type rankEnd struct {
	rank int
	err  error
	says string
}

func newCrew(ctx context.Context, most int) *crew {
	ctx, cancel := context.WithCancel(ctx)
	return &crew{cancel: cancel, ctx: ctx, results: make(chan rankEnd, most)}
}

// start runs a rank with some more environment; stdout may be nil.
func (c *crew) start(rank int, stdout io.Writer, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(c.ctx, name, args...)
	cmd.Env = append(append(os.Environ(), "RAILYARD_CHILD=1"), env...)
	var says strings.Builder
	cmd.Stdout, cmd.Stderr = stdout, &says
	cmd.Cancel = func() error { // one that was stopped hears of it once it goes on
		return errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Process.Signal(syscall.SIGCONT))
	}
	cmd.WaitDelay = 5 * time.Second
	if _, err := cmd.StdinPipe(); err != nil { // its end tells the child that we are gone
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.started++
	go func() {
		err := cmd.Wait()
		c.results <- rankEnd{rank, err, strings.TrimSpace(says.String())}
		if err != nil {
			c.cancel() // without one rank the others need not wait
		}
	}()
	return nil
}

// wait returns the first rank's error that is its own, and passes on what ranks
// that ended well had to say.
func (c *crew) wait(stderr io.Writer) (first error) {
	for range c.started {
		r := <-c.results
		switch {
		case r.err == nil && r.says != "":
			fmt.Fprintln(stderr, r.says)
		case r.err != nil && first == nil && !strings.Contains(r.says, runner.ErrInterrupted.Error()):
			if r.says == "" { // killed
				r.says = r.err.Error()
			}
			first = fmt.Errorf("rank %d: %s", r.rank, strings.TrimPrefix(r.says, "railyard: "))
			if exit := (*exec.ExitError)(nil); errors.As(r.err, &exit) && exit.ExitCode() == exitInput {
				first = input.Fault(first)
			}
		}
	}
	return first
}
