package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"os/exec"
	"strings"
	"time"

	"railyard/internal/perftest"
	"railyard/roce"
	"railyard/unit"
	"railyard/verbs"
)

// ours runs one perftest session against a server in another process; used is what that cost both.
func (c *rdmaBenchCmd) ours(ctx context.Context, op perftest.Op, size int64) (r perftest.Result, used cpuTime,
	err error) {
	server, line, err := child(ctx, "rdma", "serve", "--addr", "127.65.0.1", "--port", "0")
	if err != nil {
		return r, used, err
	}
	defer stop(server)
	words := strings.Fields(line)
	to, err := netip.ParseAddrPort(words[len(words)-1])
	if err != nil {
		return r, used, fmt.Errorf("the server said %q", line)
	}
	dev, err := perftest.OpenNear(verbs.DeviceConfig{Line: 100 * unit.Gbps}, to.Addr())
	if err != nil {
		return r, used, err
	}
	defer dev.Close()
	s := &perftest.Spec{Op: op, Sizes: []int64{size}, QPs: 1, Depth: 16, Time: c.Duration, Warmup: 100,
		Connect: perftest.ConnectParams{Timeout: 14, RetryCount: 7, RNRRetry: 7}}
	cl, err := perftest.Connect(ctx, dev, to, s)
	if err != nil {
		return r, used, err
	}
	defer cl.Close()
	before := ownCPU()
	r, err = cl.Run(ctx, s, size, nil)
	if err != nil {
		return r, used, err
	}
	used = ownCPU().less(before)
	f, err := cl.Finish()
	if f.Counters.BadICRC > 0 {
		return r, used, fmt.Errorf("%d datagrams with a wrong ICRC", f.Counters.BadICRC)
	}
	stop(server)
	return r, used.plus(childCPU(server)), err
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
