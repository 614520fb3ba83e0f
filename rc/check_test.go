package rc

import (
	"bytes"
	"testing"

	"railyard/roce"
)

// An operation that the queue pair does not allow is an invalid request, for any length and region (IBTA 9.7.4.1;
// ibv_modify_qp: qp_access_flags, IBV_WC_REM_INV_REQ_ERR). An operation that only the region rejects is an access
// error.
func TestDeniedByTheQueuePair(t *testing.T) {
	deny := map[Verb]Access{
		Write:       RemoteWrite,
		WriteImm:    RemoteWrite,
		Read:        RemoteRead,
		FetchAdd:    RemoteAtomic,
		CompareSwap: RemoteAtomic,
	}
	for verb, right := range deny {
		for _, n := range []int{0, 8, 3000} {
			if verb > Read && n != 8 {
				continue
			}
			for _, denied := range []Access{right, (RemoteWrite | RemoteRead | RemoteAtomic) &^ right} {
				e := connected(t, func(c *Config) { c.Deny = denied })
				e.b.PostReceive(Receive{ID: 1})
				e.post(Request{Verb: verb, VA: 0x1000, RKey: 7, Data: pattern(n)})
				e.run(nil)
				if denied == right {
					e.want(RemoteInvalidRequest)
				} else {
					e.want(Success)
				}
				if denied == right && !bytes.Equal(e.buf, make([]byte, len(e.buf))) {
					t.Errorf("%v of %d bytes, denied, wrote", verb, n)
				}
			}
		}
	}
	// This also holds in the middle of a message, because a right can be revoked while it runs.
	e := connected(t, nil)
	var ans Answer
	e.b.Data(&Packet{Opcode: roce.WriteFirst, PSN: 0xfffffe, Payload: 1024, Data: pattern(1024), VA: 0x1000,
		RKey: 7, Len: 2000}, &ans)
	e.cfg.Deny = RemoteWrite
	e.b.Data(&Packet{Opcode: roce.WriteLast, PSN: 0xffffff, Payload: 976, Data: pattern(976)}, &ans)
	if ans.Packet.Syndrome != roce.NakInvalid {
		t.Errorf("WRITE Last after the right was taken: %+v", ans)
	}
}

// A peer can invalidate only regions registered for that: fast-registered regions and type 2 windows (rxe rejects
// all others).
func TestInvalidateNeedsTheRight(t *testing.T) {
	for _, c := range []struct {
		access Access
		want   Status
	}{
		{LocalWrite, RemoteAccessError},
		{LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic, RemoteAccessError},
		{RemoteInvalidate, Success},
	} {
		for _, n := range []int{2, 3000} {
			e := connected(t, nil)
			region, recv := make([]byte, 100), make([]byte, 4000)
			if err := e.mem.RegisterBuffer(55, 0x5000, region, c.access); err != nil {
				t.Fatal(err)
			}
			e.b.PostReceive(Receive{ID: 1, Data: [][]byte{recv}})
			e.post(Request{Verb: SendInv, Data: pattern(n), Imm: 55})
			e.run(nil)
			e.want(c.want)
			if known := e.mem.Deregister(55); known != (c.want != Success) {
				t.Errorf("region with access %#x: %v, and it is known: %v", c.access, c.want, known)
			}
		}
	}
}

