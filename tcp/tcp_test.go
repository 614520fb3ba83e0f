package tcp

import (
	"maps"
	"testing"

	"railyard/transport/transporttest"
	"railyard/unit"
)

func TestConformance(t *testing.T) {
	values := maps.Clone(Protocol.Defaults)
	values["rto_min"] = 5 * unit.Millisecond // the suite has a second after its last fault
	values["copy"], values["receive_packet"] = 800*unit.Gbps, unit.Time(0)
	values["stage"], values["send_packet"] = 800*unit.Gbps, unit.Time(0)
	transporttest.Run(t, transporttest.Suite{Protocol: &Protocol, Values: values, Planes: []int{1}}) // one path
}

// TestOneCutForEachWindow: DCTCP reduces once for each window of data. The window begins with the reduction (RFC 8257,
// 3.3; RFC 3168, 6.1.2), so that marks on both sides of the end of a window of observation reduce once.
func TestOneCutForEachWindow(t *testing.T) {
	w := NewWindow(true, 1000)
	w.Size, w.slowTo, w.left = 100, 100, 3
	for range 100 {
		w.Acked(0, unit.Microsecond, 1, true)
	}
	if w.Cuts != 1 {
		t.Errorf("%d reductions in a window of 100 segments", w.Cuts)
	}
	if w.Acked(0, unit.Microsecond, 1, true); w.Cuts != 2 {
		t.Errorf("%d reductions by a mark of the next window", w.Cuts)
	}
}
