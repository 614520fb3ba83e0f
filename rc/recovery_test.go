package rc

import (
	"bytes"
	"slices"
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// IBTA 9.7.6.1.3: an ACK is sent only on request. The packet that fills half the window therefore requests one,
// whatever ack_every is; otherwise each window would wait for the time-out.
func TestAckEveryAboveTheWindow(t *testing.T) {
	took := map[int]unit.Time{}
	for _, every := range []int{16, 64, 128, 1 << 16} {
		l := newLane(t, func(c *Config) { c.Window, c.NakAfter, c.AckEvery = 64, 4, every })
		took[every] = l.write(640, 640)
		if len(l.again) != 0 || l.timeouts != 0 {
			t.Errorf("ack_every %d: %d retransmitted, %d timeouts", every, len(l.again), l.timeouts)
		}
	}
	for every, d := range took {
		if d > 2*took[16] {
			t.Errorf("ack_every %d with a window of 64 takes %v, 16 takes %v", every, d, took[16])
		}
	}
}

// A long queue is not moved at every completion (a trace posts 100000 messages at once). It still releases the data
// of completed requests; each completes once, in order.
func TestLongQueue(t *testing.T) {
	const n = 3 * longQueue
	e := connected(t, nil)
	for i := range n {
		e.post(Request{Verb: Write, VA: 0x1000 + uint64(i), RKey: 7, Data: pattern(8)})
	}
	all, moved, looked := e.a.wrs, 0, 0
	e.run(func(p *Packet) bool {
		if rest := len(e.a.wrs); rest >= longQueue && rest < n {
			looked++
			if &e.a.wrs[0] != &all[n-rest] {
				moved++
			}
		}
		return p.PSN%64 == 63 && e.now < unit.Millisecond/4
	})
	for done := range n {
		if c, ok := e.a.PopCompletion(); !ok || c.Status != Success || c.ID != 0x1000+uint64(done) {
			t.Fatalf("completion %d is %+v", done, c)
		}
	}
	if moved != 0 || looked == 0 || len(e.a.wrs) != 0 {
		t.Errorf("moved %d times of %d, %d requests left", moved, looked, len(e.a.wrs))
	}
	for i := range all {
		if all[i].Data != nil {
			t.Fatalf("request %d still holds its data", i)
		}
	}
}

// A NAK is not progress. A responder that repeats "sequence error" for one PSN uses up the retries as silence does
// (IBTA 9.9.2.1.1; rxe counts them together).
func TestNaksUseRetriesUp(t *testing.T) {
	e := connected(t, nil) // two retries
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(4096)})
	var p Packet
	naks := 0
	for ; e.a.State() == ReadyToSend && naks < 50; naks++ {
		for e.a.Next(e.now, &p) {
		}
		e.now += unit.Microsecond
		e.a.Acknowledged(e.now, &Packet{Opcode: roce.Acknowledge, Syndrome: roce.NakSequence, PSN: 0xfffffe})
	}
	e.want(RetryExceeded)
	if naks != 3 {
		t.Errorf("gave up after %d NAKs, want 3", naks)
	}
	// If each NAK shows progress, no retry is counted.
	e = connected(t, nil)
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(50 * 1024)})
	lost := map[uint32]bool{}
	e.run(func(p *Packet) bool {
		first := !lost[p.PSN] && p.Opcode != roce.Acknowledge
		lost[p.PSN] = lost[p.PSN] || first
		return first && p.PSN%2 == 0
	})
	e.want(Success)
}

// C9-105: a repeated SEND or WRITE is acknowledged again without a request, because its ACK may have been lost.
func TestRepeatsAreAcknowledged(t *testing.T) {
	for _, rec := range []Recovery{GoBackN, Selective} {
		e := connected(t, func(c *Config) { c.Recovery = rec })
		e.b.PostReceive(Receive{ID: 1, Data: [][]byte{make([]byte, 10)}})
		w := Packet{Opcode: roce.WriteOnly, PSN: 0xfffffe, Payload: 4, Data: pattern(4), VA: 0x1000,
			RKey: 7, Len: 4}
		s := Packet{Opcode: roce.SendOnly, PSN: 0xffffff, Payload: 4, Data: pattern(4)}
		var ans Answer
		e.b.Data(&w, &ans)
		e.b.Data(&s, &ans)
		if ans.Reply {
			t.Fatal("an ACK that nobody asked for")
		}
		for _, p := range []*Packet{&w, &s} {
			e.b.Data(p, &ans)
			if !ans.Reply || ans.Verdict != Duplicate || ans.Packet.Syndrome != roce.Ack ||
				ans.Packet.PSN != 0xffffff {
				t.Errorf("%v again: %+v", p.Opcode, ans)
			}
		}
	}
}

