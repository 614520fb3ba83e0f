package main

import (
	"fmt"
	"time"

	"railyard/internal/field"
	"railyard/internal/report"
	"railyard/internal/study"
	"railyard/internal/study/batch"
	"railyard/internal/study/jetstream"
	"railyard/internal/study/workers"
	"railyard/unit"
)

type workerCmd struct {
	NATS      string        `help:"Server that railyard sweep --listen has printed, or --nats has" name:"nats" placeholder:"URL"`
	Tasks     string        `help:"Folder of tasks that railyard sweep --engine has written" placeholder:"DIR" without:"nats,idle"`
	Part      string        `help:"Simulate the Kth of N parts of the tasks" placeholder:"K/N" with:"tasks"`
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
	if c.Tasks != "" {
		return c.batch(e, memory)
	}
	if c.NATS == "" {
		return field.New("--nats", "the server is missing; accepted: --nats URL, or --tasks DIR")
	}
	ctx, stop := e.endable()
	defer stop()
	w := &jetstream.Worker{Access: jetstream.Access{URL: c.NATS, Token: token, CA: c.TLSCA}, Idle: c.Idle,
		Pool: &study.Pool{Workers: c.Jobs, Memory: memory}, Warn: workers.Say(e.say).Unstored}
	err = w.Run(ctx)
	fmt.Fprintf(e.stdout, "%s simulated\n", unit.Plural(w.Trials.Load(), "trial"))
	return err
}

// say prints a note or a warning with its label.
func (e *env) say(label, text string) { report.Labelled(e.stderr, label, text) }

// batch simulates a part of the tasks in a folder.
func (c *workerCmd) batch(e *env, memory unit.Bytes) error {
	part, err := batch.ParsePart(c.Part)
	if err != nil {
		return err
	}
	ctx, pool, release := e.pool()
	defer release()
	pool.Workers, pool.Memory, pool.Before = c.Jobs, memory, nil
	n, err := batch.Work(ctx, c.Tasks, part, pool)
	fmt.Fprintf(e.stdout, "%s simulated\n", unit.Plural(n, "trial"))
	return err
}
