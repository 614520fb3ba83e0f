package verbs

import (
	"testing"

	"railyard/rc"
	"railyard/rcudp"
)

// Out-of-order packets are stored only if both ends do so; otherwise one end would misread the other's reports.
// Connect agrees on it, and on the smaller window.
func TestRealRecoveryIsAgreedOn(t *testing.T) {
	for _, c := range []struct {
		a, b bool
		want rc.Recovery
	}{
		{false, false, rc.GoBackN}, {true, false, rc.GoBackN}, {false, true, rc.GoBackN},
		{true, true, rc.Selective},
	} {
		a := newNode(t, func(d *DeviceConfig) { d.Selective = c.a })
		b := newNode(t, func(d *DeviceConfig) { d.Selective = c.b })
		o := patient()
		o.Entropy = 8
		pairUp(t, a, b, o)
		for i := range 20 {
			a.post(t, SendWR{WRID: uint64(i), Opcode: Write, SGList: []SGE{a.mr.SGE(0, 1<<20)},
				RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
		}
		for _, w := range a.wait(t, 20) {
			if w.Status != StatusSuccess {
				t.Fatalf("%v and %v: %v", c.a, c.b, w.Status)
			}
		}
		for _, n := range []*node{a, b} {
			n.qp.do(func(*rcudp.Endpoint) {
				if n.qp.cfg.Recovery != c.want {
					t.Errorf("selective %v and %v: an end has recovery %v, want %v", c.a, c.b,
						n.qp.cfg.Recovery, c.want)
				}
			})
		}
	}
}

// SEND with invalidate ends only a region that was registered for that.
func TestRealInvalidateOverSockets(t *testing.T) {
	for _, c := range []struct {
		access Access
		want   Status
	}{{LocalWrite, StatusRemAccessErr}, {RemoteRead | RemoteInvalidate, StatusSuccess}} {
		a, b := newNode(t, nil), newNode(t, nil)
		pairUp(t, a, b, patient())
		mr, err := b.pd.RegMR(make([]byte, 4096), c.access)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.qp.PostRecv(&RecvWR{WRID: 1, SGList: []SGE{b.mr.SGE(0, 100)}}); err != nil {
			t.Fatal(err)
		}
		a.post(t, SendWR{WRID: 1, Opcode: SendWithInv, ImmData: mr.RKey, SGList: []SGE{a.mr.SGE(0, 4)}})
		if w := a.wait(t, 1); w[0].Status != c.want {
			t.Errorf("invalidating a region with access %#x: %v, want %v", c.access, w[0].Status, c.want)
		}
		if w := b.wait(t, 1); c.want == StatusSuccess && (!w[0].HasInv || w[0].InvRKey != mr.RKey) {
			t.Errorf("the receiver is told %+v", w[0])
		}
	}
}
