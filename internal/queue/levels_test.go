package queue

import (
	"testing"

	"pgregory.net/rapid"
)

// For any queues: a class's row begins with itself and rises, and no queue is in two rows. All queues in a lossless
// one's row are lossless, no DSCP maps to the further ones, and the sum of weights is unchanged.
func TestRise(t *testing.T) {
	refused := 0
	rapid.Check(t, func(rt *rapid.T) {
		s := Default()
		for d := range s.DSCP {
			s.DSCP[d] = rapid.SampledFrom([]uint8{0, 0, 1, 3, 3, 7}).Draw(rt, "queue")
		}
		for q := range s.Queues {
			k := &s.Queues[q]
			*k = Class{Alpha: 1, Lossless: rapid.Bool().Draw(rt, "lossless"),
				Strict: rapid.IntRange(0, 5).Draw(rt, "strict") == 0}
			if !k.Strict {
				k.Weight = rapid.SampledFrom([]int{0, 0, 0, 11, 12}).Draw(rt, "weight")
			}
		}
		if s.Validate() != nil {
			rt.Skip()
		}
		before, weights := s, 0
		for _, k := range s.Queues {
			weights += k.Weight
		}
		levels := rapid.IntRange(1, 3).Draw(rt, "levels")
		r, err := s.Rise(levels)
		if err != nil {
			refused++
			return
		}
		if err := s.Validate(); err != nil {
			rt.Fatal(err)
		}
		named, seen := map[uint8]bool{}, map[uint8]bool{}
		for _, q := range s.DSCP {
			named[q] = true
		}
		for c, row := range r {
			if row[0] != uint8(c) {
				rt.Fatalf("class %d begins as %d", c, row[0])
			}
			if want := s.Queues[c].Lossless; levels > 1 && named[uint8(c)] && want != (len(row) == levels) {
				rt.Fatalf("class %d rises over %v, lossless %v", c, row, s.Queues[c].Lossless)
			}
			for i, q := range row[1:] {
				if named[q] || seen[q] || q <= row[i] || !s.Queues[q].Lossless {
					rt.Fatalf("class %d rises over %v; DSCPs lead to %v, others to %v", c, row, named, seen)
				}
				if b := before.Queues[q]; b.Lossless && s.Queues[q] != b {
					rt.Fatalf("queue %d was lossless already and is %+v, was %+v", q, s.Queues[q], b)
				}
				seen[q] = true
			}
		}
		for _, k := range s.Queues {
			weights -= k.Weight
		}
		if weights != 0 {
			rt.Fatalf("weights are off by %d", weights)
		}
	})
	if refused == 0 {
		t.Error("nothing was refused: the queues are too tame")
	}
}

// The source's DCQCN configuration: queue 3 goes on in 4 and 5.
func TestRiseOfTheDefault(t *testing.T) {
	s := Default()
	weight := s.Queues[3].Weight
	r, err := s.Rise(3)
	if err != nil || string(r[3]) != "\x03\x04\x05" || len(r[0]) != 1 || len(r[7]) != 1 {
		t.Fatalf("%v, %v", r, err)
	}
	a, b, c := s.Queues[3], s.Queues[4], s.Queues[5]
	if a.Weight+b.Weight+c.Weight != weight || b.XOff != a.XOff || c.WRED != a.WRED || !c.Lossless {
		t.Errorf("%+v\n%+v\n%+v", a, b, c)
	}
	s = Default()
	for d := range 8 {
		s.DSCP[d] = uint8(d)
	}
	if _, err := s.Rise(3); err == nil {
		t.Error("every queue is taken, and two more were found")
	}
}
