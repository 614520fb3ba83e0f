package rcudp

import (
	"bytes"
	"net/netip"
	"testing"

	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// FuzzInput acts as a peer, or an attacker with its address, that sends random packets with a valid ICRC: any
// opcode, key, range, PSN and length, including replays. Nothing outside the registered region may change, nothing
// may panic, and the endpoint's memory stays bounded.
func FuzzInput(f *testing.F) {
	f.Add([]byte{0x0a, 0, 0, 0, 10, 0, 0x0c, 0, 0, 0, 200, 0})
	f.Add([]byte{0x06, 0, 0, 4, 255, 7, 0x07, 1, 0, 0, 255, 3, 0x08, 2, 0, 0, 30, 3})
	f.Add([]byte{0x00, 0, 0, 0, 255, 7, 0x02, 1, 0, 0, 9, 0, 0x13, 2, 0, 0, 0, 0, 0x14, 3, 1, 0, 0, 0, 0x17,
		4, 1, 0, 3, 0})
	f.Add([]byte{0x11, 0, 0, 0, 0, 0, 0x10, 1, 0, 0, 1, 0, 0x12, 1, 0, 0, 0, 0, 0x81, 0, 0, 0, 0, 0})
	f.Add([]byte{0xc1, 0, 8, 200, 0, 0, 0xc1, 0, 0x48, 0, 0, 0, 0xc1, 0, 12, 255, 9, 0, 0xc0, 0, 0x48, 1, 0,
		0, 0xc0, 0, 8, 3, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, rec := range []rc.Recovery{rc.GoBackN, rc.Selective} {
			play(t, script, rec)
		}
	})
}

func play(t *testing.T, script []byte, rec rc.Recovery) {
	const size, guard = 8192, 4096
	memory := bytes.Repeat([]byte{0xa5}, size+2*guard)
	region := memory[guard : guard+size]
	mem := rc.NewMemory(1)
	if err := mem.RegisterBuffer(7, 0x1000, region,
		rc.LocalWrite|rc.RemoteWrite|rc.RemoteRead|rc.RemoteAtomic); err != nil {
		t.Fatal(err)
	}
	cfg := rc.Config{MTU: 1024, AckEvery: 4, Retries: 1, Timeout: rc.LocalAckTimeout(4), Reads: 4, ReadsIn: 4,
		RNRRetries: 7, RNRTimer: 1, Recovery: rec, Window: 64}
	me, peer := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	e, other := NewEndpoint(Config{Addr: me}), NewEndpoint(Config{Addr: peer})
	c := NewConn(&cfg, mem, nil, 100*unit.Gbps, 1<<20)
	c.QPN, c.DestQPN, c.Peer, c.Ports = 17, 18, peer, []uint16{50000}
	if err := e.Add(c); err != nil {
		t.Fatal(err)
	}
	for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
		if err := c.Modify(s, 100); err != nil {
			t.Fatal(err)
		}
	}
	receive := bytes.Repeat([]byte{0x5a}, 1000+guard)
	for i := range 4 {
		if err := c.QP.PostReceive(rc.Receive{ID: uint64(i),
			Data: [][]byte{receive[:1000:1000]}}); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, 3000)
	if err := c.Post(&rc.Request{Verb: rc.Read, VA: 0x1000, RKey: 7, Len: 3000, Data: got}); err != nil {
		t.Fatal(err)
	}
	attacker := &Conn{DestQPN: 17, Peer: me, Ports: []uint16{50001}}
	now := unit.Time(0)
	buf := make([]byte, 0, 8192)
	var d Datagram
	for sent := 0; len(script) >= 6 && sent < 500; sent++ {
		op, psn, how, vaHigh, n, nHigh := script[0], script[1], script[2], script[3], int(script[4]),
			int(script[5])
		script = script[6:]
		n = (n | nHigh<<8) % 2048
		p := rc.Packet{Opcode: roce.Opcode(op), PSN: (100 + uint32(psn)) & roce.PSNMask, AckReq: how&1 != 0,
			Payload: int32(n), Data: make([]byte, n),
			RKey: 7, VA: 0x1000 + uint64(vaHigh)*64, Len: uint32(n), Syndrome: roce.Syndrome(how),
			Imm: uint32(how) & 7, MSN: uint32(vaHigh)}
		switch how >> 5 {
		case 1:
			p.RKey = 8
		case 2:
			p.VA = ^uint64(0) - uint64(vaHigh)
		case 3:
			p.Len = 1 << 31
		case 4:
			p.Len = uint32(n) * 4
		case 5:
			p.PSN = (100 - uint32(psn)) & roce.PSNMask
		}
		if !p.Opcode.Known() {
			p.Data, p.Payload = nil, 0
		}
		other.encode(buf, attacker, &p, 26<<2|2, 0, &d)
		now += unit.Microsecond
		e.Input(now, netip.AddrPortFrom(peer, 50001), 26<<2|how&3, 0, d.Append(nil))
		if how&4 != 0 {
			e.Input(now, netip.AddrPortFrom(peer, 50001), 26<<2, 0, d.Append(nil)) // a replay
		}
		if how&8 != 0 {
			for e.Next(now, buf, 0, &d) {
			}
			e.Tick(now)
		}
		if len(e.control) > 2000 {
			t.Fatalf("%d control packets wait", len(e.control))
		}
	}
	if !bytes.Equal(memory[:guard], bytes.Repeat([]byte{0xa5}, guard)) || !bytes.Equal(memory[guard+size:],
		bytes.Repeat([]byte{0xa5}, guard)) ||
		!bytes.Equal(receive[1000:], bytes.Repeat([]byte{0x5a}, guard)) {
		t.Fatal("a byte outside the region or receive was written")
	}
}