// Errors that waiting cannot fix are reported before a missing receive is. Otherwise a requester with rnr_retry 7
// would retry for ever.
func TestFaultsBeforeNotReady(t *testing.T) {
	first := &Packet{Opcode: roce.WriteFirst, PSN: 0xfffffe, Payload: 1024, Data: pattern(1024), VA: 0x1000,
		RKey: 7, Len: 2000}
	for name, c := range map[string]struct {
		before *Packet
		p      Packet
		deny   Access
		want   roce.Syndrome
	}{
		"SEND inside a WRITE": {first, Packet{Opcode: roce.SendOnly}, 0, roce.NakInvalid},
		"SEND MIDDLE without FIRST": {nil, Packet{Opcode: roce.SendMiddle, Payload: 1024}, 0,
			roce.NakInvalid},
		"SEND LAST without FIRST": {nil, Packet{Opcode: roce.SendLast, Payload: 4}, 0, roce.NakInvalid},
		"WRITE LAST IMM without FIRST": {nil, Packet{Opcode: roce.WriteLastImm, Payload: 4}, 0,
			roce.NakInvalid},
		"WRITE LAST IMM of wrong length": {first, Packet{Opcode: roce.WriteLastImm, Payload: 4}, 0,
			roce.NakInvalid},
		"WRITE ONLY IMM, denied": {nil, Packet{Opcode: roce.WriteOnlyImm, VA: 0x1000, RKey: 7, Len: 4,
			Payload: 4}, RemoteWrite, roce.NakInvalid},
		"WRITE ONLY IMM, wrong key": {nil, Packet{Opcode: roce.WriteOnlyImm, VA: 0x1000, RKey: 9, Len: 4,
			Payload: 4}, 0, roce.NakRemoteAccess},
		"SEND ONLY beyond the MTU": {nil, Packet{Opcode: roce.SendOnly, Payload: 1025}, 0, roce.NakInvalid},
		"SEND invalidating a plain key": {nil, Packet{Opcode: roce.SendOnlyInv, Payload: 4, Imm: 7}, 0,
			roce.NakRemoteAccess},
		"nothing but no receive": {nil, Packet{Opcode: roce.SendOnly, Payload: 4}, 0, roce.RNRNak | 12},
		"a good WRITE, but no receive": {first, Packet{Opcode: roce.WriteLastImm, Payload: 976}, 0,
			roce.RNRNak | 12},
	} {
		e := connected(t, func(c *Config) { c.RNRRetries = 7 })
		e.cfg.Deny = c.deny
		var ans Answer
		c.p.PSN = 0xfffffe
		if c.before != nil {
			e.b.Data(c.before, &ans)
			c.p.PSN = 0xffffff
		}
		c.p.Data = pattern(int(c.p.Payload))
		if e.b.Data(&c.p, &ans); !ans.Reply || ans.Packet.Syndrome != c.want {
			t.Errorf("%s: %v, want %v", name, ans.Packet.Syndrome, c.want)
		}
		if !c.want.IsRNR() || c.before == nil {
			continue
		}
		e.b.PostReceive(Receive{ID: 1}) // the same packet is accepted when it is repeated
		if e.b.Data(&c.p, &ans); ans.Verdict != Accepted {
			t.Errorf("%s: after a receive is posted: %+v", name, ans)
		}
	}
}

// Lengths (IBTA 9.7.4.1): FIRST and MIDDLE are full, LAST is not empty, and no
// message is longer than 2^31 bytes.
func TestLengths(t *testing.T) {
	for name, c := range map[string]struct {
		packets []Packet
		refused bool
	}{
		"SEND LAST without payload": {[]Packet{
			{Opcode: roce.SendFirst, Payload: 1024}, {Opcode: roce.SendLast},
		}, true},
		"SEND FIRST that is short":  {[]Packet{{Opcode: roce.SendFirst, Payload: 1000}}, true},
		"SEND ONLY without payload": {[]Packet{{Opcode: roce.SendOnly}}, false},
		"WRITE FIRST that is all of it, as if an empty LAST came": {
			[]Packet{{Opcode: roce.WriteFirst, Payload: 1024, Len: 1024}, {Opcode: roce.WriteLast}}, true},
		"WRITE LAST without payload": {[]Packet{
			{Opcode: roce.WriteFirst, Payload: 1024, Len: 1025}, {Opcode: roce.WriteLast},
		}, true},
		"WRITE of 2^31 bytes": {[]Packet{{Opcode: roce.WriteFirst, Payload: 1024, Len: 1 << 31}},
			false},
		"WRITE of 2^31 + 1": {[]Packet{{Opcode: roce.WriteFirst, Payload: 1024, Len: 1<<31 + 1}},
			true},
		"READ of 2^31 + 1":           {[]Packet{{Opcode: roce.ReadRequest, Len: 1<<31 + 1}}, true},
		"WRITE ONLY without payload": {[]Packet{{Opcode: roce.WriteOnly}}, false},
		"WRITE ONLY with less":       {[]Packet{{Opcode: roce.WriteOnly, Len: 10, Payload: 9}}, true},
		"WRITE ONLY with more":       {[]Packet{{Opcode: roce.WriteOnly, Len: 9, Payload: 10}}, true},
		"WRITE MIDDLE that is short": {[]Packet{
			{Opcode: roce.WriteFirst, Payload: 1024, Len: 3000}, {Opcode: roce.WriteMiddle, Payload: 900},
		}, true},
		"WRITE MIDDLE where LAST was": {[]Packet{
			{Opcode: roce.WriteFirst, Payload: 1024, Len: 2048}, {Opcode: roce.WriteMiddle, Payload: 1024},
		}, true},
	} {
		e := connected(t, nil)
		e.b.PostReceive(Receive{ID: 1, Data: [][]byte{make([]byte, 5000)}})
		key := e.mem.Register(0, 1<<33, LocalWrite|RemoteWrite|RemoteRead)
		var ans Answer
		for i, p := range c.packets {
			p.PSN, p.RKey, p.AckReq = (0xfffffe+uint32(i))&roce.PSNMask, key, true
			e.b.Data(&p, &ans)
		}
		if got := ans.Verdict == Refused; got != c.refused || got &&
			(ans.Packet.Syndrome != roce.NakInvalid || e.b.State() != Error) {
			t.Errorf("%s: %v %v", name, ans.Verdict, ans.Packet.Syndrome)
		}
	}
}