// The sequence numbers in flight, including those of READ responses, stay below half their space (IBTA 9.7.2).
// Otherwise old and new ones would be ambiguous.
func TestReadsStayInHalfTheSpace(t *testing.T) {
	cfg := Config{MTU: 256, AckEvery: 1, Timeout: LocalAckTimeout(8), Retries: 7, Reads: 4, ReadsIn: 4}
	a := NewQP(&cfg, NewMemory(1))
	for _, s := range []State{Init, ReadyToReceive, ReadyToSend} {
		a.Modify(s, 0)
	}
	for _, packets := range []int64{1 << 22, 1<<22 - 1, 1, 1 << 22} {
		if err := a.Post(&Request{Verb: Read, Len: packets * 256}); err != nil {
			t.Fatal(err)
		}
	}
	var p Packet
	n := 0
	for a.Next(0, &p) {
		n++
	}
	if open := a.next - a.una; n != 2 || open != 1<<23-1 {
		t.Errorf("%d READs under way with %d sequence numbers, want 2 with 2^23 - 1", n, open)
	}
	a.Post(&Request{Verb: Read, Len: 1})
	for i := range uint32(2) { // each response permits the next request
		a.Acknowledged(0, &Packet{Opcode: roce.ReadRespMiddle, PSN: i, Payload: 256})
	}
	if !a.Next(0, &p) || a.Next(0, &p) {
		t.Error("the third READ of one packet does not go, or a fourth does")
	}
}

// A repeated READ is answered only if it is equal to the accepted one or a part of it. Its key must be equal, its
// address must match its PSN, and it must not be longer (IBTA 9.7.5.1.4; rxe drops others too).
func TestRepeatedReadIsHeldToTheFirst(t *testing.T) {
	first := Packet{Opcode: roce.ReadRequest, PSN: 0xfffffe, VA: 0x1000, RKey: 7, Len: 3000}
	for name, c := range map[string]struct {
		change func(p *Packet)
		want   int // packets of the answer
	}{
		"the same":               {func(p *Packet) {}, 3},
		"from the second packet": {func(p *Packet) { p.PSN, p.VA, p.Len = 0xffffff, 0x1400, 1976 }, 2},
		"one packet of it":       {func(p *Packet) { p.PSN, p.VA, p.Len = 0xffffff, 0x1400, 1024 }, 1},
		"another key":            {func(p *Packet) { p.RKey = 8 }, 0},
		"another address":        {func(p *Packet) { p.VA = 0x1800 }, 0},
		"another PSN":            {func(p *Packet) { p.PSN = 0xffffff }, 0},
		"longer, same packets":   {func(p *Packet) { p.Len = 3001 }, 0},
		"longer":                 {func(p *Packet) { p.Len = 5000 }, 0},
		"where there was none":   {func(p *Packet) { p.PSN, p.VA, p.Len = 1, 0x1000+3*1024, 1024 }, 0},
	} {
		e := connected(t, nil)
		var ans Answer
		var p Packet
		e.b.Data(&first, &ans)
		e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: 1, VA: 0x1000, RKey: 7}, &ans)
		for e.b.NextResponse(&p) {
		}
		again := first
		c.change(&again)
		n := 0
		for e.b.Data(&again, &ans); e.b.NextResponse(&p); n++ {
		}
		if n != c.want || ans.Reply || e.b.State() != ReadyToSend {
			t.Errorf("%s: %d packets, want %d; %+v", name, n, c.want, ans)
		}
	}
}

