package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"railyard/internal/input"
	"railyard/internal/perftest"
	"railyard/internal/report/table"
	"railyard/internal/runner"
)

type rdmaCmd struct {
	Serve     rdmaServeCmd     `cmd:"" help:"Accept RDMA measurements from other hosts"`
	Perf      rdmaPerfCmd      `cmd:"" help:"Measure bandwidth and latency: write, send, read, lat"`
	Allreduce rdmaAllreduceCmd `cmd:"" help:"Run a verified ring all-reduce between processes"`
	Bench     rdmaBenchCmd     `cmd:"" help:"Compare throughput, latency, CPU time with iperf3, UDP, TCP"`
}

// rdmaPerfCmd are the measurements between two hosts.
type rdmaPerfCmd struct {
	Write rdmaWriteCmd `cmd:"" help:"Measure bandwidth of RDMA WRITE"`
	Send  rdmaSendCmd  `cmd:"" help:"Measure bandwidth of SEND"`
	Read  rdmaReadCmd  `cmd:"" help:"Measure bandwidth of RDMA READ"`
	Lat   rdmaLatCmd   `cmd:"" help:"Measure latency of RDMA WRITE (half round trip)"`
}

func (c *rdmaCmd) Help() string {
	return `Runs RoCEv2 over UDP port 4791 of this host's kernel; needs neither root nor RDMA hardware.

Examples:
  railyard rdma serve &
  railyard rdma perf write --to 127.0.0.1 --size 64KiB --iters 10000 --qps 4
  railyard rdma perf lat --to 127.0.0.1 --size 4KiB
  railyard rdma allreduce --ranks 8 --bytes 64MiB --dtype float32
  railyard rdma perf write --to 127.0.0.1 --iters 100 --pcap write.pcapng && railyard pcap write.pcapng`
}

// interruptible returns a context that Ctrl-C ends.
func interruptible() (context.Context, func()) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// oneThread runs Go code on one processor, because a device has one lock, and waking a second thread for each
// completion costs more than it gains.
func (e *env) oneThread() { e.threads(1) }

// deviceError reports that a device could not be opened: the request is unsupported on this host.
func deviceError(err error) error {
	if err == nil {
		return nil
	}
	return input.Fault(err)
}

// rdmaMany is a bandwidth test.
type rdmaMany struct{ perftest.Bandwidth }

type rdmaWriteCmd struct{ rdmaMany }
type rdmaSendCmd struct{ rdmaMany }
type rdmaReadCmd struct{ rdmaMany }

func (c *rdmaMany) Help() string {
	return `Needs a server: railyard rdma serve. Bandwidth counts payload; latency is from post to completion.

Examples:
  railyard rdma perf write --to 10.1.0.7 --size all
  railyard rdma perf write --to 127.0.0.1 --size 4KiB,1MiB --qps 8 --duration 5s --json
  railyard rdma perf write --to 10.1.0.7 --size 1MiB --spray --lb reps,source_ports=32 --cc nscc
  railyard rdma perf write --to 10.1.0.7 --transport mrc --planes 10.1.0.8,10.2.0.8
  railyard rdma perf write --to 127.0.0.1 --iters 100 --explain`
}

// Run is the rdma perf write command.
func (c *rdmaWriteCmd) Run(e *env) error { return c.run(e, perftest.OpWrite) }

// Run is the rdma perf send command.
func (c *rdmaSendCmd) Run(e *env) error { return c.run(e, perftest.OpSend) }

// Run is the rdma perf read command.
func (c *rdmaReadCmd) Run(e *env) error { return c.run(e, perftest.OpRead) }

type rdmaLatCmd struct{ perftest.Test }

func (c *rdmaLatCmd) Help() string {
	return `Sends a WRITE with immediate in both directions and reports half of the round trip, as ib_write_lat
does.

Example:
  railyard rdma perf lat --to 127.0.0.1 --size 4KiB --iters 20000`
}

// Run is the rdma perf lat command.
func (c *rdmaLatCmd) Run(e *env) error {
	m := rdmaMany{perftest.Bandwidth{Test: c.Test, QPs: 1, Depth: 1}}
	return m.run(e, perftest.OpLat)
}

// run measures an operation by size and prints the results.
func (c *rdmaMany) run(e *env, op perftest.Op) (err error) {
	s, err := c.Spec(op)
	if err != nil {
		return err
	}
	to, err := perftest.HostPort("--to", c.To, perftest.Port)
	if err != nil {
		return err
	}
	cfg, done, err := c.Config(program(), e.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	e.oneThread()
	cfg.WriteOnly = c.Spray
	cfg.Selective = c.Spray
	cfg.LB = c.LB
	dev, err := perftest.OpenNear(cfg, to.Addr())
	if err != nil {
		return deviceError(err)
	}
	defer dev.Close()
	ctx, cancel := interruptible()
	defer cancel()
	if c.Explain {
		s.Setup = new(perftest.Setup)
	}
	cl, err := perftest.Connect(ctx, dev, to, s)
	if err != nil {
		return deviceError(err)
	}
	defer cl.Close()
	if c.Duration > 0 { // Ctrl-C ends it early, and the measurements so far are printed
		end, release := e.endable()
		defer release()
		cancel()
		ctx, s.Stop = context.Background(), func() bool { return end.Err() != nil }
	}
	if c.Explain && !c.JSON {
		table.Setup(e.stdout, s.Setup)
	}
	var results []perftest.Result
	print := func() {
		if !c.JSON {
			table.Transfers(e.stdout, s, dev.Addr(), to.Addr(), results)
		}
	}
	for _, size := range s.Sizes {
		m := newMeter(e)
		r, err := cl.Run(ctx, s, size, func(share, gbps float64) {
			m.show(share, fmt.Sprintf("%d bytes %7.2f Gbit/s", size, gbps))
		})
		m.finish()
		if err != nil {
			print()
			return err
		}
		results = append(results, r)
		if s.Stop != nil && s.Stop() {
			break // later sizes of a failed measurement are not measured
		}
	}
	print()
	final, err := cl.Finish()
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(e.stdout, transferResult{results, final, s.Setup})
	} else if n := final.Drops + results[len(results)-1].Drops; n > 0 {
		fmt.Fprintf(e.stdout,
			"%d datagrams were dropped by full socket buffers; a smaller --in-flight avoids that\n", n)
	}
	if err == nil && s.Stop != nil && s.Stop() {
		err = runner.ErrInterrupted
	}
	return err
}
