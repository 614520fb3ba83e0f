package rc

import (
	"bytes"
	"encoding/binary"
	"testing"

	"railyard/roce"
)

// TestAnswersToOtherQuestions injects an answer of the wrong kind. The connection ends with a bad response (IBTA
// 9.7.5.1.4, 10.8.3.1); nothing is acknowledged or written.
func TestAnswersToOtherQuestions(t *testing.T) {
	for _, rec := range []Recovery{GoBackN, Selective} {
		for name, c := range map[string]struct {
			asked Request
			says  Packet
		}{
			"atomic ACK for a READ":   {Request{Verb: Read}, Packet{Opcode: roce.AtomicAck, Payload: 8}},
			"READ data for an atomic": {Request{Verb: FetchAdd}, Packet{Opcode: roce.ReadRespOnly, Payload: 8}},
			"READ data for a WRITE":   {Request{Verb: Write}, Packet{Opcode: roce.ReadRespOnly, Payload: 8}},
			"atomic ACK for a WRITE":  {Request{Verb: Write}, Packet{Opcode: roce.AtomicAck}},
			"too little data":         {Request{Verb: Read}, Packet{Opcode: roce.ReadRespOnly, Payload: 7}},
			"too much data":           {Request{Verb: Read}, Packet{Opcode: roce.ReadRespOnly, Payload: 9}},
			"READ data with a NAK": {Request{Verb: Read}, Packet{Opcode: roce.ReadRespOnly, Payload: 8,
				Syndrome: roce.NakRemoteAccess}},
			"atomic ACK with a NAK": {Request{Verb: FetchAdd}, Packet{Opcode: roce.AtomicAck,
				Syndrome: roce.NakInvalid}},
		} {
			e := connected(t, func(c *Config) { c.Recovery = rec })
			c.asked.VA, c.asked.RKey, c.asked.Data = 0x1000, 7, make([]byte, 8)
			e.post(c.asked)
			var p Packet
			e.a.Next(0, &p)
			c.says.PSN, c.says.Orig = 0xfffffe, 1<<64-1
			c.says.Data = bytes.Repeat([]byte{0xff}, int(c.says.Payload))
			if n := e.a.Acknowledged(0, &c.says); n != 0 || e.a.State() != Error ||
				!bytes.Equal(c.asked.Data, make([]byte, 8)) {
				t.Errorf("%s, recovery %d: %d packets, state %v, buffer %x", name, rec, n, e.a.State(), c.asked.Data)
			}
			e.want(BadResponse)
		}
	}
}

// TestAnswersOutOfTheRange ignores answers to requests that were never sent, or that were answered before (IBTA
// 9.7.5.1.1: ghosts). The outstanding request then gets its data.
func TestAnswersOutOfTheRange(t *testing.T) {
	for _, rec := range []Recovery{GoBackN, Selective} {
		e := connected(t, func(c *Config) { c.Recovery = rec })
		first, second := make([]byte, 8), make([]byte, 8)
		e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Data: first})
		e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Data: second})
		var p Packet
		e.a.Next(0, &p)
		say := func(psn uint32, fill byte) uint64 {
			return e.a.Acknowledged(0, &Packet{Opcode: roce.ReadRespOnly, PSN: psn, Payload: 8,
				Data: bytes.Repeat([]byte{fill}, 8)})
		}
		if n := say(0xffffff, 1); n != 0 { // posted, and not sent
			t.Errorf("recovery %d: %d packets acknowledged that were never sent", rec, n)
		}
		if n := say(0xfffffe, 2); n != 1 {
			t.Errorf("recovery %d: %d packets acknowledged, want 1", rec, n)
		}
		for _, psn := range []uint32{0xfffffe, 0xfffffd, 0xffffff, 0, 0x7fffff} {
			if n := say(psn, 3); n != 0 {
				t.Errorf("recovery %d: PSN %#x acknowledges %d packets", rec, psn, n)
			}
		}
		e.a.Next(0, &p)
		if n := say(0xffffff, 4); n != 1 || e.a.State() != ReadyToSend {
			t.Errorf("recovery %d: %d packets, state %v", rec, n, e.a.State())
		}
		e.want(Success, Success)
		if first[0] != 2 || second[0] != 4 {
			t.Errorf("recovery %d: buffers hold %d and %d", rec, first[0], second[0])
		}
	}
}