// readOver reads 1 MiB over a path that reorders answers as air sets. It returns the number of requests and data
// packets.
func readOver(t *testing.T, rec Recovery, change func(n int, p *Packet) (lost bool, late int)) (requests,
	data int, took unit.Time) {
	const size = 1 << 20
	cfg := Config{MTU: 1024, AckEvery: 16, Timeout: LocalAckTimeout(14), Retries: 7, Reads: 4, ReadsIn: 4,
		Recovery: rec, Window: 4096, NakAfter: 64}
	mem, buf, got := NewMemory(1), pattern(size), make([]byte, size)
	if err := mem.RegisterBuffer(7, 0x10000, buf, RemoteRead); err != nil {
		t.Fatal(err)
	}
	a, b := NewQP(&cfg, NewMemory(1)), NewQP(&cfg, mem)
	for _, s := range []State{Init, ReadyToReceive, ReadyToSend} {
		a.Modify(s, roce.PSNMask-10)
		b.Modify(s, roce.PSNMask-10)
	}
	a.Post(&Request{Verb: Read, VA: 0x10000, RKey: 7, Len: size, Data: got})
	type due struct {
		at int
		p  Packet
	}
	var air []due
	var ans Answer
	for step := 0; ; step++ {
		now := unit.Time(step) * unit.Microsecond
		var p Packet
		if a.Next(now, &p) {
			requests++
			b.Data(&p, &ans)
		}
		if b.NextResponse(&p) {
			data++
			if lost, late := change(data, &p); !lost {
				air = append(air, due{step + 5 + late, p})
			}
		}
		for i := 0; i < len(air); i++ {
			if d := air[i]; d.at <= step {
				air = slices.Delete(air, i, i+1)
				i--
				a.Acknowledged(now, &d.p)
			}
		}
		if c, ok := a.PopCompletion(); ok {
			if c.Status != Success || !bytes.Equal(got, buf) {
				t.Errorf("%v, bytes equal %v", c.Status, bytes.Equal(got, buf))
			}
			return requests, data, now
		}
		if a.TimeoutAt() <= now {
			a.Timeout(now)
		}
		if step > 1_000_000 {
			t.Fatal("does not end")
		}
	}
}

// READ data that arrive out of order are placed by PSN: one READ needs one request. Lost data are requested alone;
// go-back-N repeats the request from each gap.
func TestReadDataInAnyOrder(t *testing.T) {
	swapped := func(n int, _ *Packet) (bool, int) { return false, n % 20 / 19 * 2 }
	shuffled := func(n int, _ *Packet) (bool, int) { return false, n * 7919 % 40 }
	lossy := func(n int, _ *Packet) (bool, int) { return n%100 == 50, n * 7919 % 40 }
	if requests, data, _ := readOver(t, Selective, swapped); requests != 1 || data != 1024 {
		t.Errorf("pairs swapped: %d requests, %d packets for 1,024", requests, data)
	}
	if requests, data, _ := readOver(t, Selective, shuffled); requests != 1 || data != 1024 {
		t.Errorf("40 packets shuffled: %d requests, %d packets for 1,024", requests, data)
	}
	requests, data, took := readOver(t, Selective, lossy)
	if lost := data / 100; data > 1024+lost*11/10 || requests > 1+lost*11/10 || took > 3*unit.Millisecond {
		t.Errorf("one in 100 lost: %d requests, %d packets for 1,024, %v", requests, data, took)
	}
	if requests, _, _ := readOver(t, GoBackN, swapped); requests < 20 {
		t.Errorf("go-back-N with pairs swapped: %d requests", requests)
	}
	// The last packet is lost, and so is the first answer to the second question.
	tail := func(n int, p *Packet) (bool, int) {
		return p.PSN == roce.PSNMask&(roce.PSNMask-10+1023) && n < 1026, 0
	}
	if requests, data, took := readOver(t, Selective, tail); requests != 3 || data != 1026 ||
		took > 8*unit.Millisecond {
		t.Errorf("the last lost twice: %d requests, %d packets, %v", requests, data, took)
	}
}

// Two ends do not negotiate a profile by themselves. For every pair of settings, all data arrive, and no report of
// selective mode is misread.
func TestMixedProfiles(t *testing.T) {
	for _, rec := range [][2]Recovery{
		{GoBackN, GoBackN}, {Selective, GoBackN}, {GoBackN, Selective}, {Selective, Selective},
	} {
		l := newLane(t, nil)
		cfg := [2]Config{*l.a.cfg, *l.a.cfg}
		mem := NewMemory(0x1234)
		mem.Register(0x1000, 1<<40, LocalWrite|RemoteWrite)
		for i, q := range []*QP{l.a, l.b} {
			cfg[i].Recovery, cfg[i].WriteOnly = rec[i], false
			*q = NewQP(&cfg[i], mem)
			for _, s := range []State{Init, ReadyToReceive, ReadyToSend} {
				q.Modify(s, roce.PSNMask-100)
			}
		}
		lost := 0
		l.fate = func(p *Packet, copies int) (bool, unit.Time) {
			if copies == 1 && p.PSN%500 == 50 {
				lost++
				return true, 0
			}
			return false, 0
		}
		took := l.write(5000, 5000)
		if l.timeouts > 0 || took > 2*unit.Millisecond || rec[0] == rec[1] && rec[0] == Selective &&
			len(l.again) != lost {
			t.Errorf("%v requester, %v responder: %d lost, %d retransmitted, %d timeouts, %v", rec[0], rec[1],
				lost, len(l.again), l.timeouts, took)
		}
	}
}
