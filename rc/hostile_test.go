package rc

import (
	"testing"

	"railyard/internal/long"
	"railyard/internal/rng"
	"railyard/roce"
	"railyard/unit"
)

// A peer, or an attacker, may send anything at any time: reports of packets that were never sent, unexpected
// answers, requests out of sequence. Neither end panics, memory stays bounded, and the requester's sequence numbers
// stay in order.
func TestHostilePeer(t *testing.T) {
	says := []roce.Syndrome{roce.Ack, roce.Ack, roce.Ack, roce.NakSequence, roce.RNRNak | 1, roce.NakMissing,
		roce.NakGap, roce.NakMissing, roce.NakGap, roce.NakRemoteAccess}
	ended, n := 0, long.N(5000, 40_000)
	for seed := range uint64(n) {
		r := rng.New(seed, "hostile")
		e := connected(t, func(c *Config) {
			c.Recovery, c.NakAfter, c.ReadsIn, c.RNRRetries, c.Retries = Recovery(seed&1), r.Intn(3),
				1+r.Intn(4), 7, 7
		})
		for range r.Intn(4) {
			e.b.PostReceive(Receive{Data: [][]byte{make([]byte, r.Intn(3000))}})
		}
		for range 1 + r.Intn(5) {
			n, verb := r.Intn(4000), Verb(r.Intn(8))
			if verb > Read {
				n = 8
			}
			e.a.Post(&Request{Verb: verb, VA: 0x1000 + uint64(r.Intn(100))*8, RKey: 7, Len: int64(n),
				Data: make([]byte, n), Imm: 8, Fence: r.Intn(3) == 0})
		}
		psn := func() uint32 { return uint32(0xfffffe+r.Intn(14)-4) & roce.PSNMask }
		var p Packet
		var ans Answer
		for range 80 {
			e.now += unit.Time(r.Intn(int(LocalAckTimeout(8)))) / 4
			switch r.Intn(7) {
			case 0, 1:
				if e.a.Next(e.now, &p) && r.Intn(4) > 0 {
					if e.b.Data(&p, &ans); ans.Reply && r.Intn(4) > 0 {
						e.a.Acknowledged(e.now, &ans.Packet)
					}
				}
			case 2:
				if e.b.NextResponse(&p) && r.Intn(4) > 0 {
					e.a.Acknowledged(e.now, &p)
				}
			case 3: // to the responder
				n := r.Intn(1025)
				e.b.Data(&Packet{Opcode: roce.Opcode(r.Intn(0x20)), PSN: psn(),
					VA: 0x1000 + uint64(r.Intn(70_000)), RKey: uint32(7 + r.Intn(3)),
					Len: uint32(r.Intn(5000)), Payload: int32(n), Data: make([]byte, n),
					AckReq: r.Intn(2) == 0, Imm: uint32(r.Intn(10))}, &ans)
			case 4: // to the requester
				n := r.Intn(1025)
				q := Packet{Opcode: roce.ReadRespFirst + roce.Opcode(r.Intn(6)), PSN: psn(),
					Syndrome: says[r.Intn(len(says))], Payload: int32(n), Data: make([]byte, n),
					MSN: uint32(r.Intn(14))<<8 | uint32(r.Intn(20))}
				if r.Intn(8) == 0 {
					q.MSN = uint32(r.Intn(1 << 24))
				}
				e.a.Acknowledged(e.now, &q)
			case 5:
				e.a.Timeout(e.now)
			case 6:
				if r.Intn(10) == 0 {
					e.mem.Deregister(uint32(7 + r.Intn(2)))
				}
			}
			if a := &e.a; a.una > a.next || a.next > a.high || a.high > a.end || len(e.b.out) > 200 ||
				a.sel != nil && len(a.sel.spans) > e.cfg.Window {
				t.Fatalf("seed %d: una %d next %d high %d end %d, %d answers queued", seed, a.una, a.next,
					a.high, a.end, len(e.b.out))
			}
			if k := e.a.sel; k != nil {
				pending := uint64(0)
				for i, s := range k.spans {
					pending += s.to - s.next
					if s.from < e.a.una || s.next < s.from || s.to < s.next || s.to > e.a.high || i > 0 &&
						k.spans[i-1].to > s.from {
						t.Fatalf("seed %d: spans %+v at una %d", seed, k.spans, e.a.una)
					}
				}
				if pending != k.pending {
					t.Fatalf("seed %d: %d pending, counted %d", seed, k.pending, pending)
				}
			}
		}
		if e.a.State() == Error || e.b.State() == Error {
			ended++
		}
	}
	if ended < n/4 || ended == n {
		t.Errorf("%d of %d connections ended: too tame, or too wild", ended, n)
	}
}
