package rc

import (
	"testing"

	"railyard/internal/rng"
	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// pair connects a requester and a responder whose region is size bytes at va 0x1000.
func pair(t testing.TB, cfg Config, psn uint32, size uint64) (a, b *QP, rkey uint32) {
	t.Helper()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	mem := NewMemory(0x1234)
	rkey = mem.Register(0x1000, size, LocalWrite|RemoteWrite)
	qa, qb := NewQP(&cfg, NewMemory(1)), NewQP(&cfg, mem)
	for _, q := range []*QP{&qa, &qb} {
		for _, s := range []State{Init, ReadyToReceive, ReadyToSend} {
			if err := q.Modify(s, psn); err != nil {
				t.Fatal(err)
			}
		}
	}
	return &qa, &qb, rkey
}

func config(r Recovery, writeOnly bool) Config {
	return Config{MTU: 4096, Recovery: r, WriteOnly: writeOnly, AckEvery: 16, Window: 1024,
		Timeout: LocalAckTimeout(8), Retries: 7, AlwaysReady: true}
}

// Example of the source documents ("life of a training job"): 24 MiB at MTU 4096 from PSN 5000 is 6,144 packets,
// and the last cumulative ACK has PSN 11143.
func TestSeed24MiB(t *testing.T) {
	a, b, rkey := pair(t, config(GoBackN, false), 5000, 24<<20)
	if err := a.Write(7, 0x1000, rkey, 24<<20); err != nil {
		t.Fatal(err)
	}
	var p Packet
	var ans Answer
	n, last := 0, uint32(0)
	for a.Next(0, &p) {
		n++
		b.Data(&p, &ans)
		if ans.Reply {
			last = ans.Packet.PSN
			a.Acknowledged(0, &ans.Packet)
		}
	}
	c, ok := a.PopCompletion()
	if n != 6144 || last != 5000+6143 || !ok || c != (Completion{ID: 7, Len: 24 << 20}) ||
		ans.Delivered != 1 || b.Placed != 24<<20 {
		t.Fatalf("%d packets, last ACK %d, completion %+v, %d delivered, %d placed", n, last, c,
			ans.Delivered, b.Placed)
	}
}

// IBTA 9.7.4.1.5: a wrong key or a range outside the region is rejected with a remote access NAK. The request
// completes in error, and the others are flushed.
func TestRemoteAccessError(t *testing.T) {
	for name, w := range map[string]struct {
		va, length uint64
		bad        uint32
	}{"key": {0x1000, 100, 1}, "below": {0xfff, 100, 0}, "past the end": {0x1000 + 8192 - 50, 100, 0}} {
		t.Run(name, func(t *testing.T) {
			a, b, rkey := pair(t, config(GoBackN, false), 1, 8192)
			a.Write(1, w.va, rkey+w.bad, int64(w.length))
			a.Write(2, 0x1000, rkey, 10)
			var p Packet
			var ans Answer
			a.Next(0, &p)
			b.Data(&p, &ans)
			if ans.Verdict != Refused || ans.Packet.Syndrome != roce.NakRemoteAccess {
				t.Fatalf("answer %+v", ans)
			}
			a.Acknowledged(0, &ans.Packet)
			c1, _ := a.PopCompletion()
			c2, _ := a.PopCompletion()
			if c1.Status != RemoteAccessError || c2.Status != Flushed || a.State() != Error ||
				b.State() != Error || b.Placed != 0 {
				t.Fatalf("%v %v %v %v", c1, c2, a.State(), b.State())
			}
		})
	}
}

// A dead peer: the local ACK timeout fires retries+1 times and then the QP
// fails with "transport retry counter exceeded".
func TestRetryExceeded(t *testing.T) {
	cfg := config(GoBackN, false)
	cfg.Retries = 2
	a, _, rkey := pair(t, cfg, 0, 4096)
	a.Write(1, 0x1000, rkey, 4096)
	var p Packet
	now, sent := unit.Time(0), 0
	for a.State() == ReadyToSend {
		for a.Next(now, &p) {
			sent++
		}
		now = a.TimeoutAt()
		if !a.Timeout(now) {
			t.Fatal("timeout was not due at TimeoutAt")
		}
	}
	c, _ := a.PopCompletion()
	if sent != 3 || c.Status != RetryExceeded || now != 3*LocalAckTimeout(8) {
		t.Fatalf("%d sends, %v, at %v", sent, c, now)
	}
}

// IBTA 9.7.6.1.3: the timer runs while packets are unacknowledged, from the time when the first of them was sent.
// Waiting to be sent does not count.
func TestTimerStartsWithTheFirstPacket(t *testing.T) {
	a, b, rkey := pair(t, config(GoBackN, false), 0, 1<<20)
	long := 10 * LocalAckTimeout(8)
	var p Packet
	var ans Answer
	now := unit.Time(0)
	for i := range uint64(2) { // the second time after an idle spell
		a.Write(i, 0x1000, rkey, 4096)
		now += long
		if a.Next(now, &p); a.TimeoutAt() != now+LocalAckTimeout(8) {
			t.Fatalf("sent at %v, the timeout is due at %v", now, a.TimeoutAt())
		}
		b.Data(&p, &ans)
		a.Acknowledged(now, &ans.Packet)
	}
}

// A requester never has more in flight than the responder would keep.
func TestSelectiveStaysInWindow(t *testing.T) {
	cfg := config(Selective, false)
	cfg.Window, cfg.NakAfter = 64, 4
	a, b, rkey := pair(t, cfg, 0, 1<<20)
	a.Write(1, 0x1000, rkey, 200*4096)
	var p Packet
	var ans Answer
	a.Next(0, &p) // lost
	for a.Next(0, &p) {
		if b.Data(&p, &ans); ans.Verdict != Reordered {
			t.Fatalf("PSN %d is %v, beyond the window of 64", p.PSN, ans.Verdict)
		}
	}
	if a.Pending() {
		t.Error("a full window still counts as something to send")
	}
}

// The network loses, duplicates and reorders packets. Every byte is placed once, and messages complete in order.
// With an unlimited retry count everything arrives.
func TestDeliveryUnderChaos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := Recovery(rapid.IntRange(0, 1).Draw(t, "recovery"))
		cfg := config(rec, rapid.Bool().Draw(t, "writeonly"))
		cfg.MTU = 256
		cfg.AckEvery = rapid.IntRange(1, 64).Draw(t, "ackevery")
		cfg.NakAfter = rapid.IntRange(0, 8).Draw(t, "nakafter")
		loss := rapid.IntRange(0, 20).Draw(t, "loss%")
		swap := rapid.IntRange(0, 30).Draw(t, "swap%")
		psn := rapid.Uint32Range(roce.PSNMask-300, roce.PSNMask).Draw(t, "psn") // across the wrap
		r := rng.New(rapid.Uint64().Draw(t, "seed"), "chaos")
		mem := NewMemory(9)
		rkey := mem.Register(0, 1<<20, LocalWrite|RemoteWrite)
		a, b := NewQP(&cfg, nil), NewQP(&cfg, mem)
		for _, s := range []State{Init, ReadyToReceive, ReadyToSend} {
			a.Modify(s, psn)
			b.Modify(s, psn)
		}
		total, msgs := int64(0), rapid.IntRange(1, 5).Draw(t, "messages")
		for i := range msgs {
			n := rapid.Int64Range(0, 50_000).Draw(t, "bytes")
			total += n
			verb := Write
			if cfg.WriteOnly { // the immediate ends the message
				verb = WriteImm
			}
			a.Post(&Request{ID: uint64(i), Verb: verb, RKey: rkey, Len: n})
		}
		now, delivered, completed := unit.Time(0), 0, 0
		var wire []Packet
		var ans Answer
		for step := 0; completed < msgs; step++ {
			if step > 200_000 {
				t.Fatalf("stuck: %d of %d messages complete", completed, msgs)
			}
			now += unit.Microsecond
			var p Packet
			if a.Next(now, &p) {
				if r.Intn(100) >= loss {
					wire = append(wire, p)
				}
			}
			if len(wire) > 8 || len(wire) > 0 && !a.Pending() {
				i := 0
				if r.Intn(100) < swap {
					i = r.Intn(len(wire))
				}
				p := wire[i]
				wire = append(wire[:i], wire[i+1:]...)
				b.Data(&p, &ans)
				delivered += ans.Delivered
				if ans.Reply && r.Intn(100) >= loss {
					a.Acknowledged(now, &ans.Packet)
				}
			} else if len(wire) == 0 && !a.Pending() && a.TimeoutAt() != unit.Never {
				now = max(now, a.TimeoutAt())
				a.retries = 0 // chaos may eat eight tries in a row; that is not the point
				a.Timeout(now)
			}
			for c, ok := a.PopCompletion(); ok; c, ok = a.PopCompletion() {
				if c.Status != Success || c.ID != uint64(completed) {
					t.Fatalf("completion %+v, want %d", c, completed)
				}
				completed++
			}
		}
		if delivered != msgs || int64(b.Placed) != total {
			t.Fatalf("%d of %d messages, %d of %d bytes", delivered, msgs, b.Placed, total)
		}
	})
}

func TestNoAllocations(t *testing.T) {
	a, b, rkey := pair(t, config(GoBackN, false), 0, 1<<30)
	a.Write(1, 0x1000, rkey, 1<<30)
	var p Packet
	var ans Answer
	if n := testing.AllocsPerRun(1000, func() {
		a.Next(0, &p)
		b.Data(&p, &ans)
		if ans.Reply {
			a.Acknowledged(0, &ans.Packet)
		}
	}); n != 0 {
		t.Fatalf("%v allocations per packet, want none", n)
	}
}

func BenchmarkDataPath(b *testing.B) {
	x, y, rkey := pair(b, config(GoBackN, false), 0, 1<<31)
	var p Packet
	var ans Answer
	for b.Loop() {
		if !x.Next(0, &p) {
			x.Write(1, 0x1000, rkey, 1<<30)
			x.Next(0, &p)
		}
		y.Data(&p, &ans)
		if ans.Reply {
			x.Acknowledged(0, &ans.Packet)
			x.PopCompletion()
		}
	}
}
