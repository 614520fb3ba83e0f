package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"railyard/internal/report"
	"railyard/internal/runner"
	"railyard/internal/study"
	"railyard/internal/study/jetstream"
	"railyard/internal/study/sweep"
	"railyard/unit"
)

type workerCmd struct {
	NATS      string        `help:"Server that railyard sweep --listen has printed, or --nats has" name:"nats" required:"" placeholder:"URL"`
	TokenFile string        `help:"File with the token of the server (RAILYARD_NATS_TOKEN)" placeholder:"FILE"`
	TLSCA     string        `help:"Certificates of authorities that the server is checked against" name:"tls-ca" placeholder:"FILE"`
	Idle      time.Duration `help:"End after TIME without a trial; 0s: never" default:"0s"`
	Jobs      int           `help:"Simulations in parallel; 0: one per processor" default:"0" range:"0,1024"`
	Memory    string        `help:"Memory limit of all simulations (available memory)" placeholder:"SIZE"`
}

func (c *workerCmd) Help() string {
	return `Simulates the trials of studies that railyard sweep --listen or --nats distributes, until Ctrl-C. A
worker that ends, or is silent for 30 s, loses its trials to others. The version must be that of the
study.

Examples:
  railyard sweep scenarios/three-flows.yaml --grid lb=ecmp,spray --seeds 500 --listen 127.0.0.1:4222
  railyard worker --nats nats://127.0.0.1:4222 --idle 1m`
}

// Run is the worker command.
func (c *workerCmd) Run(e *env) error {
	token, err := jetstream.Token(c.TokenFile)
	if err != nil {
		return err
	}
	memory, err := parseMemory(c.Memory)
	if err != nil {
		return err
	}
	ctx, stop := endable()
	defer stop()
	w := &jetstream.Worker{Access: jetstream.Access{URL: c.NATS, Token: token, CA: c.TLSCA}, Idle: c.Idle,
		Pool: &study.Pool{Workers: c.Jobs, Memory: memory}}
	err = w.Run(ctx)
	fmt.Fprintf(e.stdout, "%s simulated\n", unit.Plural(w.Trials.Load(), "trial"))
	return err
}

// distribute leaves the trials of a study to workers, of which this process is one, where flags say so. finish ends
// that.
func (c *sweepRunCmd) distribute(ctx context.Context, e *env, s *sweep.Study) (finish func(), err error) {
	if c.Listen == "" && c.NATS == "" {
		return func() {}, nil
	}
	token, err := jetstream.Token(c.TokenFile)
	if err != nil {
		return nil, err
	}
	access := jetstream.Access{URL: c.NATS, Token: token, CA: c.TLSCA}
	finish = func() {}
	if c.Listen != "" {
		server, err := jetstream.Serve(jetstream.Listen{Address: c.Listen, Token: token, Cert: c.TLSCert, Key: c.TLSKey,
			Dir: s.Dir})
		if err != nil {
			return nil, err
		}
		access.URL, finish = server.URL, server.Close
		report.Labelled(e.stderr, "note: ", fmt.Sprintf("workers: railyard worker --nats %s", access.URL))
	}
	s.Engine = &jetstream.Driver{Access: access}
	if c.Remote {
		return finish, nil
	}
	own, cancel := context.WithCancel(ctx)
	w := &jetstream.Worker{Access: access, Pool: &study.Pool{Workers: c.Jobs, Memory: s.Pool.Memory}}
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := w.Run(own); err != nil && !errors.Is(err, runner.ErrInterrupted) {
			report.Labelled(e.stderr, "warning: ", fmt.Sprintf("no trial is simulated here: %v", err))
		}
	})
	end := finish
	return func() { cancel(); ended.Wait(); end() }, nil
}
