package window

import (
	"testing"

	"pgregory.net/rapid"

	"railyard/rc"
	"railyard/transport"
	"railyard/unit"
)

// TestBothEnds sends random messages through a network that loses, repeats and reorders, and compares both ends
// with a plain model. Each byte arrives once, and completed messages have arrived. Completions are in order, and so
// are messages if order is promised.
func TestBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const mtu, size = 100, 64
		ordered := rapid.Bool().Draw(t, "ordered")
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 2000), 1, 30).Draw(t, "sizes")
		out, in := NewOut(size, mtu), NewIn(size, mtu, ordered)
		for i, n := range sizes {
			if out.Post(transport.Request{ID: uint64(i + 1), Bytes: n}) != nil {
				t.Fatal("a message was refused")
			}
		}
		var net []transport.Packet
		got := make([][]bool, len(sizes))
		for i, n := range sizes {
			got[i] = make([]bool, n)
		}
		var arrived []uint32
		completed := uint64(0)
		for step := 0; out.Waiting(); step++ {
			if step > 20000 {
				t.Fatal("no end")
			}
			now := unit.Time(step)
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0, 1, 2, 3:
				var p transport.Packet
				if psn, s, ok := out.Again(now, 0); ok {
					s.Fill(psn, &p)
					net = append(net, p)
				} else if out.Unsent() {
					psn, s := out.New(now, 0)
					s.Fill(psn, &p)
					net = append(net, p)
				}
			case 4: // the timer: all packets in flight are retransmitted
				una, next := out.Range()
				for psn := una; psn < next; psn++ {
					out.Lose(psn)
				}
			case 5: // lost
				if len(net) > 0 {
					i := rapid.IntRange(0, len(net)-1).Draw(t, "lost")
					net = append(net[:i], net[i+1:]...)
				}
			default:
				if len(net) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(net)-1).Draw(t, "which")
				p := net[i]
				if rapid.IntRange(0, 3).Draw(t, "twice") > 0 {
					net = append(net[:i], net[i+1:]...)
				}
				if in.Take(&p) == Fresh {
					for k := p.Offset; k < p.Offset+uint64(p.Payload); k++ {
						if got[p.Message][k] {
							t.Fatalf("byte %d of message %d came twice", k, p.Message)
						}
						got[p.Message][k] = true
					}
				}
				acknowledge(&out, &in)
			}
			for m, ok := in.Arrived(); ok; m, ok = in.Arrived() {
				arrived = append(arrived, m)
				for k, b := range got[m] {
					if !b {
						t.Fatalf("message %d arrived without its byte %d", m, k)
					}
				}
			}
			for c, ok := out.Completed(); ok; c, ok = out.Completed() {
				if completed++; c.ID != completed || c.Status != rc.Success {
					t.Fatalf("completion %v is not that of message %d", c, completed)
				}
			}
			if f := out.Flying(); f < 0 || f > size || out.InFlight() < 0 {
				t.Fatalf("%d packets of %d bytes under way", f, out.InFlight())
			}
		}
		if len(arrived) != len(sizes) || completed != uint64(len(sizes)) || out.Flying() != 0 {
			t.Fatalf("%d messages arrived, %d completed of %d; %d packets under way", len(arrived), completed,
				len(sizes), out.Flying())
		}
		seen := map[uint32]bool{}
		for i, m := range arrived {
			if seen[m] || ordered && m != uint32(i) {
				t.Fatalf("messages arrived as %v", arrived)
			}
			seen[m] = true
		}
	})
}

// acknowledge reports to the sender all that the receiver has.
func acknowledge(out *Out, in *In) {
	una, _ := out.Range()
	for psn := una; psn < in.Expect(); psn++ {
		out.Ack(psn)
	}
	bits := in.Bits(in.Expect())
	for i := range uint64(128) {
		if bits[i>>6]>>(i&63)&1 != 0 {
			out.Ack(out.Full(uint32(in.Expect() + i)))
		}
	}
	out.Advance()
}

// TestHalfNumbers: the low half of a number determines the number, also across a wrap of the half.
func TestHalfNumbers(t *testing.T) {
	for _, near := range []uint64{0, 5, 1<<32 - 3, 1 << 32, 1<<40 + 7} {
		for d := int64(-4); d <= 4; d++ {
			if want := near + uint64(d); int64(want) >= 0 && full(uint32(want), near) != want {
				t.Errorf("%d near %d is taken for %d", want, near, full(uint32(want), near))
			}
		}
	}
}

// TestFail: Fail fails the oldest message and flushes the others; no more are accepted.
func TestFail(t *testing.T) {
	out := NewOut(8, 100)
	for id := range uint64(3) {
		out.Post(transport.Request{ID: id + 1, Bytes: 300})
	}
	if out.Post(transport.Request{Bytes: -1}) == nil {
		t.Error("a message of less than no bytes is taken")
	}
	out.New(0, 0)
	out.Fail(rc.RetryExceeded)
	if out.Post(transport.Request{ID: 4, Bytes: 1}) == nil {
		t.Error("a message is taken that nobody will send")
	}
	want := []rc.Status{rc.RetryExceeded, rc.Flushed, rc.Flushed}
	for i, s := range want {
		if c, ok := out.Completed(); !ok || c.ID != uint64(i+1) || c.Status != s {
			t.Errorf("completion %d is %v, want %v", i, c, s)
		}
	}
	if out.Unsent() || out.More() || out.Waiting() || out.AnyLost() || out.InFlight() != 0 {
		t.Error("something is left to be sent")
	}
}

// TestBeyond: a packet that is too far ahead, or a duplicate, changes nothing.
func TestBeyond(t *testing.T) {
	in := NewIn(8, 100, true)
	if v := in.Take(&transport.Packet{PSN: 8, Payload: 100}); v != Ahead {
		t.Errorf("a packet eight ahead is %d", v)
	}
	in.Take(&transport.Packet{PSN: 1, Payload: 100})
	in.Take(&transport.Packet{PSN: 0, Payload: 100})
	for _, psn := range []uint32{0, 1, 1<<32 - 1} {
		if v := in.Take(&transport.Packet{PSN: psn, Payload: 100}); v != Before {
			t.Errorf("packet %d again is %d", psn, v)
		}
	}
	for name, want := range map[string]int64{transport.CounterReordered: 2, transport.CounterDuplicates: 3,
		transport.CounterHeldPeak: 1, transport.CounterPlaced: 200} {
		if n, ok := in.Counter(name); !ok || n != want {
			t.Errorf("%s is %d, %v, want %d", name, n, ok, want)
		}
	}
	if in.Received != 200 || in.Expect() != 2 || in.Holes() {
		t.Errorf("%d bytes, next %d, holes %v", in.Received, in.Expect(), in.Holes())
	}
}
