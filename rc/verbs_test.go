package rc

import (
	"bytes"
	"encoding/binary"
	"testing"

	"railyard/roce"
	"railyard/unit"
)

// ends are two connected queue pairs with real memory. b's region of 64 KiB at 0x1000 under key 7 permits
// everything. Key 8 is the same memory for reading, and may be invalidated.
type ends struct {
	t    *testing.T
	a, b QP
	mem  *Memory
	buf  []byte
	now  unit.Time
	cfg  Config
}

func connected(t *testing.T, change func(*Config)) *ends {
	e := &ends{t: t, buf: make([]byte, 1<<16), mem: NewMemory(1)}
	e.cfg = Config{MTU: 1024, AckEvery: 4, Timeout: LocalAckTimeout(8), Retries: 2, Reads: 4, ReadsIn: 4,
		RNRRetries: 2, RNRTimer: 12, Window: 64}
	if change != nil {
		change(&e.cfg)
	}
	if err := e.cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		key    uint32
		access Access
	}{{7, LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic}, {8, RemoteRead | RemoteInvalidate}} {
		if err := e.mem.RegisterBuffer(r.key, 0x1000, e.buf, r.access); err != nil {
			t.Fatal(err)
		}
	}
	e.a, e.b = NewQP(&e.cfg, NewMemory(1)), NewQP(&e.cfg, e.mem)
	for _, s := range []State{Init, ReadyToReceive, ReadyToSend} {
		e.a.Modify(s, 0xfffffe)
		e.b.Modify(s, 0xfffffe)
	}
	return e
}

// run moves packets both ways until none is left; drop may lose them.
func (e *ends) run(drop func(p *Packet) bool) {
	var p Packet
	var ans Answer
	toA := func(p *Packet) {
		if drop == nil || !drop(p) {
			e.a.Acknowledged(e.now, p)
		}
	}
	for {
		e.now += unit.Microsecond
		switch {
		case e.a.Next(e.now, &p):
			if drop != nil && drop(&p) {
				continue
			}
			e.b.Data(&p, &ans)
			if ans.Reply {
				toA(&ans.Packet)
			}
		case e.b.NextResponse(&p):
			toA(&p)
		default:
			at := e.a.TimeoutAt()
			if at == unit.Never {
				return
			}
			e.now = at
			e.a.Timeout(at)
		}
	}
}

func (e *ends) post(r Request) {
	e.t.Helper()
	r.ID = r.VA
	if r.Data != nil {
		r.Len = int64(len(r.Data))
	}
	if err := e.a.Post(&r); err != nil {
		e.t.Fatal(err)
	}
}

func (e *ends) want(statuses ...Status) {
	e.t.Helper()
	for i, s := range statuses {
		c, ok := e.a.PopCompletion()
		if !ok || c.Status != s {
			e.t.Fatalf("completion %d is %v (%v), want %v", i, c.Status, ok, s)
		}
	}
	if c, ok := e.a.PopCompletion(); ok {
		e.t.Fatalf("one more completion: %+v", c)
	}
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// Every verb moves its bytes in order while each packet is lost once.
func TestVerbs(t *testing.T) {
	for _, rec := range []Recovery{GoBackN, Selective} {
		for _, lossy := range []bool{false, true} {
			e := connected(t, func(c *Config) { c.Recovery = rec })
			e.b.PostReceive(Receive{ID: 50, Data: [][]byte{make([]byte, 5000)}})
			e.b.PostReceive(Receive{ID: 51})
			recv := make([]byte, 100)
			e.b.PostReceive(Receive{ID: 52, Data: [][]byte{recv}})
			got, was, was2 := make([]byte, 4500), make([]byte, 8), make([]byte, 8)
			e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(4500)})
			e.post(Request{Verb: Read, VA: 0x1000, RKey: 8, Data: got})
			e.post(Request{Verb: Send, Data: pattern(4999)})
			e.post(Request{Verb: WriteImm, VA: 0x9000, RKey: 7, Data: pattern(3000), Imm: 99,
				Solicited: true})
			e.post(Request{Verb: FetchAdd, VA: 0x8000, RKey: 7, Len: 8, Data: was, SwapAdd: 5})
			e.post(Request{Verb: CompareSwap, VA: 0x8000, RKey: 7, Len: 8, Data: was2, Compare: 5,
				SwapAdd: 77})
			e.post(Request{Verb: SendInv, Data: pattern(10), Imm: 8, Fence: true})
			lost := map[uint64]bool{}
			e.run(func(p *Packet) bool {
				k := uint64(p.Opcode)<<32 | uint64(p.PSN)
				if !lossy || lost[k] {
					return false
				}
				lost[k] = true
				e.a.retries = 0
				return p.PSN%3 == 0
			})
			e.want(Success, Success, Success, Success, Success, Success, Success)
			if !bytes.Equal(e.buf[:4500], pattern(4500)) || !bytes.Equal(got, pattern(4500)) ||
				!bytes.Equal(e.buf[0x8000:][:3000], pattern(3000)) {
				t.Fatal("bytes differ")
			}
			u := binary.NativeEndian.Uint64
			if u(was) != 0 || u(was2) != 5 || u(e.buf[0x7000:]) != 77 {
				t.Fatalf("atomics saw %d and %d, left %d", u(was), u(was2), u(e.buf[0x7000:]))
			}
			want := []Received{
				{ID: 50, Len: 4999},
				{ID: 51, Len: 3000, Imm: 99, HasImm: true, Write: true, Solicited: true},
				{ID: 52, Len: 10, InvKey: 8, HasInv: true},
			}
			for _, w := range want {
				if r, _ := e.b.PopReceived(); r != w {
					t.Fatalf("received %+v, want %+v", r, w)
				}
			}
			if !bytes.Equal(recv[:10], pattern(10)) || e.mem.find(8, 0x1000, 1, RemoteRead) != nil {
				t.Fatal("SEND with invalidate did not")
			}
		}
	}
}

