package fabric

import (
	"testing"

	"railyard/unit"
)

// TestWaitsAreSummed sums waits by flow and port, of more pairs than the index has room for at first.
func TestWaitsAreSummed(t *testing.T) {
	const flows, ports = 100, 60 // 6,000 rows; the index begins with 4,096 slots
	w := NewWaitTable()
	for round := range int64(3) {
		for qp := range int32(flows) {
			for port := range int32(ports) {
				w.add(qp, port, unit.Time(int64(qp)*1000+int64(port)+round), port*10-int32(round))
			}
		}
	}
	n := int32(0)
	w.Each(func(r Wait) {
		if r.QP != n/ports || r.Port != n%ports {
			t.Fatalf("row %d is of flow %d at port %d", n, r.QP, r.Port)
		}
		if total := unit.Time(3*(int64(r.QP)*1000+int64(r.Port)) + 3); r.Total != total || r.Samples != 3 ||
			r.MaxQueue != r.Port*10 {
			t.Fatalf("%+v, want a total of %d over 3 packets and a queue of %d", r, total, r.Port*10)
		}
		n++
	})
	if n != flows*ports {
		t.Errorf("%d rows, want %d", n, flows*ports)
	}
}

// TestLaps: each lap returns the port at which packets waited longest since the previous lap. Of two equal ones it
// is the lower port.
func TestLaps(t *testing.T) {
	w := NewWaitTable()
	lap := func(port int32, total unit.Time, samples, queue int32) {
		t.Helper()
		got := w.Lap(7)
		if got.Port != port || got.Total != total || got.Samples != samples || got.MaxQueue != queue {
			t.Errorf("%+v, want port %d, %d ps over %d packets, a queue of %d", got, port, total, samples, queue)
		}
	}
	lap(-1, 0, 0, 0)
	w.add(7, 3, 0, 5)
	lap(3, 0, 1, 5)
	lap(-1, 0, 0, 0)
	w.add(7, 4, 10, 1)
	w.add(7, 3, 6, 2)
	w.add(7, 3, 5, 9)
	w.add(8, 5, 1000, 1)
	lap(3, 11, 2, 9)
	w.add(7, 3, 4, 3)
	w.add(7, 4, 4, 3)
	w.add(7, 6, 3, 3)
	lap(3, 4, 1, 9)
	w.add(7, 4, 2, 3)
	w.add(7, 6, 1, 3)
	lap(4, 2, 1, 3)
	lap(-1, 0, 0, 0)
}
