package mrc

import (
	"reflect"
	"testing"

	"railyard/rc"
	"railyard/transport"
	"railyard/unit"

	"pgregory.net/rapid"
)

// TestTouch: prefetching changes nothing, whatever the packet contains. Its slot may still hold another packet when
// the prefetched event is read.
func TestTouch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		planes := rapid.IntRange(1, 4).Draw(t, "planes")
		m := newMaker(Protocol.Defaults, transport.Common{MTU: 4096, Planes: planes})
		p := newPeer(m, testPath, 1)
		s, r := newSender(p, 1), newReceiver(m, testPath, 1)
		_ = s.Post(0, transport.Request{ID: 1, Bytes: 1 << 20})
		var x transport.Packet
		for i := range rapid.IntRange(0, 200).Draw(t, "sent") {
			if x = (transport.Packet{}); s.Next(0, i%m.common.Planes, &x) {
				r.Take(unit.Microsecond, &x)
			}
		}
		if rapid.Bool().Draw(t, "dead") {
			s.die(0, rc.Flushed)
		}
		sender, receiver, peer := *s, *r, *p
		for range 20 {
			x.PSN, x.Plane = rapid.Uint32().Draw(t, "PSN"), rapid.Uint8().Draw(t, "plane")
			for _, soon := range []bool{false, true} {
				s.Touch(nil, soon)
				s.Touch(&x, soon)
				r.Touch(&x, soon)
			}
		}
		same := reflect.DeepEqual(sender, *s) && reflect.DeepEqual(receiver, *r)
		if !same || !reflect.DeepEqual(peer, *p) {
			t.Fatal("an end has changed")
		}
	})
}
