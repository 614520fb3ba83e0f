// Package perftest measures bandwidth and latency of RDMA between two
// processes, in the manner of perftest's ib_write_bw and its sisters.
//
// A server waits on TCP. A client sends its settings, both exchange their queue pairs, and the client runs the
// test. The server only responds: as memory for WRITE and READ, with receives for SEND, and by writing back for
// latency. The TCP connection stays open meanwhile. When it ends, the server removes the session.
package perftest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"railyard/rcudp"
	"railyard/unit"
	"railyard/verbs"
)

// Port is the TCP port of the server, perftest's.
const Port = 18515

// Op is the operation that a session measures.
type Op string

// Operations.
const (
	OpWrite Op = "write"
	OpSend  Op = "send"
	OpRead  Op = "read"
	OpLat   Op = "lat"
)

// Limits of a session, on both sides.
const (
	MaxSize   = 1 << 30
	MaxQPs    = 1024
	MaxMemory = 4 << 30
	MaxIters  = 1 << 40
)

// Request is the first message of a client.
type Request struct {
	Version int           `json:"version"`
	Op      Op            `json:"op"`
	Size    int64         `json:"size"` // bytes of the largest message
	QPs     []verbs.Info  `json:"qps"`
	Connect ConnectParams `json:"connect"`
}

// ConnectParams are the attributes that a client requests for both ends.
type ConnectParams struct {
	MTU, Timeout, RetryCount, RNRRetry, Entropy int
	Transport                                   string // verbs.RC or verbs.MRC [RC]
}

// Reply is the server's answer.
type Reply struct {
	Error string       `json:"error,omitempty"`
	QPs   []verbs.Info `json:"qps"`
}

// last is a client's last message: the server must checksum its memory, or the client is done.
type last struct {
	Sum int64 `json:"sum,omitempty"` // bytes of each queue pair's memory
}

// sums is the answer to the former: SHA-256 of each.
type sums struct {
	Memory [][]byte `json:"memory"`
}

// Final is the counters of the server, sent when the client is done.
type Final struct {
	Counters rcudp.Counters `json:"counters"`
	Drops    int64          `json:"kernel_drops"`
}

const version = 1

// check refuses settings that no session may have.
func (r *Request) check() error {
	switch {
	case r.Version != version:
		return fmt.Errorf("the client speaks version %d of the test protocol, the server %d",
			r.Version, version)
	case r.Op != OpWrite && r.Op != OpSend && r.Op != OpRead && r.Op != OpLat:
		return fmt.Errorf("unknown test %q", r.Op)
	case r.Size < 1 || r.Size > MaxSize:
		return fmt.Errorf("message size %d is out of range 1–%d bytes", r.Size, MaxSize)
	case r.Connect.Transport == verbs.MRC && r.Op != OpWrite && r.Op != OpLat:
		return fmt.Errorf("an MRC queue pair carries WRITE and WRITE with immediate only, not %s", r.Op)
	case len(r.QPs) < 1 || len(r.QPs) > MaxQPs:
		return fmt.Errorf("1 to %d queue pairs, found %d", MaxQPs, len(r.QPs))
	case r.Size*int64(len(r.QPs)) > MaxMemory:
		return fmt.Errorf("%s with %s each need more than the %s a session may have",
			unit.Plural(len(r.QPs), "queue pair"), unit.Plural(r.Size, "byte"),
			unit.Plural(int64(MaxMemory), "byte"))
	}
	return nil
}

