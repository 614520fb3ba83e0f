package rc

import (
	"fmt"
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// TestBacklogByHand: a packet costs 62 bytes of headers, up to 28 of an atomic's, and 20 on the wire, plus its
// payload. A READ costs a packet without payload; a retransmission costs a full packet of 1,024 + 110.
func TestBacklogByHand(t *testing.T) {
	e := connected(t, func(c *Config) { c.Recovery, c.AckEvery = Selective, 64 })
	want := func(what string, idle bool, wire int64) {
		t.Helper()
		if got := e.a.Backlog(1 << 40); got != wire || e.a.Idle() != idle {
			t.Errorf("%s: %d bytes, idle %v; want %d", what, got, e.a.Idle(), wire)
		}
	}
	want("nothing", true, 0)
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Len: 2500})
	want("three packets", false, 2500+3*110)
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Len: 9000})
	want("and a READ", false, 2500+4*110)
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Len: 10})
	want("and a short one", false, 2510+5*110)
	if got := e.a.Backlog(2500); got != 2830 {
		t.Errorf("it counts on to %d, though 2,830 are enough", got)
	}
	var p Packet
	e.a.Next(0, &p)
	want("one has gone", false, 1486+4*110)
	e.a.Next(0, &p)
	e.a.Next(0, &p)
	want("three have gone", false, 10+2*110)
	e.a.Acknowledged(0, report(0, roce.NakMissing, 1<<8|1))
	want("one is lost", false, 10+2*110+1134)
	e.a.Next(0, &p)
	e.a.Next(0, &p)
	e.a.Next(0, &p)
	want("all have gone", false, 0)
	b := sent(t, 5, nil)
	b.a.Acknowledged(0, report(2, roce.NakSequence, 0))
	if got := b.a.Backlog(1 << 40); got != 3*1134+45*(1024+110) {
		t.Errorf("three of fifty go again: %d bytes", got)
	}
}

// TestOpcodesInSequence checks for all pairs which request may follow which. Within a message only its own MIDDLE
// and LAST may follow, otherwise only an opcode that begins a message (IBTA 9.7.4.1.2).
func TestOpcodesInSequence(t *testing.T) {
	const whole, write, send = 0, 1, 2
	for _, c := range []struct {
		op      roce.Opcode
		needs   int
		payload int32
	}{
		{roce.SendFirst, whole, 1024}, {roce.SendMiddle, send, 1024}, {roce.SendLast, send, 10},
		{roce.SendLastImm, send, 10}, {roce.SendLastInv, send, 10}, {roce.SendOnly, whole, 10},
		{roce.SendOnlyImm, whole, 10}, {roce.SendOnlyInv, whole, 10}, {roce.WriteFirst, whole, 1024},
		{roce.WriteMiddle, write, 1024}, {roce.WriteLast, write, 976}, {roce.WriteLastImm, write, 976},
		{roce.WriteOnly, whole, 1024}, {roce.WriteOnlyImm, whole, 1024}, {roce.ReadRequest, whole, 0},
		{roce.CompareSwap, whole, 0}, {roce.FetchAdd, whole, 0},
	} {
		for in, begins := range []Packet{whole: {Opcode: roce.WriteOnly},
			write: {Opcode: roce.WriteFirst, Payload: 1024}, send: {Opcode: roce.SendFirst, Payload: 1024}} {
			e := connected(t, nil)
			e.b.PostReceive(Receive{ID: 1, Data: [][]byte{make([]byte, 4096)}})
			e.b.PostReceive(Receive{ID: 2, Data: [][]byte{make([]byte, 4096)}})
			begins.PSN, begins.VA, begins.RKey, begins.Len = psnAt(0), 0x1000, 7, uint32(begins.Payload)
			p := Packet{Opcode: c.op, PSN: psnAt(1), VA: 0x1000, RKey: 7, Len: 1024, Payload: c.payload, Imm: 8}
			if c.op == roce.WriteFirst {
				p.Len = 2048
			}
			if in == write {
				begins.Len = 2000
				if c.op == roce.WriteMiddle {
					begins.Len = 3000
				}
			}
			var a Answer
			if e.b.Data(&begins, &a); a.Verdict != Accepted {
				t.Fatalf("%v: %+v", begins.Opcode, a)
			}
			want, syndrome := Accepted, roce.Syndrome(0)
			if c.needs != in {
				want, syndrome = Refused, roce.NakInvalid
			}
			if e.b.Data(&p, &a); a.Verdict != want || e.b.Fault() != syndrome {
				t.Errorf("%v after %v: verdict %v, fault %v; want %v", c.op, begins.Opcode, a.Verdict,
					e.b.Fault(), want)
			}
		}
	}
}