// IBTA 9.7.4.1: which requests the responder rejects, with the NAK and the completion at the requester. No byte
// changes.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		r    Request
		nak  roce.Syndrome
		want Status
	}{
		"write without the right": {Request{Verb: Write, VA: 0x1000, RKey: 8, Data: pattern(10)},
			roce.NakRemoteAccess, RemoteAccessError},
		"read of a wrong key": {Request{Verb: Read, VA: 0x1000, RKey: 9, Len: 10}, roce.NakRemoteAccess,
			RemoteAccessError},
		"read past the end": {Request{Verb: Read, VA: 0x1000, RKey: 8, Len: 1<<16 + 1},
			roce.NakRemoteAccess, RemoteAccessError},
		"wrapping address": {Request{Verb: Write, VA: 1<<64 - 5, RKey: 7, Data: pattern(10)},
			roce.NakRemoteAccess, RemoteAccessError},
		"atomic without the right": {Request{Verb: FetchAdd, VA: 0x1000, RKey: 8, Len: 8},
			roce.NakRemoteAccess, RemoteAccessError},
		"receive too short": {Request{Verb: Send, Data: pattern(200)}, roce.NakInvalid,
			RemoteInvalidRequest},
		"invalidates nothing": {Request{Verb: SendInv, Data: pattern(2), Imm: 12345},
			roce.NakRemoteAccess, RemoteAccessError},
	} {
		t.Run(name, func(t *testing.T) {
			e := connected(t, nil)
			e.b.PostReceive(Receive{ID: 1, Data: [][]byte{make([]byte, 100)}})
			e.post(c.r)
			e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(3)})
			var nak roce.Syndrome
			e.run(func(p *Packet) bool {
				if p.Opcode == roce.Acknowledge && !p.Syndrome.IsAck() {
					nak = p.Syndrome
				}
				return false
			})
			e.want(c.want, Flushed)
			if nak != c.nak || e.a.State() != Error || e.b.State() != Error ||
				!bytes.Equal(e.buf, make([]byte, len(e.buf))) {
				t.Errorf("NAK %v, states %v %v", nak, e.a.State(), e.b.State())
			}
			if err := e.a.Post(&Request{}); err == nil {
				t.Error("posting in ERR is taken")
			}
		})
	}
}

// Unsupported opcodes are rejected.
func TestUnsupportedOpcodes(t *testing.T) {
	for _, op := range []roce.Opcode{roce.Flush, roce.AtomicWrite, roce.Acknowledge, roce.CNP, 0x15} {
		e := connected(t, nil)
		var ans Answer
		e.b.Data(&Packet{Opcode: op, PSN: 0xfffffe, VA: 0x1000, RKey: 7, Len: 8, Payload: 8,
			Data: pattern(8)},
			&ans)
		if ans.Packet.Syndrome != roce.NakInvalid || e.b.State() != Error ||
			!bytes.Equal(e.buf, make([]byte, len(e.buf))) {
			t.Errorf("%v: %+v", op, ans)
		}
	}
}

