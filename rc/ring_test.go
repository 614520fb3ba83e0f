package rc

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// A responder with a growing ring gives the same answers as one whose ring has its full size from the start. Writes
// and reads arrive in any order, with copies and trimmed headers.
func TestRingGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{MTU: 256, Recovery: Selective, WriteOnly: rapid.Bool().Draw(t, "write only"), AckEvery: 4,
			Window: 64 << rapid.IntRange(0, 6).Draw(t, "window"), Timeout: LocalAckTimeout(8), Retries: 7,
			AlwaysReady: true, Reads: 16, ReadsIn: 16}
		cfg.NakAfter = rapid.IntRange(0, cfg.Window-1).Draw(t, "nak after")
		mem := NewMemory(1)
		const size = 1 << 21
		key := mem.Register(0x1000, size, LocalWrite|RemoteWrite|RemoteRead)
		a, grows, whole := NewQP(&cfg, NewMemory(1)), NewQP(&cfg, mem), NewQP(&cfg, mem)
		for _, q := range []*QP{&a, &grows, &whole} {
			for _, s := range []State{Init, ReadyToReceive, ReadyToSend} {
				if err := q.Modify(s, 0xffffff-40); err != nil {
					t.Fatal(err)
				}
			}
		}
		whole.openWindow(uint64(cfg.Window) - 1)
		for range rapid.IntRange(1, 12).Draw(t, "messages") {
			r := Request{VA: 0x1000, RKey: key, Len: 256 * rapid.Int64Range(1, int64(cfg.Window)).Draw(t, "packets")}
			if rapid.IntRange(0, 3).Draw(t, "verb") == 0 {
				r.Verb = Read
			}
			if err := a.Post(&r); err != nil {
				t.Fatal(err)
			}
		}
		var sent []Packet
		for p := (Packet{}); len(sent) < 600 && a.Next(0, &p); {
			sent = append(sent, p)
		}
		far := rapid.IntRange(1, 700).Draw(t, "overtake by")
		var x, y Answer
		var p, q Packet
		for len(sent) > 0 {
			i := rapid.IntRange(0, min(far, len(sent))-1).Draw(t, "next")
			switch rapid.IntRange(0, 9).Draw(t, "fate") {
			case 0:
				grows.Trimmed(sent[i].PSN, false, &x)
				whole.Trimmed(sent[i].PSN, false, &y)
			case 1: // a copy; the other one arrives later
				p = sent[i]
				grows.Data(&p, &x)
				p = sent[i]
				whole.Data(&p, &y)
			default:
				p = sent[i]
				grows.Data(&p, &x)
				p = sent[i]
				whole.Data(&p, &y)
				sent = append(sent[:i], sent[i+1:]...)
			}
			if !reflect.DeepEqual(x, y) {
				t.Fatalf("packet %d is answered with %+v, with room for the window with %+v", p.PSN, x, y)
			}
			for grows.NextResponse(&p) {
				if !whole.NextResponse(&q) || !reflect.DeepEqual(p, q) {
					t.Fatalf("response %+v, with room for the window %+v", p, q)
				}
			}
		}
		if grows.HeldPeak() != whole.HeldPeak() || grows.expect != whole.expect {
			t.Fatalf("held %d, expects %d; with room for the window held %d, expects %d",
				grows.HeldPeak(), grows.expect, whole.HeldPeak(), whole.expect)
		}
	})
}

// The window bounds the reordering distance, not the memory of a queue pair. With the largest window and a
// reordering distance of three, a responder allocates a few slots.
func TestRingIsAsLargeAsNeeded(t *testing.T) {
	cfg := config(Selective, true)
	cfg.Window, cfg.NakAfter = 1<<16, 1<<16-1
	a, b, rkey := pair(t, cfg, 1, 1<<30)
	if err := a.Write(1, 0x1000, rkey, 4096*4096); err != nil {
		t.Fatal(err)
	}
	var four [4]Packet
	var ans Answer
	for a.Next(0, &four[0]) {
		for i := range 3 {
			a.Next(0, &four[i+1])
		}
		for i := range four {
			b.Data(&four[3-i], &ans)
		}
	}
	if n := len(b.reorder.slots); b.Received != 4096 || n != leastRing {
		t.Errorf("%d packets taken, room for %d", b.Received, n)
	}
}
