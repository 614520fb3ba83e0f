package main

import (
	"errors"
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
	Rounds   int           `help:"Measure everything so many times, in turn; medians count." default:"5" range:"1,100"`
	Duration time.Duration `help:"Time per measurement." default:"1500ms"`
	JSON     bool          `help:"Print as JSON."`
	Plot     string        `help:"Draw the comparison as bars." placeholder:"FILE.png"`
	Force    bool          `help:"Replace an existing plot."`
	Peer     string        `hidden:""`
}

func (c *rdmaBenchCmd) Help() string {
	return `Over loopback between two processes, in one run, so that the machine's mood is the same for
all: RDMA WRITE of 1 MiB with path MTU 4096 and the ICRC verified, iperf3 UDP with datagrams of the same
size, iperf3 TCP; the latency of a 4 KiB WRITE beside a bare UDP and a TCP ping-pong in Go; and the CPU
time that a byte costs both processes by WRITE and by a TCP stream in Go, beside one copy in memory.
iperf3 is left out, with a note, where it is not installed.

Here the CPU plays the NIC: what WRITE costs it is what a NIC would do instead, and what TCP costs stays.

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
		return field.New("--force", "means nothing without --plot")
	}
	if err := errors.Join(within("--duration", c.Duration, 100*time.Millisecond, time.Minute),
		plot.Check(c.Plot)); err != nil {
		return err
	}
	if c.Plot != "" { // what cannot be written is said before the minutes that measuring takes
		f, err := output.Create(c.Plot, c.Force)
		if err != nil {
			return err
		}
		f.Drop()
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

// print shows what was measured as bars, each kind to its own scale.
func (c *rdmaBenchCmd) print(e *env, rows []bench.Row) error {
	ratio := func(a, b int) float64 { return bench.Ratio(rows, a, b) }
	ratios := map[string]float64{
		"write_over_iperf3_udp": ratio(bench.Write, bench.UDP),
		"write_over_iperf3_tcp": ratio(bench.Write, bench.TCP),
		"latency_over_bare_udp": ratio(bench.Lat, bench.UDPLat),
		"latency_over_bare_tcp": ratio(bench.Lat, bench.TCPLat),
		"cpu_over_bare_tcp":     ratio(bench.WriteCPU, bench.TCPCPU),
	}
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"rows": rows, "ratios": ratios})
	}
	table.Bench(e.stdout, rows)
	return nil
}
