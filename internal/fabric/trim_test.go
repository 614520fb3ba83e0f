package fabric

import (
	"testing"

	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// trimming has queue 3 trim above a limit, to 64 bytes of DSCP 48, or 49 towards servers.
func trimming(limit unit.Bytes, either bool) func(*queue.Spec) {
	return func(s *queue.Spec) {
		s.Queues[3] = queue.Class{Weight: 50, Limit: limit, Trim: true}
		s.DSCP[49] = 7
		s.Trim = queue.Trim{Size: 64, DSCP: 48, LastHop: 49, Either: either}
	}
}

// n ports send to one port at line rate. The data queue stays at its limit, and other packets arrive as headers,
// before the data. While a frame leaves, each port receives another. As long as their headers take no longer than a
// frame, at most two headers of each port are queued. Beyond, headers alone use up the port.
func TestTrimmingAboveTheLimit(t *testing.T) {
	const payload, frame, each = 4000, 4062, 200
	for _, n := range []int{2, 8, 32, 48, 60} {
		for _, either := range []bool{false, true} {
			limit := 10 * frame * unit.Byte
			b := newBench(t, n+1, trimming(limit, either))
			gap := unit.Serialize(frame+roce.PreambleIFG, 100*unit.Gbps)
			for i := range each {
				for in := range n {
					b.put(unit.Time(i)*gap+unit.Time(in)*100, in, n, 24, payload)
				}
			}
			b.run(unit.Second)
			if err := b.Audit(); err != nil {
				t.Error(err)
			}
			out := b.in[n]
			if peak := b.QueuePeak(out, 3); peak != limit {
				t.Errorf("%d ports: %v of data wait at most, the limit is %v", n, peak, limit)
			}
			sent := int64(n * each)
			if whole := b.got[int32(n)][3] / payload; whole+b.Trims != sent || b.Drops != 0 ||
				b.TrimmedBytes != b.Trims*payload || b.Stats[out].Trims != b.Trims {
				t.Errorf("%d ports: %d arrived and %d were trimmed of %d, %d dropped", n, whole, b.Trims,
					sent, b.Drops)
			}
			bound := unit.Bytes(2 * n * 64)
			fits := n*(64+roce.PreambleIFG) <= frame+roce.PreambleIFG
			if peak := b.QueuePeak(out, 7); fits != (peak <= bound) {
				t.Errorf("%d ports: %v of headers wait at most, want at most %v: %v", n, peak, bound, fits)
			}
		}
	}
}

// Packets of random sizes and classes arrive at random times. Each arrives whole or as headers, or is dropped if
// there is no room for its headers. Queues stay below their limits, and the payload adds up.
func TestTrimmingAddsUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := unit.Bytes(rapid.IntRange(10_000, 100_000).Draw(rt, "limit"))
		heads := unit.Bytes(rapid.IntRange(64, 2000).Draw(rt, "limit of headers"))
		b := newBench(t, 5, func(s *queue.Spec) {
			trimming(limit, rapid.Bool().Draw(rt, "either"))(s)
			s.Queues[7].Limit = heads
			s.Queues[3].WRED = queue.WRED{Min: 5 * unit.KB, Max: 30 * unit.KB, Probability: 0.3, ECN: true}
		})
		seen := &tally{}
		n := rapid.IntRange(1, 400).Draw(rt, "packets")
		for range n {
			at := unit.Time(rapid.IntRange(0, 20_000_000).Draw(rt, "at"))
			size := uint16(rapid.IntRange(0, 4096).Draw(rt, "payload"))
			b.put(at, rapid.IntRange(0, 3).Draw(rt, "in"), 4, 24, size)
			seen.sent(size)
		}
		b.Net.OnDrop = seen.dropped
		b.run(unit.Second)
		if err := b.Audit(); err != nil {
			rt.Fatal(err)
		}
		whole := b.got[4][3] + b.got[4][7]
		if whole+b.TrimmedBytes+seen.lost != seen.payload || b.InUse() != 0 {
			rt.Fatalf("%d bytes arrived, %d were cut off, %d dropped of %d", whole, b.TrimmedBytes, seen.lost,
				seen.payload)
		}
		if seen.data > 0 || b.Drops > 0 && b.QueuePeak(b.in[4], 7) > heads {
			rt.Fatalf("%d whole packets of data were dropped", seen.data)
		}
		if b.QueuePeak(b.in[4], 3) > limit || b.QueuePeak(b.in[4], 7) > heads {
			rt.Fatalf("queues of %v and %v, limits are %v and %v", b.QueuePeak(b.in[4], 3),
				b.QueuePeak(b.in[4], 7), limit, heads)
		}
		if b.Drops > 0 && b.QueuePeak(b.in[4], 7)+128 <= heads {
			rt.Fatalf("%d dropped with room for headers", b.Drops)
		}
	})
}

// tally counts the outcomes of packets.
type tally struct {
	payload, lost, data int64
}

func (s *tally) sent(size uint16) { s.payload += int64(size) }

// dropped counts a dropped packet. A packet with payload is dropped whole only if it is no longer than the
// remainder of trimmed packets.
func (s *tally) dropped(p *Packet, _ int32) {
	s.lost += int64(p.Payload)
	if p.Size > 64 {
		s.data++
	}
}

// TestExchangeKeepsTheLimit: a packet replaces the last one in its queue only if it fits. 5,000 and 4,000 bytes are
// queued, and 6,000 instead of the 4,000 would be 11,000.
func TestExchangeKeepsTheLimit(t *testing.T) {
	for limit, want := range map[unit.Bytes]unit.Bytes{10_999: 9_000, 11_000: 11_000} {
		b := newBench(t, 3, trimming(limit, true))
		out := b.in[2]
		b.Ports[out].Paused = 1 << 3
		b.put(0, 0, 2, 24, 5000-62)
		b.put(1, 0, 2, 24, 4000-62)
		for i := range unit.Time(30) { // each replaces it with probability one half
			b.put(2+i, 1, 2, 24, 6000-62)
			b.run(2 + i)
			if got := b.QueueBytes(out, 3); got > limit {
				t.Fatalf("%v wait, the limit is %v", got, limit)
			}
		}
		if b.run(100); b.QueueBytes(out, 3) != want || b.Trims != 30 {
			t.Errorf("with a limit of %v %v wait, want %v; %d trimmed", limit, b.QueueBytes(out, 3), want, b.Trims)
		}
		if err := b.Audit(); err != nil {
			t.Error(err)
		}
	}
}
