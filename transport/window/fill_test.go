package window

import (
	"testing"

	"railyard/transport"
	"railyard/unit"
)

// TestWhatPacketsSay splits a message of 250 bytes with a notification, and an empty one, into packets of 100. It
// checks each packet's position, and whether it is a retransmission, ends its message, and has a notification.
func TestWhatPacketsSay(t *testing.T) {
	out := NewOut(8, 100)
	for id, m := range []transport.Request{{Bytes: 250, Tells: true}, {Bytes: 0}} {
		m.ID = uint64(id)
		if err := out.Post(m); err != nil {
			t.Fatal(err)
		}
	}
	const stamped, last, tells, again = transport.Stamped, transport.Last, transport.Tells, transport.Again
	want := []transport.Packet{
		{PSN: 0, Message: 0, Offset: 0, Payload: 100, Bytes: 250, Flags: stamped},
		{PSN: 1, Message: 0, Offset: 100, Payload: 100, Bytes: 250, Flags: stamped},
		{PSN: 2, Message: 0, Offset: 200, Payload: 50, Bytes: 250, Flags: stamped | last | tells},
		{PSN: 3, Message: 1, Offset: 0, Payload: 0, Bytes: 0, Flags: stamped | last},
	}
	for i, w := range want {
		now := unit.Time(1000 + i)
		psn, slot := out.New(now, 7)
		var p transport.Packet
		slot.Fill(psn, &p)
		w.Kind, w.Sent = transport.Data, now
		if p != w || slot.Path != 7 {
			t.Errorf("packet %d: %+v, want %+v", i, p, w)
		}
	}
	if out.Unsent() || out.More() || out.Flying() != 4 || out.InFlight() != 250 {
		t.Errorf("%d packets with %d bytes under way", out.Flying(), out.InFlight())
	}
	if !out.Lose(2) || out.Lose(2) || out.Flying() != 3 || out.InFlight() != 200 {
		t.Errorf("one lost: %d packets with %d bytes under way", out.Flying(), out.InFlight())
	}
	psn, slot, ok := out.Again(5000, 3)
	var p transport.Packet
	slot.Fill(psn, &p)
	w := want[2]
	w.Kind, w.Sent, w.Flags = transport.Data, 5000, w.Flags|again
	if !ok || p != w || slot.Path != 3 || slot.Tries != 1 || out.Flying() != 4 {
		t.Errorf("again: %+v, want %+v", p, w)
	}
	if _, _, ok := out.Again(5001, 3); ok {
		t.Error("one more is lost")
	}
}

// TestWhatReceiversCount: packets 1 and 3 arrive before 0, 1 arrives twice, and one is too far ahead.
func TestWhatReceiversCount(t *testing.T) {
	in := NewIn(8, 100, true)
	for i, c := range []struct {
		psn  uint32
		want Verdict
	}{{1, Fresh}, {3, Fresh}, {1, Before}, {0, Fresh}, {0, Before}, {10, Ahead}, {2, Fresh}, {11, Fresh}, {12, Ahead}} {
		if got := in.Take(&transport.Packet{PSN: c.psn, Payload: 100, Bytes: 1e6}); got != c.want {
			t.Errorf("packet %d, the %dth to come: %d, want %d", c.psn, i+1, got, c.want)
		}
	}
	if in.Expect() != 4 || in.High() != 12 || !in.Holes() || in.Bits(4) != [2]uint64{1 << 7} ||
		in.Bits(0) != [2]uint64{1<<11 | 0b1111} || in.Beyond != 2 {
		t.Errorf("expects %d of %d, bits %b, %d too far ahead", in.Expect(), in.High(), in.Bits(0), in.Beyond)
	}
	for name, want := range map[string]int64{transport.CounterReordered: 5, transport.CounterDuplicates: 2,
		transport.CounterHeldPeak: 2, transport.CounterPlaced: 500} {
		if n, ok := in.Counter(name); !ok || n != want {
			t.Errorf("%s is %d, want %d", name, n, want)
		}
	}
}
