package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"railyard/internal/field"
	"railyard/internal/perftest"
	"railyard/verbs"
)

type rdmaServeCmd struct {
	rdmaDevice
	Port     uint16        `help:"TCP port for connection setup" default:"18515"`
	Duration time.Duration `help:"Stop after this time; 0: until interrupted" default:"0s"`
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
	if err := within("--duration", c.Duration, 0, 365*24*time.Hour); err != nil {
		return err
	}
	cfg, done, err := c.config(e)
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
	if c.JSON {
		if err := printJSON(e.stdout, map[string]any{"rdma": dev.Addr(), "tcp": s.Addr()}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.stdout, "serving RDMA on %v, clients connect to TCP %v\n", dev.Addr(), s.Addr())
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

// carried reads what carries queue pairs, and by which planes.
func (d *rdmaDevice) carried(cfg *verbs.DeviceConfig) error {
	if d.Transport != "" && !slices.Contains(verbs.Transports(), d.Transport) {
		return field.Choice("--transport", d.Transport, verbs.Transports(),
			"unknown transport %s on sockets", field.Quote(d.Transport))
	}
	cfg.Transport, cfg.CC = d.Transport, d.CC
	if d.Planes == "" {
		return nil
	}
	if d.Transport == verbs.RC {
		return field.New("--planes", "is for --transport mrc: RC has one way in")
	}
	for _, w := range strings.Split(d.Planes, ",") {
		a, err := lookup("--planes", strings.TrimSpace(w))
		if err != nil {
			return err
		}
		cfg.Planes = append(cfg.Planes, a)
	}
	if cfg.Addr.IsValid() && cfg.Addr != cfg.Planes[0] {
		return field.New("--planes", "begins with %v, and --addr is %v", cfg.Planes[0], cfg.Addr)
	}
	cfg.Addr = cfg.Planes[0]
	return nil
}
