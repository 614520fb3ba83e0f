package verbs

import (
	"testing"

	"railyard/rcudp"
)

// Swift over real sockets, with both recoveries, above and below one packet. Every byte arrives, round trips are
// measured, and a target below any loopback delay makes it react.
func TestRealSwiftOverSockets(t *testing.T) {
	const impossible = "swift,base_target=2us,min_window=0.5"
	const part = 1 << 15
	for _, selective := range []bool{false, true} {
		for _, choice := range []string{"swift", impossible, "swift:path"} {
			set := func(d *DeviceConfig) { d.Selective, d.CC = selective, choice }
			a, b := newNode(t, set), newNode(t, set)
			pairUp(t, a, b, patient())
			for i := range 4 * part {
				a.buf[i] = byte(i * 7)
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
			b.qp.do(func(*rcudp.Endpoint) { // a WRITE completes nothing here; its lock shows that it is done
				if string(a.buf) != string(b.buf) {
					t.Errorf("%s: the bytes differ", choice)
				}
			})
			a.qp.do(func(*rcudp.Endpoint) {
				ctl := a.qp.conn.Controller()
				rtt, ok := ctl.Signal(0, "delay")
				target, _ := ctl.Signal(0, "target_delay")
				far, _ := ctl.Signal(0, "far_delay")
				cuts, _ := ctl.Counter("cuts")
				t.Logf("%s, selective %v: round trip %.1f us, %.1f us at the far end, target %.1f us, "+
					"%d cuts, %+v", choice, selective, rtt*1e6, far*1e6, target*1e6, cuts, ctl.Decision())
				if far <= 0 || far > 60 {
					t.Errorf("%s: the far end takes %v s", choice, far)
				}
				if !ok || rtt <= 0 || rtt > 60 || choice == impossible && cuts == 0 {
					t.Errorf("%s: round trip %g s, %d cuts", choice, rtt, cuts)
				}
			})
		}
	}
}