// TestAnswersBehindAGap drops the first packet of READ data in go-back-N. The next packet shows the loss,
// acknowledges everything before the READ, and causes one repeated request (IBTA 9.7.5.1.2).
func TestAnswersBehindAGap(t *testing.T) {
	e := connected(t, nil)
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(1024)})
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Data: make([]byte, 4096)})
	var p Packet
	var ans Answer
	for e.a.Next(0, &p) {
		e.b.Data(&p, &ans)
	}
	var data []Packet
	for e.b.NextResponse(&p) {
		if p.Opcode != roce.Acknowledge { // the acknowledgement of the WRITE is lost too
			data = append(data, p)
		}
	}
	if len(data) != 4 {
		t.Fatalf("%d packets of data, want 4", len(data))
	}
	if n := e.a.Acknowledged(0, &data[1]); n != 1 { // the WRITE
		t.Errorf("the second packet of data acknowledges %d packets, want the WRITE", n)
	}
	if una, next, _ := e.a.Sequence(); una != 0xffffff || next != 0xffffff {
		t.Errorf("goes on at %#x of %#x, want to ask from 0xffffff again", next, una)
	}
	if !e.a.Next(0, &p) || p.Opcode != roce.ReadRequest || p.PSN != 0xffffff || p.Len != 4096 || !p.Again {
		t.Errorf("asks with %+v", p)
	}
	for _, late := range data[2:] { // one question per gap
		if n := e.a.Acknowledged(0, &late); n != 0 || e.a.Pending() {
			t.Errorf("PSN %#x acknowledges %d packets, and it is asked again: %v", late.PSN, n, e.a.Pending())
		}
	}
	e.b.Data(&p, &ans)
	e.run(nil)
	e.want(Success, Success)
}

// TestResponsesKeepTheirOrder queues acknowledgements after READ data. A later acknowledgement replaces an earlier
// one (IBTA 9.7.5.1.1), and none is sent before the data.
func TestResponsesKeepTheirOrder(t *testing.T) {
	e := connected(t, nil)
	var p Packet
	var ans Answer
	e.b.Data(&Packet{Opcode: roce.ReadRequest, PSN: 0xfffffe, VA: 0x1000, RKey: 7, Len: 3072}, &ans)
	for i := range uint32(5) {
		e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: 1 + i, AckReq: true, VA: 0x1000, RKey: 7}, &ans)
		if ans.Reply || ans.Verdict != Accepted {
			t.Fatalf("a WRITE behind a READ is answered at once: %+v", ans)
		}
	}
	var got []Packet
	for e.b.Responding() && e.b.NextResponse(&p) {
		got = append(got, p)
	}
	want := []struct {
		op  roce.Opcode
		psn uint32
		msn uint32
	}{
		{roce.ReadRespFirst, 0xfffffe, 1}, {roce.ReadRespMiddle, 0xffffff, 1}, {roce.ReadRespLast, 0, 1},
		{roce.Acknowledge, 5, 6},
	}
	if len(got) != len(want) {
		t.Fatalf("%d responses, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		if g := got[i]; g.Opcode != w.op || g.PSN != w.psn || g.MSN != w.msn || !g.Syndrome.IsAck() {
			t.Errorf("response %d: %v PSN %#x MSN %d", i, g.Opcode, g.PSN, g.MSN)
		}
	}
	if e.b.Responding() || e.b.NextResponse(&p) {
		t.Error("one more response")
	}
}

// TestRefusalBehindReadData sends the outstanding READ data, then the NAK; then the connection ends. If the region
// is deregistered meanwhile, the NAK replaces the data.
func TestRefusalBehindReadData(t *testing.T) {
	for _, gone := range []bool{false, true} {
		e := connected(t, nil)
		var p Packet
		var ans Answer
		e.b.Data(&Packet{Opcode: roce.ReadRequest, PSN: 0xfffffe, VA: 0x1000, RKey: 8, Len: 2048}, &ans)
		e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: 0, VA: 0x1000, RKey: 99, Len: 1, Payload: 1}, &ans)
		if ans.Reply || ans.Verdict != Refused || e.b.State() != ReadyToSend {
			t.Fatalf("%+v in %v", ans, e.b.State())
		}
		e.b.Data(&Packet{Opcode: roce.WriteOnly, PSN: 0, VA: 0x1000, RKey: 7}, &ans)
		if ans.Verdict != Refused || ans.Reply {
			t.Errorf("taken behind a refusal: %+v", ans)
		}
		if gone {
			e.mem.Deregister(8)
		} else {
			for _, op := range []roce.Opcode{roce.ReadRespFirst, roce.ReadRespLast} {
				if !e.b.NextResponse(&p) || p.Opcode != op || e.b.State() != ReadyToSend {
					t.Errorf("%v in %v, want %v", p.Opcode, e.b.State(), op)
				}
			}
		}
		psn := map[bool]uint32{true: 0xfffffe, false: 0}[gone]
		if !e.b.NextResponse(&p) || p.Opcode != roce.Acknowledge || p.Syndrome != roce.NakRemoteAccess ||
			p.PSN != psn || e.b.State() != Error || e.b.Fault() != roce.NakRemoteAccess {
			t.Errorf("deregistered %v: %+v in %v", gone, p, e.b.State())
		}
		if !gone && e.b.NextResponse(&p) {
			t.Errorf("one more response: %+v", p)
		}
		for e.b.NextResponse(&p) {
			if p.Opcode != roce.Acknowledge {
				t.Errorf("a queue pair in ERR sends %v", p.Opcode)
			}
		}
	}
}

