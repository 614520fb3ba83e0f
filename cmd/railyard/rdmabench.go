package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"railyard/internal/field"
	"railyard/internal/output"
	"railyard/internal/perftest/bench"
	"railyard/internal/report/plot"
	"railyard/internal/report/screen"
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
	most := map[string]float64{}
	for _, r := range rows {
		most[r.Unit] = max(most[r.Unit], r.Median)
	}
	for i, r := range rows {
		if len(r.Values) == 0 {
			continue
		}
		if i > 0 && rows[i-1].Unit != r.Unit {
			fmt.Fprintln(e.stdout)
		}
		fmt.Fprintf(e.stdout, "%-28s %8.2f %-6s %-21s (%.2f to %.2f in %d)\n", r.Name, r.Median, r.Unit,
			screen.Of(e.stdout).Bar(r.Median/most[r.Unit], 20), slices.Min(r.Values), slices.Max(r.Values),
			len(r.Values))
	}
	fmt.Fprintln(e.stdout)
	if ratio(bench.Write, bench.UDP) > 0 {
		fmt.Fprintf(e.stdout, "WRITE over iperf3 UDP %.2fx (aim: at least 1), over TCP %.2fx\n",
			ratio(bench.Write, bench.UDP), ratio(bench.Write, bench.TCP))
	}
	fmt.Fprintf(e.stdout, "latency over bare UDP %.2fx (aim: at most 2), over TCP %.2fx\n",
		ratio(bench.Lat, bench.UDPLat), ratio(bench.Lat, bench.TCPLat))
	fmt.Fprintf(e.stdout, "of TCP's CPU time the kernel takes %.0f %%; four copies through memory would be "+
		"%.2fx of it\n", 100*rows[bench.TCPCPU].Kernel, 4*ratio(bench.Copy, bench.TCPCPU))
	fmt.Fprintf(e.stdout, "WRITE's CPU time is %.2fx TCP's, %.0f %% of it the kernel's: here a process is "+
		"the NIC\n", ratio(bench.WriteCPU, bench.TCPCPU), 100*rows[bench.WriteCPU].Kernel)
	return nil
}
