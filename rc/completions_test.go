package rc

import (
	"testing"

	"railyard/roce"
)

// The receiver of a WRITE with immediate reports the message's bytes (ibv_poll_cq: byte_len). This holds for one
// packet, for several, and if every packet has its own RETH.
func TestImmediateSaysHowMuchWasWritten(t *testing.T) {
	for _, writeOnly := range []bool{false, true} {
		for _, n := range []int{0, 3, 1024, 3000, 8192} {
			e := connected(t, func(c *Config) { c.WriteOnly = writeOnly })
			e.b.PostReceive(Receive{ID: 1})
			e.b.PostReceive(Receive{ID: 2})
			e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(5000)}) // not counted
			e.post(Request{Verb: WriteImm, VA: 0x1000 + 5000, RKey: 7, Data: pattern(n), Imm: 9})
			e.post(Request{Verb: WriteImm, VA: 0x1000, RKey: 7, Data: pattern(2500), Imm: 10,
				Solicited: true})
			lost := map[uint32]bool{}
			e.run(func(p *Packet) bool { // lost packets change nothing
				again := lost[p.PSN]
				lost[p.PSN] = true
				return !again && p.PSN%3 == 1 && p.Opcode != roce.Acknowledge
			})
			e.want(Success, Success, Success)
			first, _ := e.b.PopReceived()
			second, _ := e.b.PopReceived()
			if first != (Received{ID: 1, Len: int64(n), Imm: 9, HasImm: true, Write: true}) ||
				second.Len != 2500 || !second.Solicited {
				t.Errorf("write only %v, %d bytes: %+v, %+v", writeOnly, n, first, second)
			}
		}
	}
}

// A send queue is drained when everything that has begun is acknowledged (IBTA 10.3.1.5). It is not drained in the
// middle of a message, during retransmission, or while the receiver is not ready.
func TestDrainedMeansAcknowledged(t *testing.T) {
	var p Packet
	var ans Answer
	e := connected(t, func(c *Config) { c.AckEvery = 1 })
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(10 * 1024)})
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(1)})
	for i := range 10 {
		e.a.Next(0, &p)
		e.b.Data(&p, &ans)
		e.a.Acknowledged(0, &ans.Packet)
		if i == 0 {
			e.a.Modify(SendQueueDrain, 0)
		}
		if e.a.Drained() != (i == 9) {
			t.Errorf("after %d of 10 packets drained is %v", i+1, e.a.Drained())
		}
	}
	if e.a.Next(0, &p) {
		t.Error("a new message starts in SQD")
	}

	e = connected(t, nil)
	e.post(Request{Verb: Write, VA: 0x1000, RKey: 7, Data: pattern(4 * 1024)})
	for e.a.Next(0, &p) {
	}
	e.a.Timeout(e.a.TimeoutAt())
	e.a.Modify(SendQueueDrain, 0)
	if e.a.Drained() {
		t.Error("drained with four packets lost and not retransmitted")
	}

	e = connected(t, nil)
	e.post(Request{Verb: Send, Data: pattern(100)})
	e.a.Next(0, &p)
	e.b.Data(&p, &ans)
	e.a.Acknowledged(0, &ans.Packet)
	e.a.Modify(SendQueueDrain, 0)
	if !e.a.WaitsForReceiver() || e.a.Drained() {
		t.Error("drained while the receiver is not ready")
	}
}

// A READ posted in parts is one request: once begun, it also completes in SQD.
func TestPartsAreDrainedTogether(t *testing.T) {
	e := connected(t, nil)
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Data: make([]byte, 3000)})
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Data: make([]byte, 3000), Continues: true})
	e.post(Request{Verb: Read, VA: 0x1000, RKey: 7, Data: make([]byte, 3000)})
	var p Packet
	e.a.Next(0, &p)
	e.a.Modify(SendQueueDrain, 0)
	var ans Answer
	e.b.Data(&p, &ans)
	for e.b.NextResponse(&p) {
		e.a.Acknowledged(0, &p)
	}
	e.want(Success)
	if e.a.Drained() {
		t.Error("drained between the parts of one READ")
	}
	e.run(nil)
	e.want(Success)
	if !e.a.Drained() || e.a.Pending() {
		t.Errorf("after both parts: drained %v, pending %v", e.a.Drained(), e.a.Pending())
	}
}
