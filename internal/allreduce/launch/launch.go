// Package launch runs the ranks of an all-reduce: this process as one of them, or all of them as processes on
// separate loopback addresses (package ranks). Flags is the command line of rdma allreduce; Flags.Spec checks it,
// Flags.Run runs.
package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"railyard/internal/allreduce"
	"railyard/internal/allreduce/rates"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/internal/perftest"
	"railyard/internal/ranks"
	"railyard/verbs"
)

// Flags are the flags of an all-reduce.
type Flags struct {
	perftest.Device
	World      *int          `help:"Number of ranks (WORLD_SIZE, or 2)" name:"ranks" range:"1,1024" placeholder:"N"`
	Mine       *int          `help:"Rank of this process, with --rendezvous (RANK; without: start all ranks)" name:"rank" range:"0,1023" placeholder:"I"`
	Rendezvous string        `help:"Address of rank 0 (MASTER_ADDR:MASTER_PORT)" placeholder:"HOST:PORT"`
	Bytes      string        `help:"Sizes: one or a list" default:"64MiB" placeholder:"BYTES,..."`
	Dtype      string        `help:"Element type: float32, float64, int32, int64 or uint8" default:"float32"`
	Redop      string        `help:"Reduction: sum, prod, max or min" default:"sum"`
	Iters      int           `help:"Measured all-reduces per size" default:"5"`
	Warmup     int           `help:"Warm-up all-reduces" default:"1"`
	QPs        int           `help:"Queue pairs per neighbor" default:"1" name:"qps"`
	Spray      bool          `help:"Spray packets over UDP source ports: WRITE only"`
	Timeout    int           `help:"Local ACK timeout, 4.096 µs x 2^N" default:"16" range:"1,31"`
	MTU        int           `help:"Path MTU; 0: the largest that the ports support" default:"0" name:"mtu" enum:"0,256,512,1024,2048,4096"`
	Ranks      int           `kong:"-"` // 0: not said
	Rank       int           `kong:"-"` // -1: not said
	Wait       time.Duration `help:"Timeout for all ranks to connect" default:"60s" range:"1ms,24h"`
	Patience   time.Duration `help:"Timeout of a silent rank" default:"10s" range:"100ms,1h"`
	RateLog    string        `help:"Write rate changes per rank as CSV (FILE-rankN)" placeholder:"FILE"`
	RatePlot   string        `help:"Plot the rates of ranks with rate reductions (FILE-rankN.png)" placeholder:"FILE.png"`
}

// Process is the environment of a rank's process: its program's name, its arguments, standard error, and how many
// processors run Go code. Row receives each row on rank 0, and End the error of the all-reduce on each rank. End
// returns the rank's error.
type Process struct {
	Program string
	Args    []string
	Stderr  io.Writer
	Threads func(n int)
	Row     func(allreduce.Row)
	End     func(error) error
}

// Spec checks the flags.
func (c *Flags) Spec() (*allreduce.Spec, error) {
	c.Ranks, c.Rank = 0, -1
	if c.World != nil {
		c.Ranks = *c.World
	}
	if c.Mine != nil {
		c.Rank = *c.Mine
	}
	if err := ranks.Launched(&c.Ranks, &c.Rank, &c.Rendezvous); err != nil {
		return nil, err
	}
	op, err := allreduce.ParseOp(c.Redop)
	if err != nil {
		return nil, field.Flags(err)
	}
	s := &allreduce.Spec{Rank: max(0, c.Rank), World: c.Ranks, Rendezvous: c.Rendezvous, Type: c.Dtype,
		Op: op, Iters: c.Iters, Warmup: c.Warmup,
		QPs: c.QPs, Wait: c.Wait, Patience: c.Patience, Connect: verbs.DefaultConnect()}
	s.Connect.Timeout, s.Connect.MTU = c.Timeout, c.MTU
	if c.Transport == verbs.MRC && c.Spray {
		return nil, field.New("--transport", "MRC always sprays: --spray is RC's")
	}
	if c.Planes != "" && c.Rank < 0 {
		return nil, field.New("--planes", "names addresses of one rank: it needs --rank")
	}
	if c.Spray {
		s.Connect.Entropy = 16
	}
	if s.Sizes, err = perftest.Sizes("--bytes", c.Bytes, allreduce.MaxBytes); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, field.Flags(err)
	}
	if c.Rank >= 0 && c.Rendezvous == "" {
		return nil, field.New("--rank", "has no effect without --rendezvous HOST:PORT, or MASTER_ADDR in the environment")
	}
	if c.Rank < 0 && c.Rendezvous != "" {
		return nil, field.New("--rendezvous", "has no effect without --rank, or RANK in the environment")
	}
	return s, nil
}

