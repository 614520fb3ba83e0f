package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/signal"
	"syscall"
	"time"

	"railyard/entropy"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/perftest"
	"railyard/internal/report/table"
	"railyard/internal/runner"
	"railyard/verbs"
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

// oneThread runs Go code on one processor: a device is one lock, and waking a
// second thread for each completion costs more than it brings.
func (e *env) oneThread() { e.threads(1) }

// deviceError says that a device could not be opened: what was asked for
// cannot be had here.
func deviceError(err error) error {
	if err == nil {
		return nil
	}
	return input.Fault(err)
}

// rdmaTest are the flags of the measuring commands.
type rdmaTest struct {
	perftest.Device
	To       string        `help:"Server: HOST or HOST:PORT" required:"" placeholder:"HOST"`
	Size     string        `help:"Message sizes: one, a list, or all (powers of two to 8MiB)" default:"64KiB" placeholder:"BYTES,..."`
	Iters    int64         `help:"Messages per queue pair and size" default:"5000" without:"duration"`
	Duration time.Duration `help:"Duration per size, instead of a message count" default:"0s" range:"0s,24h"`
	MTU      int           `help:"Path MTU; 0: the largest that both ports support" default:"0" name:"mtu" enum:"0,256,512,1024,2048,4096"`
	Timeout  int           `help:"Local ACK timeout, 4.096 µs x 2^N; 0: 14, plus 1 per doubling above 64 queue pairs" default:"0"`
	Retry    int           `help:"Retries after a timeout, 0 to 7" default:"7"`
	RNRRetry int           `help:"RNR retries; 7: unlimited" default:"7" name:"rnr-retry"`
	Explain  bool          `help:"Print the connection setup: calls, TCP exchange, state at both ends"`
	JSON     bool          `help:"Print the results as JSON"`
}

// rdmaMany are the flags of the bandwidth tests.
type rdmaMany struct {
	rdmaTest
	QPs   int  `help:"Queue pairs" default:"1" name:"qps"`
	Depth int  `help:"Requests in flight per queue pair" default:"64"`
	Spray bool `help:"Spray packets over UDP source ports: WRITE only, selective repeat"`

	SetAside int    `help:"With --spray: packets until a source port with a loss is used again; 0: none" default:"0" placeholder:"PACKETS"`
	LB       string `help:"With --spray: source port policy: entropy (round robin), oblivious, bitmap, mixed; reps,source_ports=32" name:"lb" placeholder:"POLICY"`
}

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

type rdmaLatCmd struct{ rdmaTest }

func (c *rdmaLatCmd) Help() string {
	return `Sends a WRITE with immediate in both directions and reports half of the round trip, as ib_write_lat
does.

Example:
  railyard rdma perf lat --to 127.0.0.1 --size 4KiB --iters 20000`
}

// Run is the rdma perf lat command.
func (c *rdmaLatCmd) Run(e *env) error {
	m := rdmaMany{rdmaTest: c.rdmaTest, QPs: 1, Depth: 1}
	return m.run(e, perftest.OpLat)
}

// spec checks the flags.
func (c *rdmaMany) spec(op perftest.Op) (*perftest.Spec, error) {
	s := &perftest.Spec{Op: op, QPs: c.QPs, Depth: c.Depth, Iters: c.Iters, Time: c.Duration,
		Warmup: min(100, c.Iters/10),
		Connect: perftest.ConnectParams{MTU: c.MTU, Timeout: ackTimeout(c.Timeout, c.QPs),
			RetryCount: c.Retry, RNRRetry: c.RNRRetry, Entropy: 1, Transport: c.Transport}}
	if c.Transport == verbs.MRC && (c.Spray || op == perftest.OpSend || op == perftest.OpRead) {
		what := "an MRC queue pair carries WRITE and WRITE with immediate only"
		if c.Spray {
			what = "MRC always sprays: --spray is RC's"
		}
		return nil, field.New("--transport", "%s", what)
	}
	if c.Spray {
		s.Connect.Entropy = 16
	}
	if err := c.choice(s); err != nil {
		return nil, input.Fault(err)
	}
	for _, l := range []struct {
		name           string
		v, least, most int64
	}{{"--qps", int64(c.QPs), 1, perftest.MaxQPs}, {"--depth", int64(c.Depth), 1, 4096},
		{"--iters", c.Iters, 1, perftest.MaxIters},
		{"--set-aside", int64(c.SetAside), 0, 1_000_000},
		{"--timeout", int64(c.Timeout), 0, 31}, {"--retry", int64(c.Retry), 0, 7},
		{"--rnr-retry", int64(c.RNRRetry), 0, 7}} {
		if l.v < l.least || l.v > l.most {
			return nil, field.Outside(l.name, l.least, l.most, l.v)
		}
	}
	if c.Size == "all" {
		for n := int64(2); n <= 8<<20; n *= 2 {
			s.Sizes = append(s.Sizes, n)
		}
		return s, nil
	}
	var err error
	s.Sizes, err = perftest.Sizes("--size", c.Size, perftest.MaxSize)
	return s, err
}

// choice checks how source ports are chosen, and sets how many there are.
func (c *rdmaMany) choice(s *perftest.Spec) error {
	switch {
	case c.SetAside > 0 && !c.Spray:
		return errors.New("--set-aside leaves out one of several source ports: it needs --spray")
	case c.LB != "" && !c.Spray:
		return errors.New("--lb chooses among several source ports: it needs --spray")
	case c.LB != "" && c.SetAside > 0:
		return errors.New("--set-aside belongs to ports taken in turn: --lb entropy,set_aside=PACKETS")
	case c.LB == "":
		if c.SetAside > 0 {
			c.LB = fmt.Sprintf("entropy,set_aside=%d", c.SetAside)
		}
		return nil
	}
	_, v, err := entropy.Parse(c.LB)
	if err != nil {
		return fmt.Errorf("--lb: %w", err)
	}
	s.Connect.Entropy = entropy.Ports(v)
	return nil
}

// ackTimeout chooses the timeout where the user does not: one processor works for
// all queue pairs, so an ACK takes longer the more there are, and is not lost.
func ackTimeout(chosen, qps int) int {
	if chosen > 0 {
		return chosen
	}
	return 14 + bits.Len(uint(max(0, qps-1)/64))
}

func (c *rdmaMany) run(e *env, op perftest.Op) (err error) {
	s, err := c.spec(op)
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
	if c.Duration > 0 { // Ctrl-C ends it early, and what was measured is printed
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
			break // its later sizes are not measured
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
