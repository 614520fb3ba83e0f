package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"
)

// A stamp says the rate that the port has when the frame starts: before a cable is retrained and behind it.
// What asks for no telemetry, or carries no payload, is not written into.
func TestStampsRate(t *testing.T) {
	b := newBench(t, 2, func(s *queue.Spec) { s.Watchdog.On = false })
	b.StampAll(unit.Microsecond)
	send := func(ask bool, payload uint16) *Told {
		pi := b.free // where the packet will be
		if pi < 0 {
			pi = int32(len(b.Packets))
		}
		b.put(b.Q.Now()+unit.Microsecond, 0, 1, 24, payload)
		if b.told[pi] = (Told{}); ask {
			b.Ask(pi, roce.TelemetryINT, 0)
		}
		b.run(b.Q.Now() + 10*unit.Microsecond)
		return &b.told[pi]
	}
	for _, r := range []unit.Rate{100 * unit.Gbps, 25 * unit.Gbps, 50 * unit.Gbps, 100 * unit.Gbps} {
		b.SetLink(b.in[1], up(r))
		got := send(true, 1000).Stamps()
		if len(got) != 1 || got[0].Rate() != r {
			t.Errorf("at %v the packet says %v", r, got)
		}
		if got := send(false, 1000); got.Hops != 0 {
			t.Errorf("a packet that asks for nothing says %v", got)
		}
		if got := send(true, 0); got.Hops != 0 {
			t.Errorf("a packet without payload says %v", got)
		}
	}
}