// DeviceFor returns the configuration of a device for both kinds of process. If addr is invalid, an address is
// chosen that can reach peer.
func DeviceFor(addr, peer netip.Addr) (netip.Addr, error) {
	if addr.IsValid() {
		return addr, nil
	}
	c, err := net.Dial("udp", netip.AddrPortFrom(peer, 9).String()) // nothing is sent
	if err != nil {
		return addr, fmt.Errorf("no route to %v: %w", peer, errors.Unwrap(err))
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// OpenNear opens a device on addr, or on the address that reaches peer. On loopback, if the peer has the same address,
// the next free address of 127.0.0.0/8 is used.
func OpenNear(cfg verbs.DeviceConfig, peer netip.Addr) (*verbs.Device, error) {
	chosen := cfg.Addr.IsValid()
	addr, err := DeviceFor(cfg.Addr, peer)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		cfg.Addr = addr
		if chosen || !addr.IsLoopback() || !addr.Is4() || addr != peer {
			dev, err := verbs.OpenDevice(cfg)
			var used *rcudp.PortInUseError
			if err == nil || chosen || !errors.As(err, &used) || !addr.IsLoopback() ||
				!addr.Is4() || try > 1000 {
				return dev, err
			}
		}
		addr = addr.Next()
	}
}

// waitAll polls until n completions have arrived and returns the first that failed.
func waitAll(ctx context.Context, cq *verbs.CQ, wc []verbs.WC, n int) error {
	for n > 0 {
		k, err := cq.Wait(ctx, wc[:min(n, len(wc))])
		if err != nil {
			return err
		}
		for _, w := range wc[:k] {
			if w.Status != verbs.StatusSuccess {
				return &CompletionError{w}
			}
		}
		n -= k
	}
	return nil
}

// CompletionError is a work request that failed.
type CompletionError struct{ WC verbs.WC }

func (e *CompletionError) Error() string {
	hint := ""
	switch e.WC.Status {
	case verbs.StatusRetryExcErr:
		hint = ": the peer does not answer, or its packets do not get through"
	case verbs.StatusRemAccessErr:
		hint = ": the peer refuses the key or the range"
	case verbs.StatusRNRRetryExcErr:
		hint = ": the peer posts no receives"
	}
	return fmt.Sprintf("%v on queue pair %#x failed with %v%s", e.WC.Opcode, e.WC.QP.QPN, e.WC.Status, hint)
}

// options translates the session's parameters.
func (p ConnectParams) options(share int) verbs.ConnectOptions {
	o := verbs.DefaultConnect()
	o.MTU, o.Share, o.Entropy = p.MTU, share, max(1, p.Entropy)
	if p.Timeout > 0 {
		o.Timeout = p.Timeout
	}
	o.RetryCount, o.RNRRetry = p.RetryCount, p.RNRRetry
	if p.Transport == verbs.MRC { // an MRC connection supports nothing else
		o.Access = verbs.RemoteWrite
	}
	return o
}

// Result is one line of a bandwidth or latency table.
type Result struct {
	Op              Op      `json:"op"`
	Size            int64   `json:"size_bytes"`
	QPs             int     `json:"qps"`
	Iters           int64   `json:"iterations"`
	Seconds         float64 `json:"seconds"`
	Gbps            float64 `json:"bandwidth_gbps"`     // payload
	MsgRate         float64 `json:"messages_per_s"`     //
	Min             float64 `json:"latency_min_us"`     // post to completion; for lat half a round trip
	P50             float64 `json:"latency_p50_us"`     //
	Mean            float64 `json:"latency_mean_us"`    //
	P99             float64 `json:"latency_p99_us"`     //
	P999            float64 `json:"latency_p99_9_us"`   //
	Max             float64 `json:"latency_max_us"`     //
	Retransmissions int64   `json:"retransmissions"`    // packets of both ends
	Timeouts        int64   `json:"timeouts"`           //
	CNPs            int64   `json:"cnps"`               // received here
	Cuts            int64   `json:"cuts"`               // rate reductions by this end's congestion control
	MTU             int     `json:"path_mtu"`           //
	Verified        bool    `json:"verified,omitempty"` // the bytes were compared
	Drops           int64   `json:"kernel_drops"`       // datagrams dropped from a full socket
}

// Progress reports the progress of a test: done of total work, and the rate so far.
type Progress func(done float64, gbps float64)
