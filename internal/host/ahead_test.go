package host

import (
	"testing"

	"railyard/internal/engine"
)

// Touch handles any future packet, including packets without a connection or with one that has been closed.
func TestTouch(t *testing.T) {
	l := newLab(t, nil, 1, 1)
	for _, qp := range []int32{-1, -2, 0, 1 << 30} {
		pi := l.Net.Alloc()
		l.Net.Packets[pi].QP = qp
		l.Net.Q.PushAfter(engine.Node(0), 10, KindRx, 0, pi)
		e := l.Net.Q.Next()
		for range 2 * len(l.arriving.ring) {
			l.Touch(e)
			l.TouchNear(e)
		}
		if l.arriving.ring[0] != pi || l.Net.Packets[pi].QP != qp {
			t.Errorf("packet %d for %d: arriving %v", pi, qp, l.arriving.ring)
		}
	}
}
