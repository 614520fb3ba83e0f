package perftest

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"railyard/roce"
	"railyard/verbs"
)

// An answer may overtake the acknowledgement of what it answers: here always by
// a fifth of a millisecond. The next request then goes out although the last one
// is not acknowledged yet; without room for it 23 of 60 runs ended with "work
// queue is full".
func TestAnswerBeforeAcknowledgement(t *testing.T) {
	s := &Spec{Op: OpLat, Sizes: []int64{64}, QPs: 1, Depth: 1, Iters: 400, Warmup: 5, Connect: plainConnect}
	s.Connect.Entropy = 8 // packets leave by different sockets, one after the other
	c := session(t, s, func(d *verbs.DeviceConfig) {
		d.NoOffload = true
		d.Tap = func(_ time.Time, out bool, _, _ netip.AddrPort, _ uint8, _ uint16, b []byte) {
			if out && len(b) > 0 && roce.Opcode(b[0]) == roce.Acknowledge {
				time.Sleep(200 * time.Microsecond)
			}
		}
	})
	for range 2 { // and what one size leaves behind is not the next one's
		r, err := c.Run(context.Background(), s, 64, nil)
		if err != nil || r.Iters != 400 {
			t.Fatalf("%d of 400: %v", r.Iters, err)
		}
	}
}
