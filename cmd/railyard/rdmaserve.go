package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"railyard/internal/perftest"
	"railyard/verbs"
)

type rdmaServeCmd struct {
	perftest.Device
	Port     uint16        `help:"TCP port for connection setup" default:"18515"`
	Duration time.Duration `help:"Stop after this time; 0: until interrupted" default:"0s" range:"0s,8760h"`
	JSON     bool          `help:"Print the address as JSON"`
}

func (c *rdmaServeCmd) Help() string {
	return `Listens on 127.0.0.1 unless --addr is set.

Examples:
  railyard rdma serve
  railyard rdma serve --addr 10.1.0.7 --pcap served.pcapng`
}

// Run is the rdma serve command.
func (c *rdmaServeCmd) Run(e *env) error {
	if c.Addr == "" && c.Planes == "" {
		c.Addr = "127.0.0.1"
	}
	cfg, done, err := c.Config(program(), e.stderr)
	if err != nil {
		return err
	}
	e.oneThread()
	dev, err := verbs.OpenDevice(cfg)
	if err != nil {
		return deviceError(errors.Join(err, done()))
	}
	s := perftest.Server{Dev: dev, Transport: c.Transport,
		Log: func(f string, a ...any) { fmt.Fprintf(e.stderr, f+"\n", a...) }}
	if err := s.Listen(c.Port); err != nil {
		dev.Close()
		return deviceError(errors.Join(err, done()))
	}
	if err := e.show(c.JSON, serveResult{dev.Addr(), s.Addr()}, func() {
		fmt.Fprintf(e.stdout, "serving RDMA on %v, clients connect to TCP %v\n", dev.Addr(), s.Addr())
	}); err != nil {
		return err
	}
	ctx, cancel := interruptible()
	defer cancel()
	if c.Duration > 0 {
		ctx, cancel = context.WithTimeout(ctx, c.Duration)
		defer cancel()
	}
	err = s.Serve(ctx)
	dev.Close()
	return errors.Join(err, done())
}
