package rcudp

import (
	"testing"

	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// Two connections of one endpoint follow their services. Data and acknowledgements have their own DSCP; marks of
// one are answered with its CNPs, and marks of the other are not.
func TestServicesOfAnEndpoint(t *testing.T) {
	w := notifyWorld(t)
	w.now = unit.Second
	quiet := &Service{DSCP: 10, CNPDSCP: 46, CNPGap: unit.Never}
	var second [2]*Conn
	for i, e := range w.ends {
		c := NewConn(w.conns[i].cfg, regions(t), nil, 100*unit.Gbps, 1<<20)
		c.QPN, c.DestQPN, c.Peer, c.Service = uint32(30+i), uint32(31-i), w.addrs[1-i].Addr(), quiet
		c.Ports = []uint16{w.addrs[i].Port()}
		if err := e.Add(c); err != nil {
			t.Fatal(err)
		}
		for _, s := range []rc.State{rc.Init, rc.ReadyToReceive, rc.ReadyToSend} {
			if err := c.Modify(s, 5); err != nil {
				t.Fatal(err)
			}
		}
		second[i] = c
	}
	seen := map[uint8]map[roce.Opcode]int{}
	w.spy = func(_ int, d *Datagram) bool {
		if seen[d.TOS>>2] == nil {
			seen[d.TOS>>2] = map[roce.Opcode]int{}
		}
		op := roce.Opcode(d.Head[0])
		seen[d.TOS>>2][op]++
		if op == roce.WriteOnly {
			d.TOS |= ce
		}
		return false
	}
	for _, c := range []*Conn{w.conns[0], second[0]} {
		write := rc.Request{VA: base, RKey: key, Len: 100, Data: make([]byte, 100)}
		if err := c.Post(&write); err != nil {
			t.Fatal(err)
		}
	}
	for w.step() {
	}
	for _, want := range []struct {
		dscp uint8
		op   roce.Opcode
		n    int
	}{
		{24, roce.WriteOnly, 1}, {24, roce.Acknowledge, 1}, {48, roce.CNP, 1},
		{10, roce.WriteOnly, 1}, {10, roce.Acknowledge, 1}, {46, roce.CNP, 0},
	} {
		if got := seen[want.dscp][want.op]; got != want.n {
			t.Errorf("%d of %v with DSCP %d, want %d", got, want.op, want.dscp, want.n)
		}
	}
	if w.conns[0].CNPs != 1 || second[0].CNPs != 0 || second[1].CE != 1 || len(seen) != 3 {
		t.Errorf("%d and %d CNPs, %d marks, %v", w.conns[0].CNPs, second[0].CNPs, second[1].CE, seen)
	}
}

// regions are 16 KiB that the peer may reach under key.
func regions(t *testing.T) *rc.Memory {
	m := rc.NewMemory(1)
	buf := make([]byte, regionSize)
	if err := m.RegisterBuffer(key, base, buf, rc.LocalWrite|rc.RemoteWrite|rc.RemoteRead); err != nil {
		t.Fatal(err)
	}
	return m
}
