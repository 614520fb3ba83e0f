package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"railyard/internal/field"
	"railyard/internal/output"
	"railyard/internal/perftest"
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

// benchRow is one measured thing: its value in each round.
type benchRow struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	Median float64   `json:"median"`
	// Kernel is how much of CPU time the kernel took, 0 to 1, in the median.
	Kernel float64 `json:"kernel_share,omitempty"`

	kernel []float64
}

// Rows of the bench.
const (
	benchWrite = iota
	benchUDP
	benchTCP
	benchLat
	benchUDPLat
	benchTCPLat
	benchWriteCPU
	benchTCPCPU
	benchCopy
)

func benchRows() []benchRow {
	return []benchRow{
		benchWrite:    {Name: "RDMA WRITE 1 MiB", Unit: "Gbit/s"},
		benchUDP:      {Name: "iperf3 UDP, equal datagrams", Unit: "Gbit/s"},
		benchTCP:      {Name: "iperf3 TCP", Unit: "Gbit/s"},
		benchLat:      {Name: "RDMA WRITE 4 KiB p50", Unit: "us"},
		benchUDPLat:   {Name: "bare UDP 4 KiB p50", Unit: "us"},
		benchTCPLat:   {Name: "bare TCP 4 KiB p50", Unit: "us"},
		benchWriteCPU: {Name: "RDMA WRITE, CPU", Unit: "ns/KiB"},
		benchTCPCPU:   {Name: "bare TCP, CPU", Unit: "ns/KiB"},
		benchCopy:     {Name: "one copy in memory, CPU", Unit: "ns/KiB"},
	}
}

// measuring takes one value of a row.
type measuring func(context.Context) (float64, error)

// measure is how each row is measured; one that is another's by-product is nil.
func (c *rdmaBenchCmd) measure(iperf string, rows []benchRow) []measuring {
	cpu := func(row int, used cpuTime, bytes float64) {
		r := &rows[row]
		r.Values = append(r.Values, used.total()/bytes*1024)
		r.kernel = append(r.kernel, used.system/used.total())
	}
	return []measuring{
		benchWrite: func(ctx context.Context) (float64, error) {
			r, used, err := c.ours(ctx, perftest.OpWrite, 1<<20)
			if err == nil {
				cpu(benchWriteCPU, used, float64(r.Iters*r.Size))
			}
			return r.Gbps, err
		},
		benchUDP: func(ctx context.Context) (float64, error) { return c.iperf(ctx, iperf, true) },
		benchTCP: func(ctx context.Context) (float64, error) { return c.iperf(ctx, iperf, false) },
		benchLat: func(ctx context.Context) (float64, error) {
			r, _, err := c.ours(ctx, perftest.OpLat, 4096)
			return r.P50, err
		},
		benchUDPLat: func(ctx context.Context) (float64, error) {
			return barePingPong(ctx, "udp4",
				c.Duration)
		},
		benchTCPLat: func(ctx context.Context) (float64, error) {
			return barePingPong(ctx, "tcp4",
				c.Duration)
		},
		benchTCPCPU: func(ctx context.Context) (float64, error) {
			bytes, used, err := bareStream(ctx, c.Duration)
			if err == nil {
				cpu(benchTCPCPU, used, bytes)
			}
			return 0, err
		},
		benchCopy: func(context.Context) (float64, error) { return bareCopy(c.Duration / 10), nil },
	}
}

// Run is the rdma bench command.
func (c *rdmaBenchCmd) Run(e *env) error {
	if c.Peer != "" {
		return bareServe(e, c.Peer)
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
	rows := benchRows()
	measure := c.measure(iperf, rows)
	m := newMeter(e)
	for round := range c.Rounds {
		for i, f := range measure {
			m.show(float64(round*len(measure)+i)/float64(c.Rounds*len(measure)), rows[i].Name)
			if f == nil || iperf == "" && (i == benchUDP || i == benchTCP) {
				continue
			}
			v, err := f(ctx)
			if err != nil {
				m.finish()
				return fmt.Errorf("%s: %w", rows[i].Name, err)
			}
			if i != benchTCPCPU {
				rows[i].Values = append(rows[i].Values, v)
			}
		}
	}
	m.finish()
	for i := range rows {
		rows[i].Median, rows[i].Kernel = medianOf(rows[i].Values), medianOf(rows[i].kernel)
	}
	if err := c.print(e, rows); err != nil || c.Plot == "" {
		return err
	}
	return c.draw(rows)
}

func medianOf(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// print shows what was measured as bars, each kind to its own scale.
func (c *rdmaBenchCmd) print(e *env, rows []benchRow) error {
	ratio := func(a, b int) float64 {
		if rows[b].Median == 0 {
			return 0
		}
		return rows[a].Median / rows[b].Median
	}
	ratios := map[string]float64{
		"write_over_iperf3_udp": ratio(benchWrite, benchUDP),
		"write_over_iperf3_tcp": ratio(benchWrite, benchTCP),
		"latency_over_bare_udp": ratio(benchLat, benchUDPLat),
		"latency_over_bare_tcp": ratio(benchLat, benchTCPLat),
		"cpu_over_bare_tcp":     ratio(benchWriteCPU, benchTCPCPU),
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
	if ratio(benchWrite, benchUDP) > 0 {
		fmt.Fprintf(e.stdout, "WRITE over iperf3 UDP %.2fx (aim: at least 1), over TCP %.2fx\n",
			ratio(benchWrite, benchUDP), ratio(benchWrite, benchTCP))
	}
	fmt.Fprintf(e.stdout, "latency over bare UDP %.2fx (aim: at most 2), over TCP %.2fx\n",
		ratio(benchLat, benchUDPLat), ratio(benchLat, benchTCPLat))
	fmt.Fprintf(e.stdout, "of TCP's CPU time the kernel takes %.0f %%; four copies through memory would be "+
		"%.2fx of it\n", 100*rows[benchTCPCPU].Kernel, 4*ratio(benchCopy, benchTCPCPU))
	fmt.Fprintf(e.stdout, "WRITE's CPU time is %.2fx TCP's, %.0f %% of it the kernel's: here a process is "+
		"the NIC\n", ratio(benchWriteCPU, benchTCPCPU), 100*rows[benchWriteCPU].Kernel)
	return nil
}
