package workload

import (
	"cmp"
	"slices"

	"railyard/internal/coll"
	"railyard/unit"
)

// sums adds up what a graph transfers, without its operations: 131,072 GPUs have 10^10 of these in a step, and a
// million pairs that send. Equal collectives of the same ranks are counted, and added up once.
type sums struct {
	index map[pair]int
	ops   []Op // one for each pair and class
	runs  map[run]*repeated
	into  *repeated // of the collective that is built, nil: count at once
}

type pair struct {
	from, to int32
	class    Class
}

// run tells collectives apart; ranks is a hash of who takes part.
type run struct {
	kind  coll.Kind
	class Class
	bytes int64
	by    string
	ranks uint64
}

// repeated is a collective's transfers, and how many times it runs.
type repeated struct {
	ops   []Op
	times int64
}

// Summing makes Builder tell algorithms that the order of its transfers does not count.
func (b *Builder) Summing() bool { return b.sums != nil }

func (s *sums) add(o Op) {
	if s.into != nil {
		s.into.ops = append(s.into.ops, o)
		return
	}
	s.count(&o, 1)
}

// count enters a transfer so many times.
func (s *sums) count(o *Op, times int64) {
	key := pair{o.Rank, o.Peer, o.Class}
	at, ok := s.index[key]
	if !ok {
		at = len(s.ops)
		s.index[key] = at
		s.ops = append(s.ops, Op{Rank: o.Rank, Peer: o.Peer, Class: o.Class, Coll: -1})
	}
	s.ops[at].Bytes += o.Bytes * unit.Bytes(times)
}

// collective builds one, or counts that there is another like it. What is sent from one rank to another returns
// arrivals that others look at.
func (s *sums) collective(c Collective, build func()) {
	if c.Kind == coll.SendRecv {
		build()
		return
	}
	key := run{c.Kind, c.Class, int64(c.Bytes), c.By, 14695981039346656037}
	for _, r := range c.Ranks {
		key.ranks = (key.ranks ^ uint64(r)) * 1099511628211
	}
	if x := s.runs[key]; x != nil {
		x.times++
		return
	}
	s.into = &repeated{times: 1}
	s.runs[key] = s.into
	build()
	s.into = nil
}

// Sums is the step with one transfer for each pair of ranks and class, of all that one sends the other, in no order,
// and a computation that takes no time at each rank: for those who simulate nothing, and without a limit of
// operations.
func (t *Training) Sums() (*DAG, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	b := NewBuilder(t.Ranks() + t.Storage.Ends())
	x := &sums{index: map[pair]int{}, runs: map[run]*repeated{}}
	b.sums = x
	if err := t.build(b); err != nil {
		return nil, err
	}
	for _, r := range x.runs {
		for i := range r.ops {
			x.count(&r.ops[i], r.times)
		}
	}
	b.sums = nil
	for rank := range t.Ranks() {
		b.Compute(rank, 0, Forward)
	}
	slices.SortFunc(x.ops, func(a, b Op) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Class, b.Class))
	})
	for i := range x.ops {
		b.add(x.ops[i], nil)
	}
	return b.Seal()
}
