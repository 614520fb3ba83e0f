package mrc

import (
	"testing"

	"pgregory.net/rapid"
)

// For random outcomes of packets, the bits of packets not known to have arrived agree with the lists, even after
// the ring has grown or wrapped.
func TestOpens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var room [4]uint64
		s := slots{open: room[:0]}
		una := uint32(rapid.IntRange(0, 300).Draw(rt, "first"))
		next := una
		for range rapid.IntRange(1, 400).Draw(rt, "steps") {
			psn := una + uint32(rapid.IntRange(0, 200).Draw(rt, "packet"))
			switch {
			case psn-una >= next-una: // a new packet
				s.hold(una, int(next-una)+1)
				*s.at(next) = slot{in: noList}
				s.push(uint8(rapid.IntRange(0, waits-1).Draw(rt, "tries")), next)
				next++
			case s.at(psn).in == noList:
			default:
				if s.take(psn); psn%3 == 0 {
					s.push(lost, psn)
				}
			}
			for una != next && s.at(una).in == noList {
				una++
			}
			checkOpens(rt, &s, una, next)
		}
	})
}

func checkOpens(rt *rapid.T, s *slots, una, next uint32) {
	counted := 0
	for psn := una; psn != next; psn += min(64, next-psn) {
		word := s.opens(psn)
		for i := range min(64, next-psn) {
			if open := s.at(psn+i).in != noList; open != (word>>i&1 != 0) {
				rt.Fatalf("packet %d of %d to %d in list %d has bit %v", psn+i, una, next,
					s.at(psn+i).in, !open)
			} else if open {
				counted++
			}
		}
	}
	listed := 0
	for i := range s.list {
		if s.nonEmpty>>i&1 == 0 {
			continue
		}
		for psn := s.list[i].head; ; psn = s.at(psn).next {
			if listed++; listed > counted || int(s.at(psn).in) != i {
				rt.Fatalf("list %d has packet %d, which is in list %d", i, psn, s.at(psn).in)
			}
			if psn == s.list[i].tail {
				break
			}
		}
	}
	if listed != counted {
		rt.Fatalf("%d packets are in lists, %d bits are set", listed, counted)
	}
}
