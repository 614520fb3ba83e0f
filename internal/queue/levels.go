package queue

import "fmt"

// Rising lists, for each class, the classes through which its packets rise, itself first.
type Rising [Classes][]uint8

// Rise finds n consecutive classes for every lossless class in use, against deadlock in fabrics with rings: the
// class rises along the path. The further ones are queues that no DSCP leads to. A lossless class in the row is
// used as configured. An unused one (no strict priority, no weight) becomes a copy, and the copies share the
// class's weight with it.
func (s *Spec) Rise(levels int) (r Rising, err error) {
	var named, taken [Classes]bool
	for _, q := range s.DSCP {
		named[q] = true
	}
	for c := range s.Queues {
		r[c] = []uint8{uint8(c)}
		if !s.Queues[c].Lossless || !named[c] {
			continue
		}
		var copies []int
		for q := c + 1; q < Classes && len(r[c]) < levels; q++ {
			k := &s.Queues[q]
			idle := !k.Lossless && !k.Strict && k.Weight == 0
			if named[q] || taken[q] || !k.Lossless && !idle {
				continue
			}
			taken[q] = true
			r[c] = append(r[c], uint8(q))
			if idle {
				copies = append(copies, q)
			}
		}
		if len(r[c]) < levels {
			return r, fmt.Errorf("lossless queue %d needs %d more above it that no DSCP leads to, lossless or without weight and strict priority; there are %d", c, levels-1, len(r[c])-1)
		}
		share(&s.Queues, c, copies)
	}
	return r, nil
}

// Protected adds the priorities through which packets of the given ones rise.
func (r *Rising) Protected(priorities uint8) uint8 {
	for c, row := range r {
		for _, q := range row {
			priorities |= priorities >> c & 1 << q
		}
	}
	return priorities
}

// share makes queues like c, each with a part of its weight.
func share(queues *[Classes]Class, c int, copies []int) {
	whole, n := queues[c].Weight, len(copies)+1
	for i, q := range copies {
		queues[q] = queues[c]
		queues[q].Weight = (whole + i) / n
		queues[c].Weight -= queues[q].Weight
	}
}