// TestEmptyNeedsNoKey: a WRITE or READ of zero bytes needs no valid key (IBTA 9.7.4.1.5); one of a single byte
// does.
func TestEmptyNeedsNoKey(t *testing.T) {
	for _, op := range []roce.Opcode{roce.WriteOnly, roce.ReadRequest} {
		for n, want := range []Verdict{Accepted, Refused} {
			e := connected(t, nil)
			p := Packet{Opcode: op, PSN: psnAt(0), VA: 5, RKey: 99, Len: uint32(n)}
			if op == roce.WriteOnly {
				p.Payload = int32(n)
			}
			var a Answer
			if e.b.Data(&p, &a); a.Verdict != want || (want == Refused) != (e.b.Fault() == roce.NakRemoteAccess) {
				t.Errorf("%v of %d bytes with a key that does not exist: %+v", op, n, a)
			}
		}
	}
	if err := NewMemory(1).RegisterBuffer(9, 5, nil, RemoteRead); err != nil {
		t.Errorf("an empty region: %v", err)
	}
}

// TestWhatNAKsMean: each NAK ends the connection with its own status (IBTA 9.7.5.2, 10.8.3.1), in either recovery
// mode. Other requests are flushed, and nothing is left to drain.
func TestWhatNAKsMean(t *testing.T) {
	for _, rec := range []Recovery{GoBackN, Selective} {
		for s, want := range map[roce.Syndrome]Status{roce.NakRemoteAccess: RemoteAccessError,
			roce.NakRemoteOp: RemoteOperationError, roce.NakInvalid: RemoteInvalidRequest} {
			e := connected(t, func(c *Config) { c.Recovery = rec })
			for range 3 {
				e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Len: 10})
			}
			var p Packet
			for e.a.Next(0, &p) {
			}
			e.a.Acknowledged(0, report(1, s, 0))
			if e.a.State() != Error || !e.a.Drained() {
				t.Errorf("%v: state %v, drained %v", s, e.a.State(), e.a.Drained())
			}
			e.want(Success, want, Flushed)
		}
	}
}

// TestUnprotectedReceive: a SEND whose only posted buffer may not be used ends the connection with a remote
// operational error. The receive ends with a protection error (IBTA 9.7.5.2.5).
func TestUnprotectedReceive(t *testing.T) {
	e := connected(t, nil)
	e.b.PostReceive(Receive{ID: 4, Data: [][]byte{make([]byte, 100)}, Unprotected: true})
	e.b.PostReceive(Receive{ID: 5})
	e.post(Request{Verb: Send, Data: pattern(10)})
	e.run(nil)
	e.want(RemoteOperationError)
	for i, want := range []Received{{ID: 4, Status: LocalProtectionError}, {ID: 5, Status: Flushed}} {
		if r, ok := e.b.PopReceived(); !ok || r != want {
			t.Errorf("receive %d: %+v, want %+v", i, r, want)
		}
	}
	if r, ok := e.b.PopReceived(); ok || e.b.State() != Error || e.b.Fault() != roce.NakRemoteOp {
		t.Errorf("one more: %+v; state %v", r, e.b.State())
	}
}

