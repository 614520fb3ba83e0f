package falcon

import (
	"testing"

	"railyard/transport"
	"railyard/unit"
)

// TestSilentPathHoldsNothingBack: acknowledgements of one path stay away. It has its own window under way and no
// more, and the other three go on: a window shared by all would fill with packets of the path that stands still.
func TestSilentPathHoldsNothingBack(t *testing.T) {
	s := fresh(t, 1, nil, 400)
	window := s.flows[0].window
	var p transport.Packet
	for round := range 8 {
		now := unit.Time(round+1) * us
		for s.Next(now, 0, &p) {
		}
		una, next := s.out.Range()
		for psn := una; psn < next; psn++ {
			if slot := s.out.At(psn); slot.Path != 0 {
				s.came(now, psn)
			}
		}
	}
	_, next := s.out.Range()
	if s.flows[0].flying != window {
		t.Errorf("%v under way on the path that stands still, want its window of %v", s.flows[0].flying, window)
	}
	if next != 400 {
		t.Errorf("%d packets of 400 left", next)
	}
}

// TestEqualPathsTakeTurns: of paths with equal room the next in turn sends, also where each packet is acknowledged
// before the next one is posted: small messages use all labels.
func TestEqualPathsTakeTurns(t *testing.T) {
	s := fresh(t, 1, nil, 1)
	var used [4]int
	for i := range 40 {
		var p transport.Packet
		if !s.Next(unit.Time(i)*us, 0, &p) {
			t.Fatalf("packet %d does not go", i)
		}
		used[p.EV&3]++
		s.came(unit.Time(i)*us, uint64(i))
		s.out.Advance()
		if err := s.Post(unit.Time(i)*us, transport.Request{Bytes: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	if used != [4]int{10, 10, 10, 10} {
		t.Errorf("packets by path: %v, want ten each", used)
	}
}
