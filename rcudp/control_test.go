package rcudp

import (
	"testing"

	"railyard/rc"
	"railyard/roce"
	"railyard/unit"
)

// A new kind of control packet (here in the form of a UC SEND with immediate) needs a row in kinds and a push. It
// is sent before queued data, does not use its connection's pace, and arrives with its fields. Its mark is counted
// and not answered.
func TestAnotherKindOfControl(t *testing.T) {
	const grant = roce.Opcode(0x25)
	w := notifyWorld(t)
	w.now = unit.Second
	var got []rc.Packet
	for _, e := range w.ends {
		e.kinds[grant] = kind{zeros: 20, take: func(_ *Endpoint, _ unit.Time, c *Conn, p *rc.Packet) {
			if c != w.conns[1] {
				t.Error("the grant reached another connection")
			}
			got = append(got, *p)
		}}
	}
	write := rc.Request{VA: base, RKey: key, Len: 100, Data: make([]byte, 100)}
	if err := w.conns[0].Post(&write); err != nil {
		t.Fatal(err)
	}
	w.ends[0].push(control{w.conns[0], rc.Packet{Opcode: grant, PSN: 7, Imm: 1 << 20}, 46<<2 | ce})
	var order []roce.Opcode
	w.spy = func(from int, d *Datagram) bool {
		if op := roce.Opcode(d.Head[0]); from == 0 {
			if order = append(order, op); op == grant && w.conns[0].pace.NextAt > w.now {
				t.Error("the grant is charged to the pace of data")
			}
		}
		return false
	}
	for w.step() {
	}
	to := w.ends[1].Count
	if len(order) != 2 || order[0] != grant || len(got) != 1 {
		t.Fatalf("%v were sent; taken %+v", order, got)
	}
	if p := &got[0]; p.PSN != 7 || p.Imm != 1<<20 || p.Payload != 20 {
		t.Errorf("%v were sent; taken %+v", order, got)
	}
	if to.CE != 1 || to.CNPsSent != 0 || to.Malformed != 0 || to.BadICRC != 0 {
		t.Errorf("at the receiver %+v", to)
	}
	// Without a row the packet is unknown.
	w.ends[1].kinds[grant] = kind{}
	w.ends[0].push(control{w.conns[0], rc.Packet{Opcode: grant}, 0})
	for w.step() {
	}
	if len(got) != 1 || w.ends[1].Count.Malformed != 1 {
		t.Errorf("%d taken, %d malformed", len(got), w.ends[1].Count.Malformed)
	}
}
