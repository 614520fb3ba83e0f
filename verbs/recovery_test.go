package verbs

import (
	"testing"

	"railyard/rc"
	"railyard/rcudp"
)

// Two ends keep what comes out of order only if both do: else what one says is not
// what the other understands. Connect agrees on it, and on the smaller window.
func TestRecoveryIsAgreedOn(t *testing.T) {
	for _, c := range []struct {
		a, b bool
		want rc.Recovery
	}{{false, false, rc.GoBackN}, {true, false, rc.GoBackN}, {false, true, rc.GoBackN}, {true, true, rc.Selective}} {
		a := newNode(t, func(d *DeviceConfig) { d.Selective = c.a })
		b := newNode(t, func(d *DeviceConfig) { d.Selective = c.b })
		o := DefaultConnect()
		o.Entropy = 8
		pairUp(t, a, b, o)
		for i := range 20 {
			a.post(t, SendWR{WRID: uint64(i), Opcode: Write, SGList: []SGE{a.mr.SGE(0, 1<<20)}, RemoteAddr: b.mr.Addr, RKey: b.mr.RKey})
		}
		for _, w := range a.wait(t, 20) {
			if w.Status != StatusSuccess {
				t.Fatalf("%v and %v: %v", c.a, c.b, w.Status)
			}
		}
		for _, n := range []*node{a, b} {
			n.qp.do(func(*rcudp.Endpoint) {
				if n.qp.cfg.Recovery != c.want {
					t.Errorf("selective %v and %v: an end has recovery %v, want %v", c.a, c.b, n.qp.cfg.Recovery, c.want)
				}
			})
		}
	}
}
