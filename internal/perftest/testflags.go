package perftest

import (
	"errors"
	"fmt"
	"math/bits"
	"time"

	"railyard/entropy"
	"railyard/internal/field"
	"railyard/internal/input"
	"railyard/verbs"
)

// Test are the flags of every measurement between two hosts.
type Test struct {
	Device
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

// Bandwidth are the flags of the bandwidth tests.
type Bandwidth struct {
	Test
	QPs   int  `help:"Queue pairs" default:"1" name:"qps"`
	Depth int  `help:"Requests in flight per queue pair" default:"64"`
	Spray bool `help:"Spray packets over UDP source ports: WRITE only, selective repeat"`

	SetAside int    `help:"With --spray: packets until a source port with a loss is used again; 0: none" default:"0" placeholder:"PACKETS"`
	LB       string `help:"With --spray: source port policy: entropy (round robin), oblivious, bitmap, mixed; reps,source_ports=32" name:"lb" placeholder:"POLICY"`
}

// Spec checks the flags and returns the test of an operation.
func (c *Bandwidth) Spec(op Op) (*Spec, error) {
	s := &Spec{Op: op, QPs: c.QPs, Depth: c.Depth, Iters: c.Iters, Time: c.Duration,
		Warmup: min(100, c.Iters/10),
		Connect: ConnectParams{MTU: c.MTU, Timeout: ackTimeout(c.Timeout, c.QPs),
			RetryCount: c.Retry, RNRRetry: c.RNRRetry, Entropy: 1, Transport: c.Transport}}
	if c.Transport == verbs.MRC && (c.Spray || op == OpSend || op == OpRead) {
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
	}{{"--qps", int64(c.QPs), 1, MaxQPs}, {"--depth", int64(c.Depth), 1, 4096},
		{"--iters", c.Iters, 1, MaxIters},
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
	s.Sizes, err = Sizes("--size", c.Size, MaxSize)
	return s, err
}

// choice checks the policy for source ports, and sets their number.
func (c *Bandwidth) choice(s *Spec) error {
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

// ackTimeout is the default timeout. One processor serves all queue pairs, so a delayed ACK is not lost, and the
// delay grows with their number.
func ackTimeout(chosen, qps int) int {
	if chosen > 0 {
		return chosen
	}
	return 14 + bits.Len(uint(max(0, qps-1)/64))
}
