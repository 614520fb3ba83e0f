package verbs

import (
	"testing"

	"railyard/rcudp"
)

// Credit over real sockets, with both recoveries: every byte arrives, and only on grants.
func TestRealCreditOverSockets(t *testing.T) {
	const part = 1 << 15
	for _, selective := range []bool{false, true} {
		for _, choice := range []string{"eqds", "rccc", "uec", "eqds,unasked=1"} {
			set := func(d *DeviceConfig) { d.Selective, d.CC = selective, choice }
			a, b := newNode(t, set), newNode(t, set)
			pairUp(t, a, b, patient())
			for i := range 4 * part {
				a.buf[i] = byte(i * 11)
			}
			for i := range 4 {
				a.post(t, SendWR{WRID: uint64(i), Opcode: Write, SGList: []SGE{a.mr.SGE(i*part, part)},
					RemoteAddr: b.mr.Addr + uint64(i*part), RKey: b.mr.RKey})
			}
			for _, w := range a.wait(t, 4) {
				if w.Status != StatusSuccess {
					t.Fatalf("%s: %v", choice, w.Status)
				}
			}
			b.qp.do(func(*rcudp.Endpoint) {
				if string(a.buf) != string(b.buf) {
					t.Errorf("%s: the bytes differ", choice)
				}
			})
			a.qp.do(func(*rcudp.Endpoint) {
				grants, _ := a.qp.conn.Controller().Counter("grants")
				if grants == 0 && choice != "eqds,unasked=1" {
					t.Errorf("%s, selective %v: no grant came", choice, selective)
				}
			})
		}
	}
}