// Run runs the rank that the flags name, or all ranks.
func (c *Flags) Run(ctx context.Context, s *allreduce.Spec, p *Process) error {
	if c.Rank >= 0 {
		return c.take(ctx, s, p)
	}
	return c.launch(ctx, s, p)
}

// share returns how many processors a rank has to itself.
func share(local int) int { return max(1, min(4, runtime.NumCPU()/local)) }

// take is one rank.
func (c *Flags) take(ctx context.Context, s *allreduce.Spec, p *Process) (err error) {
	for _, f := range []*string{&c.Pcap, &c.RateLog, &c.RatePlot} {
		if *f != "" && s.World > 1 { // a separate one for each rank
			ext := filepath.Ext(*f)
			*f = fmt.Sprintf("%s-rank%d%s", strings.TrimSuffix(*f, ext), s.Rank, ext)
		}
	}
	cfg, done, err := c.Config(p.Program, p.Stderr, c.RateLog, c.RatePlot)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if c.RateLog != "" || c.RatePlot != "" {
		log, err := rates.New(c.RateLog, c.RatePlot, cmp.Or(c.CC, verbs.DefaultCC(c.Transport)), c.Force)
		if err != nil {
			return input.Fault(err)
		}
		defer func() { err = errors.Join(err, log.Write(s.Rank, p.Stderr)) }()
		cfg.OnRate = log.Change
	}
	cfg.Selective, cfg.WriteOnly = c.Spray, c.Spray
	if !cfg.Addr.IsValid() && s.Rank > 0 || s.Rendezvous != "" {
		at, err := perftest.HostPort("--rendezvous", s.Rendezvous, 29500)
		if err != nil {
			return err
		}
		s.Rendezvous = at.String()
		if cfg.Addr, err = perftest.DeviceFor(cfg.Addr, at.Addr()); err != nil {
			return input.Fault(err)
		}
	}
	dev, err := verbs.OpenDevice(cfg)
	if err != nil {
		return input.Fault(fmt.Errorf("rank %d: %w", s.Rank, err))
	}
	defer dev.Close()
	return p.End(allreduce.Run(ctx, dev, s, p.Row))
}

// launch starts the other ranks as processes and is rank 0 itself.
func (c *Flags) launch(ctx context.Context, s *allreduce.Spec, p *Process) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return input.Fault(err)
	}
	s.Listener, s.Rank = l, 0
	port := l.Addr().(*net.TCPAddr).AddrPort().Port()
	p.Threads(share(s.World))
	others := ranks.NewCrew(ctx, s.World)
	defer others.Cancel()
	for r := 1; r < s.World; r++ {
		args := append(slices.Clone(p.Args), "--ranks", fmt.Sprint(s.World), "--rank", fmt.Sprint(r), "--rendezvous",
			l.Addr().String(), "--addr", ranks.Loopback(port, r).String())
		if err := others.Start(r, nil, []string{fmt.Sprintf("GOMAXPROCS=%d", share(s.World))}, nil,
			args...); err != nil {
			return err
		}
	}
	c.Rank, c.Addr = 0, ranks.Loopback(port, 0).String()
	own := c.take(others.Ctx, s, p)
	if own != nil {
		others.Cancel()
	}
	first := others.Wait(p.Stderr)
	if first != nil && (own == nil || errors.Is(own, context.Canceled) && ctx.Err() == nil) {
		return first
	}
	return own
}
