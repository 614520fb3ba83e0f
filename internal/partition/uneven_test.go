package partition

import (
	"testing"
)

// TestUneven checks that layers which do not divide are all there, one more or less in each part, fewer in the first.
func TestUneven(t *testing.T) {
	m := builtin(t, "deepseek-v3") // 61 layers
	for _, c := range []struct{ pp, vpp int }{{2, 1}, {4, 1}, {8, 1}, {16, 1}, {4, 4}, {8, 2}, {61, 1}} {
		l := layout(1, c.pp, 1)
		if l.VPP = c.vpp; c.vpp > 1 {
			l.Schedule, l.Microbatches = Interleaved, c.pp
		}
		if l.Uneven = true; l.Check(m) != nil {
			t.Errorf("PP%d VPP%d: %v", c.pp, c.vpp, l.Check(m))
		}
		sum, least, most := int64(0), m.Layers, int64(0)
		for chunk := range l.Chunks() {
			n := l.Layers(m, chunk)
			sum, least, most = sum+n, min(least, n), max(most, n)
		}
		if sum != m.Layers || most-least > 1 || l.Layers(m, 0) != least {
			t.Errorf("PP%d VPP%d: %d layers of %d, %d to %d a part, %d in the first", c.pp, c.vpp, sum, m.Layers,
				least, most, l.Layers(m, 0))
		}
	}
	l := layout(1, 62, 1)
	if l.Uneven = true; l.Check(m) == nil {
		t.Error("62 parts of 61 layers")
	}
}