// TestUnprotectedRequest: a request whose buffer may not be used is not sent. It fails when the requests before it
// have ended, and the requests after it fail too.
func TestUnprotectedRequest(t *testing.T) {
	for _, rec := range []Recovery{GoBackN, Selective} {
		e := connected(t, func(c *Config) { c.Recovery = rec })
		for i := range 3 {
			e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Len: 10, Unprotected: i == 1})
		}
		var p Packet
		if !e.a.Next(0, &p) || e.a.Pending() || e.a.Next(0, &p) || e.a.State() != ReadyToSend {
			t.Errorf("recovery %d: %+v goes, state %v", rec, p, e.a.State())
		}
		if n := e.a.Acknowledged(0, report(0, roce.Ack, 0)); n != 1 || e.a.State() != Error {
			t.Errorf("recovery %d: %d packets, state %v", rec, n, e.a.State())
		}
		e.want(Success, LocalProtectionError, Flushed)
	}
}

// TestAnswersByState: outside RTS and SQD every answer is ignored.
func TestAnswersByState(t *testing.T) {
	for _, s := range []State{Reset, Init, ReadyToReceive, Error} {
		for _, p := range []Packet{{Opcode: roce.Acknowledge, Syndrome: roce.Ack},
			{Opcode: roce.Acknowledge, Syndrome: roce.NakRemoteAccess}, {Opcode: roce.Acknowledge, PSN: 1<<24 - 1},
			{Opcode: roce.ReadRespOnly}} {
			q := in(t, s)
			if n := q.Acknowledged(0, &p); n != 0 || q.State() != s {
				t.Errorf("%v: %d packets, state %v after %+v", s, n, q.State(), p)
			}
		}
	}
}

// TestTimeoutIsNotEarly: nothing happens before the time, by a picosecond.
func TestTimeoutIsNotEarly(t *testing.T) {
	for _, rec := range []Recovery{GoBackN, Selective} {
		e := sent(t, 10, func(c *Config) { c.Recovery, c.AckEvery = rec, 64 })
		at := e.a.TimeoutAt()
		if e.a.Timeout(at-1) || e.a.Timeouts != 0 || !e.a.Timeout(at) || e.a.Timeouts != 1 {
			t.Errorf("recovery %d: %d time-outs around %v", rec, e.a.Timeouts, at)
		}
	}
}

// goes lists the packets to send now by their place. An asterisk marks retransmissions, and a question mark marks
// requests for a list.
func goes(e *ends, now unit.Time, most int) (out string) {
	var p Packet
	for range most {
		if !e.a.Next(now, &p) {
			break
		}
		out += fmt.Sprintf(" %d", roce.PSNDiff(p.PSN, psnAt(0)))
		if p.Again {
			out += "*"
		}
		if p.List {
			out += "?"
		}
	}
	return out
}

// TestWhatGoesAfterSilence checks which packets are retransmitted. After the ACK timeout they are the oldest packet
// and the last one; after silence only the last one, or the missing ones if known. All request an answer; where
// answers name packets, they request a list.
func TestWhatGoesAfterSilence(t *testing.T) {
	for name, c := range map[string]struct {
		named, hole bool
		timeout     int
		want        string
	}{
		"the ACK timeout":         {false, false, 1, " 0* 9*"},
		"nothing is missing":      {false, false, 20, " 9*"},
		"a hole":                  {false, true, 20, " 2* 3*"},
		"named":                   {true, false, 20, " 9*?"},
		"named, a hole":           {true, true, 20, " 2*?"},
		"named, and ACK timeouts": {true, false, 1, " 0*? 9*"},
	} {
		e := sent(t, 10, func(f *Config) {
			f.Recovery, f.AckEvery, f.Named, f.NakAfter = Selective, 2, c.named, 60
			f.Timeout = LocalAckTimeout(c.timeout)
		})
		switch {
		case c.hole && c.named:
			e.a.Acknowledged(0, report(2, roce.AckNamed, 6<<8|psnAt(7)&0xff))
		case c.hole:
			e.a.Acknowledged(0, report(2, roce.NakGap, 6<<8|2))
		}
		at := e.a.TimeoutAt()
		if e.a.Resending() || !e.a.Timeout(at) {
			t.Fatalf("%s: something goes before %v", name, at)
		}
		if got := goes(e, at, 1+len(c.want)/4); got != c.want && got[:len(c.want)] != c.want {
			t.Errorf("%s:%s goes, want%s", name, got, c.want)
		}
	}
}
