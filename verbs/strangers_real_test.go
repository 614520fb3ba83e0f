package verbs

import (
	"bytes"
	"net"
	"net/netip"
	"testing"

	"railyard/roce"
)

// Unexpected packets of others are counted and dropped. Nothing panics, nothing is written, and the connection goes
// on.
func TestRealFlood(t *testing.T) {
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	stranger, err := net.DialUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 99)},
		net.UDPAddrFromAddrPort(netip.AddrPortFrom(b.dev.Addr(), roce.Port)))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	h := roce.Header{Opcode: roce.WriteOnly, PKey: 0xffff, DestQP: b.qp.QPN, PSN: a.qp.psn, VA: b.mr.Addr,
		RKey: b.mr.RKey, Len: 4}
	valid := append(h.Append(nil), 1, 2, 3, 4, 0, 0, 0, 0)
	version, op, qp := bytes.Clone(valid), bytes.Clone(valid), bytes.Clone(valid)
	version[1], op[0], qp[7] = 3, 0xff, qp[7]^1
	read := func() int64 {
		c, _, _, _ := b.dev.Counters()
		return c.Received
	}
	for i := range 2000 {
		for _, p := range [][]byte{valid, version, op, qp, valid[:10], {}, make([]byte, 60000)} {
			stranger.Write(p)
		}
		if i%100 == 0 { // let the device read, or the kernel drops most of it
			before := read()
			eventually(t, "the flood is read", func() bool {
				stranger.Write(valid)
				return read() > before
			})
		}
	}
	a.post(t, SendWR{Opcode: Write, SGList: []SGE{a.mr.SGE(0, 4096)}, RemoteAddr: b.mr.Addr + 8192,
		RKey: b.mr.RKey})
	if w := a.wait(t, 1); w[0].Status != StatusSuccess {
		t.Fatal(w[0].Status)
	}
	c, _, _, _ := b.dev.Counters() // locks the device, so b.buf may be read
	if c.WrongPeer == 0 || c.Malformed == 0 || c.UnknownQP == 0 || c.Truncated == 0 || c.Refused != 0 {
		t.Errorf("counters %+v", c)
	}
	if !bytes.Equal(b.buf[:8192], make([]byte, 8192)) {
		t.Error("a stranger wrote")
	}
}

// IPv6, and a device connected to itself, because ::1 is the only IPv6 loopback address.
func TestRealIPv6(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("no IPv6 on this machine: ", err)
	} else {
		l.Close()
	}
	a := newNode(t, func(c *DeviceConfig) { c.Addr = netip.IPv6Loopback() })
	b := &node{dev: a.dev, pd: a.dev.AllocPD(), buf: make([]byte, 1<<20)}
	var err error
	if b.mr, err = b.pd.RegMR(b.buf, LocalWrite|RemoteWrite); err != nil {
		t.Fatal(err)
	}
	if b.cq, err = b.dev.CreateCQ(16, nil); err != nil {
		t.Fatal(err)
	}
	if b.qp, err = b.pd.CreateQP(QPInitAttr{SendCQ: b.cq, RecvCQ: b.cq}); err != nil {
		t.Fatal(err)
	}
	pairUp(t, a, b, patient())
	copy(a.buf, "over six")
	a.post(t, SendWR{Opcode: Write, SGList: a.mr.All(), RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
	if w := a.wait(t, 1); w[0].Status != StatusSuccess || !bytes.Equal(a.buf, b.buf) {
		t.Fatal(w[0].Status)
	}
	if c, _, _, _ := a.dev.Counters(); c.BadICRC != 0 {
		t.Errorf("%d bad ICRCs", c.BadICRC)
	}
}

// IBTA 10.7.2.2: a request with an invalid local key or range fails in its turn. Earlier requests complete, and
// later ones are flushed.
func TestRealLocalProtection(t *testing.T) {
	for what, bad := range map[string]func(m *MR) SGE{
		"wrong lkey": func(m *MR) SGE { return SGE{m.Addr, 1, m.LKey + 1} },
		"outside":    func(m *MR) SGE { return SGE{m.Addr + 1, uint32(m.Length), m.LKey} },
		"before":     func(m *MR) SGE { return SGE{m.Addr - 1, 1, m.LKey} },
	} {
		for _, op := range []Opcode{Write, Send, Read, FetchAdd} {
			a, b := newNode(t, nil), newNode(t, nil)
			pairUp(t, a, b, patient())
			w := SendWR{WRID: 1, Opcode: Write, SGList: []SGE{a.mr.SGE(0, 100_000)}, RemoteAddr: b.mr.Addr,
				RKey: b.mr.RKey}
			a.post(t, w)
			w.WRID, w.Opcode, w.SGList = 2, op, []SGE{a.mr.SGE(0, 4), bad(a.mr)}
			a.post(t, w)
			w.WRID, w.Opcode, w.SGList = 3, Write, []SGE{a.mr.SGE(0, 4)}
			a.post(t, w)
			got := a.wait(t, 3)
			if got[0].Status != StatusSuccess || got[1].Status != StatusLocProtErr || got[1].WRID != 2 ||
				got[2].Status != StatusWRFlushErr || a.qp.State() != Err {
				t.Errorf("%s, %v: %v %v %v", what, op, got[0].Status, got[1].Status, got[2].Status)
			}
		}
	}
	a, b := newNode(t, nil), newNode(t, nil)
	pairUp(t, a, b, patient())
	if err := b.qp.PostRecv(&RecvWR{WRID: 7, SGList: []SGE{{b.mr.Addr, 100, b.mr.LKey + 1}}}); err != nil {
		t.Fatal(err)
	}
	a.post(t, SendWR{Opcode: Send, SGList: []SGE{a.mr.SGE(0, 50)}})
	if s, r := a.wait(t, 1)[0], b.wait(t, 1)[0]; s.Status != StatusRemOpErr || r.Status != StatusLocProtErr ||
		r.WRID != 7 {
		t.Errorf("a receive without a buffer: sender %v, receiver %v", s.Status, r.Status)
	}
}
