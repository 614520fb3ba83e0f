package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"os/exec"
	"strings"

	"railyard/internal/perftest"
	"railyard/internal/ranks"
	"railyard/roce"
	"railyard/unit"
	"railyard/verbs"
)

// ours runs one perftest session against a server in another process. used is the processor time of both.
func (b *Bench) ours(ctx context.Context, op perftest.Op, size int64) (r perftest.Result, used cpuTime, err error) {
	addr, release, err := ranks.Claim()
	if err != nil {
		return r, used, err
	}
	defer release()
	server, line, err := ranks.Start(ctx, nil, "rdma", "serve", "--addr", addr.String(), "--port", "0")
	if err != nil {
		return r, used, err
	}
	defer ranks.Stop(server)
	words := strings.Fields(line)
	to, err := netip.ParseAddrPort(words[len(words)-1])
	if err != nil {
		return r, used, fmt.Errorf("the server sent %q", line)
	}
	dev, err := perftest.OpenNear(verbs.DeviceConfig{Line: 100 * unit.Gbps}, to.Addr())
	if err != nil {
		return r, used, err
	}
	defer dev.Close()
	s := &perftest.Spec{Op: op, Sizes: []int64{size}, QPs: 1, Depth: 16, Time: b.Duration, Warmup: 100,
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
	ranks.Stop(server)
	return r, used.plus(childCPU(server)), err
}

// listening waits until iperf3 reports that it listens.
func listening(says io.Reader) error {
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "Server listening") {
			return nil
		}
	}
	return fmt.Errorf("iperf3 -s ended before it listened: %s", lines.Text())
}

// iperf runs iperf3 between two processes and returns the receiver's result.
func (b *Bench) iperf(ctx context.Context, udp bool) (float64, error) {
	const port = "5299"
	addr, release, err := ranks.Claim()
	if err != nil {
		return 0, err
	}
	defer release()
	server := exec.CommandContext(ctx, b.Iperf, "-s", "-1", "-p", port, "-B", addr.String(), "--forceflush")
	says, err := server.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer ranks.Stop(server)
	if err := listening(says); err != nil {
		return 0, err
	}
	go func() { _, _ = io.Copy(io.Discard, says) }()
	args := []string{"-c", addr.String(), "-p", port, "-J", "-t", fmt.Sprint(int(math.Ceil(b.Duration.Seconds())))}
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
	out, err := exec.CommandContext(ctx, b.Iperf, args...).Output()
	if jerr := json.Unmarshal(out, &r); err == nil {
		err = jerr
	}
	if r.Error != "" { // for any exit code, because it is more specific
		err = errors.New(r.Error)
	}
	if err != nil {
		return 0, fmt.Errorf("iperf3 failed: %w", err)
	}
	if udp && r.End.Received.Bps == 0 { // older versions report only one sum for UDP
		return r.End.Sum.Bps * (1 - r.End.Sum.Lost/100) / 1e9, nil
	}
	return r.End.Received.Bps / 1e9, nil
}
