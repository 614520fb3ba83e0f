package rcudp

import (
	"testing"

	"railyard/internal/rng"
	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// 2 MiB in each direction as WRITEs, SENDs and READs. The path loses 1 % of all datagrams, including reports and
// READ requests, and delays 30 % by up to 40 us. Little more than the lost datagrams is retransmitted. Without loss
// nothing is retransmitted.
func TestOnlyWhatWasLostGoesAgain(t *testing.T) {
	for _, perMille := range []int{0, 10} {
		lost, again, timeouts := 0, int64(0), int64(0)
		for seed := range uint64(10) {
			stream := rng.New(seed, "lost")
			cfg := &rc.Config{MTU: 1024, AckEvery: 16, Timeout: rc.LocalAckTimeout(14), Retries: 7,
				Reads: 16, ReadsIn: 16,
				RNRRetries: 7, RNRTimer: 1, Recovery: rc.Selective, Window: 4096, NakAfter: 256,
				AlwaysReady: true}
			region := make([]byte, 1<<20)
			var mem [2]*rc.Memory
			for i := range mem {
				mem[i] = rc.NewMemory(1)
				if err := mem[i].RegisterBuffer(key, base, region,
					rc.LocalWrite|rc.RemoteWrite|rc.RemoteRead); err != nil {
					t.Fatal(err)
				}
			}
			w := newWorld(cfg, &stream, faults{late: 300}, 4<<20, [2]uint32{9, roce.PSNMask - 9}, mem)
			w.spy = func(int, *Datagram) bool {
				hit := w.hit(perMille)
				if hit {
					lost++
				}
				return hit
			}
			left := 0
			for i, c := range w.conns {
				c.OnComplete = func(d rc.Completion) {
					if left--; d.Status != rc.Success {
						t.Errorf("seed %d: %v at end %d", seed, d.Status, i)
					}
				}
				for n := range 32 {
					left++
					r := rc.Request{Verb: []rc.Verb{rc.Write, rc.Write, rc.Send, rc.Read}[n%4], VA: base,
						RKey: key, Len: 1 << 16, Data: make([]byte, 1<<16)}
					if err := c.Post(&r); err != nil {
						t.Fatal(err)
					}
				}
			}
			for left > 0 && w.now < unit.Second && w.step() {
			}
			if left > 0 {
				t.Errorf("seed %d: %d requests are open after %v", seed, left, w.now)
			}
			for _, e := range w.ends {
				again += e.Count.Again
				timeouts += e.Count.Timeouts
			}
		}
		if again > int64(lost)*11/10 || timeouts > 0 {
			t.Errorf("%d datagrams lost, %d packets retransmitted, %d timeouts", lost, again, timeouts)
		}
	}
}