// TestAtomicsAreRemembered answers a repeated atomic with its stored result (IBTA 9.7.5.1.4), for as many atomics
// as may be outstanding and no older ones. A swap that does not match changes nothing.
func TestAtomicsAreRemembered(t *testing.T) {
	e := connected(t, func(c *Config) { c.ReadsIn = 3 })
	var p Packet
	var ans Answer
	ask := func(i int, op roce.Opcode, compare, add uint64) (orig uint64, answered bool) {
		e.b.Data(&Packet{Opcode: op, PSN: uint32(0xfffffe+i) & roce.PSNMask, VA: 0x1000, RKey: 7, SwapAdd: add,
			Compare: compare}, &ans)
		answered = e.b.NextResponse(&p)
		if answered && (p.Opcode != roce.AtomicAck || p.PSN != uint32(0xfffffe+i)&roce.PSNMask) {
			t.Errorf("atomic %d is answered with %v, PSN %#x", i, p.Opcode, p.PSN)
		}
		return p.Orig, answered
	}
	for i := range 5 {
		if orig, ok := ask(i, roce.FetchAdd, 0, 10); !ok || orig != uint64(10*i) {
			t.Errorf("atomic %d found %d", i, orig)
		}
	}
	for i := range 5 {
		if orig, ok := ask(i, roce.FetchAdd, 0, 10); ok != (i >= 2) || ok && orig != uint64(10*i) {
			t.Errorf("repeated, atomic %d of the last 5 is answered: %v, %d", i, ok, orig)
		}
	}
	for i, c := range []struct{ compare, swap, found, left uint64 }{{51, 7, 50, 50}, {50, 8, 50, 8}, {50, 9, 8, 8}} {
		orig, _ := ask(5+i, roce.CompareSwap, c.compare, c.swap)
		if now := binary.NativeEndian.Uint64(e.buf); orig != c.found || now != c.left {
			t.Errorf("swap %d for %d found %d and left %d", c.swap, c.compare, orig, now)
		}
	}
	for va, want := range map[uint64]roce.Syndrome{0x1004: roce.NakInvalid, 0x1000 + 1<<16: roce.NakRemoteAccess} {
		e := connected(t, nil)
		e.b.Data(&Packet{Opcode: roce.FetchAdd, PSN: 0xfffffe, VA: va, RKey: 7}, &ans)
		if ans.Packet.Syndrome != want || e.b.State() != Error {
			t.Errorf("atomic at %#x: %v", va, ans.Packet.Syndrome)
		}
	}
}

// TestReadsBeyondWhatWasAgreed accepts at least the agreed number of READs, even while repeated ones wait. It
// rejects a peer that sends more.
func TestReadsBeyondWhatWasAgreed(t *testing.T) {
	for _, op := range []roce.Opcode{roce.ReadRequest, roce.FetchAdd} {
		e := connected(t, func(c *Config) { c.ReadsIn = 4 })
		var p Packet
		var ans Answer
		ask := func(i int) Verdict {
			e.b.Data(&Packet{Opcode: op, PSN: uint32(0xfffffe+i) & roce.PSNMask, VA: 0x1000, RKey: 7, Len: 8}, &ans)
			return ans.Verdict
		}
		n := 0
		for range 4 {
			ask(n)
			n++
			e.b.NextResponse(&p)
		}
		for i := range 4 {
			ask(i) // again
		}
		for range 4 {
			if v := ask(n); v != Accepted {
				t.Fatalf("%v %d: %v", op, n, v)
			}
			n++
		}
		for ; n < 100 && ask(n) == Accepted; n++ {
		}
		if n > 16 || ans.Verdict != Refused {
			t.Errorf("%v: %d wait at a responder that agreed to 4", op, n-4)
		}
	}
}
