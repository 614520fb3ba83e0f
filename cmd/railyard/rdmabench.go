package main

import (
	"fmt"
	"os/exec"
	"time"

	"railyard/internal/field"
	"railyard/internal/output"
	"railyard/internal/perftest/bench"
	"railyard/internal/report/plot"
	"railyard/internal/report/table"
)

type rdmaBenchCmd struct {
	Rounds   int           `help:"Interleaved rounds; reports medians" default:"5" range:"1,100"`
	Duration time.Duration `help:"Time per measurement" default:"1500ms" range:"100ms,1m"`
	JSON     bool          `help:"Print as JSON"`
	Plot     string        `help:"Plot the comparison" placeholder:"FILE.png"`
	Force    bool          `help:"Replace an existing plot"`
	Peer     string        `hidden:""`
}

func (c *rdmaBenchCmd) Help() string {
	return `Measures over loopback between two processes, interleaved: RDMA WRITE of 1 MiB with path MTU 4096
and ICRC checks, iperf3 UDP with the same datagram size, iperf3 TCP; latency of a 4 KiB WRITE, a UDP
and a TCP ping-pong in Go; CPU time per byte of WRITE and of a TCP stream in Go, next to one memory
copy. Without iperf3 its rows are missing. The last line has the keys of transport.tcp for this host.

The CPU does the work of the NIC here: a NIC would save the CPU time of WRITE, but not that of TCP.

Examples:
  railyard rdma bench --rounds 5
  railyard rdma bench --rounds 3 --plot bench.png`
}

// Run is the rdma bench command.
func (c *rdmaBenchCmd) Run(e *env) error {
	if c.Peer != "" {
		e.oneThread()
		return bench.Serve(e.stdout, c.Peer)
	}
	if c.Force && c.Plot == "" {
		return field.New("--force", "has no effect without --plot")
	}
	if err := plot.Check(c.Plot); err != nil {
		return err
	}
	if err := output.Fits(c.Force, c.Plot); err != nil { // before measurements that take minutes
		return err
	}
	e.oneThread()
	ctx, cancel := interruptible()
	defer cancel()
	iperf, err := exec.LookPath("iperf3")
	if err != nil {
		fmt.Fprintln(e.stderr, "note: iperf3 is not installed; its rows are left out")
	}
	m := newMeter(e)
	rows, err := (&bench.Bench{Iperf: iperf, Rounds: c.Rounds, Duration: c.Duration}).Run(ctx, m.show)
	m.finish()
	if err != nil {
		return err
	}
	if err := c.print(e, rows); err != nil || c.Plot == "" {
		return err
	}
	return plot.Bench(rows, c.Plot, c.Force)
}

// print prints the measurements as bars, each kind with its own scale.
func (c *rdmaBenchCmd) print(e *env, rows []bench.Row) error {
	ratios := bench.Ratios(rows)
	return e.show(c.JSON, rdmaBenchResult{ratios, rows, bench.TCPKeys(rows)}, func() {
		table.Bench(e.stdout, rows)
	})
}