// IBTA 9.7.5.2: without a posted receive the responder returns RNR NAK. The requester repeats the packet after the
// timer, and fails once the count is used up.
func TestReceiverNotReady(t *testing.T) {
	e := connected(t, nil)
	e.post(Request{Verb: Send, Data: pattern(3000)})
	naks := 0
	e.run(func(p *Packet) bool {
		if p.Syndrome.IsRNR() && p.Opcode == roce.Acknowledge {
			if naks++; naks == 2 {
				e.b.PostReceive(Receive{ID: 1, Data: [][]byte{make([]byte, 3000)}})
			}
		}
		return false
	})
	e.want(Success)
	if naks != 2 || e.now < 2*roce.RNRTimer(12) {
		t.Errorf("%d RNR NAKs in %v", naks, e.now)
	}
	e = connected(t, nil)
	e.post(Request{Verb: WriteImm, VA: 0x1000, RKey: 7, Data: pattern(3000)})
	e.run(nil)
	e.want(RNRRetryExceeded)
	if e.now < 2*roce.RNRTimer(12) || e.now > 3*roce.RNRTimer(12) {
		t.Errorf("gave up after %v", e.now)
	}
}

// TestReceivesNeverRunOut: a responder without receives accepts SENDs and immediates if its application always has
// receives; it returns no RNR NAK.
func TestReceivesNeverRunOut(t *testing.T) {
	e := connected(t, func(c *Config) { c.AlwaysReady = true })
	e.post(Request{Verb: Send, Data: pattern(3000)})
	e.post(Request{Verb: WriteImm, VA: 0x1000, RKey: 7, Data: pattern(3000)})
	e.post(Request{Verb: SendImm, Data: pattern(100)})
	e.run(func(p *Packet) bool {
		if p.Opcode == roce.Acknowledge && !p.Syndrome.IsAck() {
			t.Errorf("%v", p.Syndrome)
		}
		return false
	})
	e.want(Success, Success, Success)
	if !bytes.Equal(e.buf[:3000], pattern(3000)) {
		t.Error("the WRITE is not there")
	}
}

// SQD (IBTA 10.3.1.5) finishes the message in progress and starts no other.
func TestDrain(t *testing.T) {
	e := connected(t, nil)
	for i := range 3 {
		e.post(Request{Verb: Write, VA: 0x1000 + uint64(i), RKey: 7, Data: pattern(4000)})
	}
	var p Packet
	e.a.Next(0, &p)
	e.b.Data(&p, &Answer{})
	if err := e.a.Modify(SendQueueDrain, 0); err != nil {
		t.Fatal(err)
	}
	e.run(nil)
	e.want(Success)
	if !e.a.Drained() {
		t.Error("not drained")
	}
	if err := e.a.Modify(ReadyToSend, 0); err != nil {
		t.Fatal(err)
	}
	e.run(nil)
	e.want(Success, Success)
}

// A repeated atomic gets its stored result and never runs twice; a repeated READ runs again from the requested
// position.
func TestRepeats(t *testing.T) {
	e := connected(t, nil)
	add := Packet{Opcode: roce.FetchAdd, PSN: 0xfffffe, VA: 0x1000, RKey: 7, SwapAdd: 3}
	read := Packet{Opcode: roce.ReadRequest, PSN: 0xffffff, VA: 0x1000, RKey: 8, Len: 2500}
	var ans Answer
	var p Packet
	for range 3 {
		e.b.Data(&add, &ans)
		e.b.NextResponse(&p)
		if p.Opcode != roce.AtomicAck || p.Orig != 0 || binary.NativeEndian.Uint64(e.buf) != 3 {
			t.Fatalf("%v was %d, memory holds %d", p.Opcode, p.Orig, binary.NativeEndian.Uint64(e.buf))
		}
	}
	e.b.Data(&read, &ans)
	e.b.NextResponse(&p)
	e.b.NextResponse(&p)
	tail := Packet{Opcode: roce.ReadRequest, PSN: 0, VA: 0x1400, RKey: 8, Len: 1476}
	e.b.Data(&tail, &ans)
	var psns []uint32
	for e.b.NextResponse(&p) {
		psns = append(psns, p.PSN)
	}
	if len(psns) != 2 || psns[0] != 0 || psns[1] != 1 || !p.Opcode.Ends() || p.Payload != 452 {
		t.Errorf("asked again from PSN 0 the responder sends %v, last %v of %d", psns, p.Opcode, p.Payload)
	}
	// Repeats cannot pile up answers.
	for i := range 1000 {
		read.VA = 0x1000 + uint64(i)
		e.b.Data(&read, &ans)
	}
	if len(e.b.out) > e.cfg.Reads {
		t.Errorf("%d answers queued", len(e.b.out))
	}
}
