package perftest

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"railyard/roce"
	"railyard/verbs"
)

// overtaking delays a server's acknowledgement whose answer left earlier, until the client has sent its next
// request. It receives what both devices send.
type overtaking struct {
	pings  int // requests after which the client waits for its completions
	mu     sync.Mutex
	moved  sync.Cond
	client netip.Addr // who sends first
	asked  map[uint32]bool
	told   map[uint32]bool // answers
	port   uint16          // source port of the last answer
	held   int             // acknowledgements
	over   bool
}

func (o *overtaking) tap(_ time.Time, out bool, src, _ netip.AddrPort, _ uint8, _ uint16, b []byte) {
	var h roce.Header
	if !out || h.DecodeBTH(b) != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.client.IsValid() {
		o.client = src.Addr()
	}
	switch {
	case h.Opcode == roce.WriteOnlyImm && src.Addr() == o.client:
		o.asked[h.PSN] = true
		o.moved.Broadcast()
	case h.Opcode == roce.WriteOnlyImm:
		o.told[h.PSN], o.port = true, src.Port()
	case h.Opcode == roce.Acknowledge && src.Addr() != o.client && src.Port() != o.port && o.behind():
		for o.held++; o.behind(); { // by another port, so by another system call than the answer
			o.moved.Wait()
		}
	}
}

// behind reports whether every request has its answer, and the client is going to send another one.
func (o *overtaking) behind() bool {
	return !o.over && len(o.asked) == len(o.told) && len(o.told)%o.pings != 0
}

func (o *overtaking) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
	o.moved.Broadcast()
}

// An answer may overtake the acknowledgement of its request. Here it always does, because they leave by different
// sockets. The next request is then sent although the last one is not acknowledged. Without a slot for it 23 of 60
// runs ended with "work queue is full".
func TestRealAnswerBeforeAcknowledgement(t *testing.T) {
	s := &Spec{Op: OpLat, Sizes: []int64{64}, QPs: 1, Depth: 1, Iters: 400, Warmup: 5, Connect: plainConnect}
	s.Connect.Entropy = 8 // packets leave by different sockets in turn
	o := &overtaking{pings: 405, asked: map[uint32]bool{}, told: map[uint32]bool{}}
	o.moved.L = &o.mu
	c := session(t, s, func(d *verbs.DeviceConfig) { d.NoOffload, d.Tap = true, o.tap })
	t.Cleanup(o.end)
	for range 2 { // messages left over from one size do not affect the next
		r, err := c.Run(context.Background(), s, 64, nil)
		if err != nil || r.Iters != 400 {
			t.Fatalf("%d of 400: %v", r.Iters, err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held == 0 {
		t.Error("no answer overtook its acknowledgement")
	}
	t.Logf("%d of 810 answers overtook their acknowledgement", o.held)
}
