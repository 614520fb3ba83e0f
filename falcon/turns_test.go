package falcon

import (
	"testing"

	"railyard/param"
	"railyard/transport"
	"railyard/unit"
)

// TestSilentPathHoldsNothingBack: one path returns no acknowledgements. Its own window stays in flight, and the
// other three paths go on. A window shared by all would fill with packets of the silent path.
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

// TestPathIsSilentAgain: a path that is silent while others are not is avoided until it is acknowledged, also the
// fifth time. If all four paths are silent none is avoided.
func TestPathIsSilentAgain(t *testing.T) {
	s := fresh(t, 1, nil, 400)
	one, other := &s.flows[1], &s.flows[2]
	now := us
	for round := range 5 {
		s.answered(now+us, other)
		if s.suspect(one, now); !s.avoids(one) {
			t.Errorf("round %d: a silent path is used while others answer", round)
		}
		if s.answered(now+2*us, one); s.avoids(one) {
			t.Errorf("round %d: a path that answered is avoided", round)
		}
		now += 4 * us
	}
	for i := range s.flows {
		s.suspect(&s.flows[i], now) // nobody has answered since
		if s.avoids(&s.flows[i]) {
			t.Errorf("path %d is avoided though no other is known to work", i)
		}
	}
	s.answered(now+us, other)
	for i := range s.flows {
		s.suspect(&s.flows[i], now)
	}
	if s.pick(now+2*us, 0) != 2 || !s.avoids(&s.flows[0]) || s.avoids(other) {
		t.Errorf("of four paths, three of them silent, path %d sends", s.pick(now+2*us, 0))
	}
	other.heardAt, one.heardAt = now, now+2*us
	if s.suspect(other, now+us); s.avoids(other) || s.avoids(&s.flows[0]) {
		t.Error("all paths are silent, and one is avoided")
	}
}

// TestWindowsTogether: with weighted turns the sum of the windows of a plane's paths limits the data in flight. One
// path may exceed its window while others are below theirs. No path sends once the sum is reached, or before its
// pacing interval ends.
func TestWindowsTogether(t *testing.T) {
	s := fresh(t, 1, param.Values{"weighted": true, "paths": 2}, 400)
	s.flows[0].window, s.flows[1].window = 3000, 2000
	s.flows[1].flying = 4000
	if id := s.pick(0, 0); id == noFlow {
		t.Fatal("4,000 of 5,000 bytes are under way, and no path sends")
	}
	s.charge(0, 0, 1000)
	if id := s.pick(0, 0); id != noFlow {
		t.Errorf("path %d sends though 5,000 of 5,000 bytes are under way", id)
	}
	s.flows[1].flying = 0
	s.flows[1].next = us
	for range 3 {
		if id := s.pick(us-1, 0); id != 0 {
			t.Errorf("before its pace is over path %d sends, want 0", id)
		}
		s.charge(us-1, 0, 1000)
	}
	if id := s.pick(us, 0); id != 1 {
		t.Errorf("path %d sends, want 1: its turn is overdue", id)
	}
	s.flows[0].next = 2 * us
	s.flows[1].next = 2 * us
	if id := s.pick(us, 0); id != noFlow {
		t.Errorf("path %d sends before its pace is over", id)
	}
}

// TestEqualPathsTakeTurns: paths with equal free windows take turns, even if each packet is acknowledged before the
// next one is posted. Small messages thus use all labels.
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
