package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"railyard/internal/perftest"
	"railyard/roce"
	"railyard/unit"
	"railyard/verbs"
)

type rdmaBenchCmd struct {
	Rounds   int           `help:"Measure everything so many times, in turn; medians count." default:"5" range:"1,100"`
	Duration time.Duration `help:"Time per measurement." default:"1500ms"`
	JSON     bool          `help:"Print as JSON."`
	Echo     bool          `hidden:""`
}

func (c *rdmaBenchCmd) Help() string {
	return `Over loopback between two processes, in one run, so that the machine's mood is the same for
all: RDMA WRITE of 1 MiB with path MTU 4096 and the ICRC verified, iperf3 UDP with datagrams of the same
size, iperf3 TCP; and the latency of a 4 KiB WRITE beside a bare UDP ping-pong in Go. iperf3 is left out,
with a note, where it is not installed.

Example:
  railyard rdma bench --rounds 5`
}

// benchRow is one measured thing: its value in each round.
type benchRow struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`
	Values []float64 `json:"values"`
	Median float64   `json:"median"`
}

// Run is the rdma bench command.
func (c *rdmaBenchCmd) Run(e *env) error {
	if c.Echo {
		return echo(e.stdout)
	}
	if err := within("--duration", c.Duration, 100*time.Millisecond, time.Minute); err != nil {
		return err
	}
	oneThread()
	ctx, cancel := interruptible()
	defer cancel()
	iperf, err := exec.LookPath("iperf3")
	if err != nil {
		fmt.Fprintln(e.stderr, "note: iperf3 is not installed; only the latency is compared")
	}
	rows := []benchRow{{Name: "RDMA WRITE 1 MiB", Unit: "Gbit/s"},
		{Name: "iperf3 UDP, equal datagrams", Unit: "Gbit/s"},
		{Name: "iperf3 TCP", Unit: "Gbit/s"}, {Name: "RDMA WRITE 4 KiB p50", Unit: "us"},
		{Name: "bare UDP 4 KiB p50", Unit: "us"}}
	measure := []func(context.Context) (float64, error){
		func(ctx context.Context) (float64, error) { return c.ours(ctx, e, perftest.OpWrite, 1<<20) },
		func(ctx context.Context) (float64, error) { return c.iperf(ctx, iperf, true) },
		func(ctx context.Context) (float64, error) { return c.iperf(ctx, iperf, false) },
		func(ctx context.Context) (float64, error) { return c.ours(ctx, e, perftest.OpLat, 4096) },
		func(ctx context.Context) (float64, error) { return c.pingpong(ctx) },
	}
	m := newMeter(e)
	for round := range c.Rounds {
		for i, f := range measure {
			m.show(float64(round*len(measure)+i)/float64(c.Rounds*len(measure)), rows[i].Name)
			if iperf == "" && (i == 1 || i == 2) {
				continue
			}
			v, err := f(ctx)
			if err != nil {
				m.finish()
				return fmt.Errorf("%s: %w", rows[i].Name, err)
			}
			rows[i].Values = append(rows[i].Values, v)
		}
	}
	m.finish()
	for i := range rows {
		rows[i].Median = medianOf(rows[i].Values)
	}
	return c.print(e, rows)
}

func medianOf(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

func (c *rdmaBenchCmd) print(e *env, rows []benchRow) error {
	ratio := func(a, b int) float64 {
		if rows[b].Median == 0 {
			return 0
		}
		return rows[a].Median / rows[b].Median
	}
	ratios := map[string]float64{
		"write_over_iperf3_udp": ratio(0, 1),
		"write_over_iperf3_tcp": ratio(0, 2),
		"latency_over_bare_udp": ratio(3, 4),
	}
	if c.JSON {
		return printJSON(e.stdout, map[string]any{"rows": rows, "ratios": ratios})
	}
	for _, r := range rows {
		if len(r.Values) > 0 {
			fmt.Fprintf(e.stdout, "%-29s %8.2f %-6s  (%.2f to %.2f in %d rounds)\n", r.Name, r.Median, r.Unit,
				slices.Min(r.Values), slices.Max(r.Values), len(r.Values))
		}
	}
	if ratio(0, 1) > 0 {
		fmt.Fprintf(e.stdout, "\nWRITE over iperf3 UDP %.2fx (aim: at least 1), over TCP %.2fx\n",
			ratio(0, 1), ratio(0, 2))
	}
	fmt.Fprintf(e.stdout, "latency over bare UDP %.2fx (aim: at most 2)\n", ratio(3, 4))
	return nil
}

// child starts this program again and returns the first line it prints.
func child(ctx context.Context, args ...string) (cmd *exec.Cmd, line string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	cmd = exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), "RAILYARD_CHILD=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	var problems strings.Builder
	cmd.Stderr = &problems
	if _, err := cmd.StdinPipe(); err != nil { // its end tells the child that we are gone
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		return nil, "", fmt.Errorf("%s did not start: %s", strings.Join(args, " "),
			strings.TrimSpace(problems.String()))
	}
	return cmd, strings.TrimSpace(line), nil
}

// followParent ends a child process when its parent is gone.
func followParent() {
	if s := os.Getenv("RAILYARD_CHILD"); s == "" || s == "stdin" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(exitInterupt)
	}()
}

// stop ends a child process.
func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// ours runs one perftest session against a server in another process.
func (c *rdmaBenchCmd) ours(ctx context.Context, e *env, op perftest.Op, size int64) (float64, error) {
	server, line, err := child(ctx, "rdma", "serve", "--addr", "127.65.0.1", "--port", "0")
	if err != nil {
		return 0, err
	}
	defer stop(server)
	words := strings.Fields(line)
	to, err := netip.ParseAddrPort(words[len(words)-1])
	if err != nil {
		return 0, fmt.Errorf("the server said %q", line)
	}
	dev, err := perftest.OpenNear(verbs.DeviceConfig{Line: 100 * unit.Gbps}, to.Addr())
	if err != nil {
		return 0, err
	}
	defer dev.Close()
	s := &perftest.Spec{Op: op, Sizes: []int64{size}, QPs: 1, Depth: 16, Time: c.Duration, Warmup: 100,
		Connect: perftest.ConnectParams{Timeout: 14, RetryCount: 7, RNRRetry: 7}}
	cl, err := perftest.Connect(ctx, dev, to, s)
	if err != nil {
		return 0, err
	}
	defer cl.Close()
	r, err := cl.Run(ctx, s, size, nil)
	if err != nil {
		return 0, err
	}
	f, err := cl.Finish()
	if f.Counters.BadICRC > 0 {
		return 0, fmt.Errorf("%d datagrams with a wrong ICRC", f.Counters.BadICRC)
	}
	if op == perftest.OpLat {
		return r.P50, err
	}
	return r.Gbps, err
}

// iperf runs iperf3 between two processes and returns what the receiver got.
func (c *rdmaBenchCmd) iperf(ctx context.Context, iperf string, udp bool) (float64, error) {
	const port = "5299"
	server := exec.CommandContext(ctx, iperf, "-s", "-1", "-p", port, "-B", "127.0.0.1")
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer stop(server)
	args := []string{"-c", "127.0.0.1", "-p", port, "-J", "-t",
		fmt.Sprint(int(math.Ceil(c.Duration.Seconds())))}
	if udp {
		args = append(args, "-u", "-b", "0", "-l", fmt.Sprint(4096+roce.BTHLen+roce.ICRCLen))
	}
	var r struct {
		Error string `json:"error"`
		End   struct {
			Sum struct {
				Bps  float64 `json:"bits_per_second"`
				Lost float64 `json:"lost_percent"`
			} `json:"sum"`
			Received struct {
				Bps float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	for try := 0; ; try++ { // the server needs a moment to listen
		out, err := exec.CommandContext(ctx, iperf, args...).Output()
		r.Error = ""
		if jerr := json.Unmarshal(out, &r); err == nil {
			err = jerr
		}
		if err == nil && r.Error == "" {
			break
		}
		if try == 50 || ctx.Err() != nil {
			return 0, fmt.Errorf("iperf3 failed: %s %w", r.Error, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if udp && r.End.Received.Bps == 0 { // older versions report only one sum for UDP
		return r.End.Sum.Bps * (1 - r.End.Sum.Lost/100) / 1e9, nil
	}
	return r.End.Received.Bps / 1e9, nil
}

// echo sends every datagram back; the other end of the bare ping-pong.
func echo(w io.Writer) error {
	oneThread()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, c.LocalAddr())
	b := make([]byte, 1<<16)
	for {
		n, from, err := c.ReadFromUDPAddrPort(b)
		if err != nil {
			return err
		}
		if _, err := c.WriteToUDPAddrPort(b[:n], from); err != nil {
			return err
		}
	}
}

// pingpong is the bare comparison: 4 KiB there and back, half of it in us.
func (c *rdmaBenchCmd) pingpong(ctx context.Context) (float64, error) {
	server, line, err := child(ctx, "rdma", "bench", "--echo")
	if err != nil {
		return 0, err
	}
	defer stop(server)
	conn, err := net.Dial("udp4", line)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	b := make([]byte, 4096)
	var us []float64
	for began := time.Now(); time.Since(began) < c.Duration; {
		start := time.Now()
		if err := conn.SetReadDeadline(start.Add(time.Second)); err != nil {
			return 0, err
		}
		if _, err := conn.Write(b); err != nil {
			return 0, err
		}
		if _, err := conn.Read(b); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				continue
			}
			return 0, err
		}
		us = append(us, float64(time.Since(start).Nanoseconds())/2e3)
	}
	return medianOf(us), nil
}
