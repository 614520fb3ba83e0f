package workload

import (
	"cmp"
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/partition"
	"railyard/unit"
)

// sums sums the transfers of a graph without its operations. A step of 131,072 GPUs has 10^10 operations, and a
// million sending pairs. Equal collectives of the same ranks are counted, and added up once.
type sums struct {
	index map[pair]int
	ops   []Op // one operation for each pair and class
	runs  map[run]*repeated
	into  *repeated // sum of the current collective; nil: count immediately
}

type pair struct {
	from, to int32
	class    Class
}

// run identifies collectives; ranks is a hash of the participants.
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

// Summing reports to algorithms that the order of transfers has no effect.
func (b *Builder) Summing() bool { return b.sums != nil }

func (s *sums) add(o Op) {
	if s.into != nil {
		s.into.ops = append(s.into.ops, o)
		return
	}
	s.count(&o, 1)
}

// count adds a transfer n times.
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

// collective builds one, or counts a repetition of an equal one. Transfers between two ranks return arrivals that
// later operations depend on.
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

// Sums is the step without a simulation and without a limit of operations. It has one transfer for each pair of
// ranks and class, with all their bytes, in no order, and a computation of zero time at each rank. Its work is
// independent of microbatches and steps.
func (t *Training) Sums() (*DAG, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	x, err := t.sums()
	if err != nil {
		return nil, err
	}
	return x.dag(t.Ranks(), t.Ranks()+t.Storage.Ends())
}

// dag returns the sums as a graph over ends, the first of which are computing ranks.
func (x *sums) dag(ranks, ends int) (*DAG, error) {
	b := NewBuilder(ends)
	for rank := range ranks {
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

// sums sums all steps. Each step sends equal bytes, except for batches and checkpoints, and so does each of its
// microbatches, for any schedule.
func (t *Training) sums() (*sums, error) {
	one := *t
	one.Data, one.Checkpoint, one.Steps = nil, nil, 1
	few, more := one, one // numbers of microbatches: all, or a period of them, and two
	period := 1
	if t.Schedule == partition.Interleaved {
		period = t.PP // period of its microbatches
	}
	if t.Microbatches > 3*period {
		few.Microbatches, more.Microbatches = period, 2*period
	}
	base, err := few.added()
	if err != nil {
		return nil, err
	}
	x := &sums{index: map[pair]int{}}
	steps, further := t.StepsInRow(), t.Microbatches/few.Microbatches-1
	if err := t.countable(base, float64(steps)*float64(further+1)); err != nil {
		return nil, err
	}
	if further > 0 {
		twice, err := more.added()
		if err != nil {
			return nil, err
		}
		for i := range twice.ops {
			o := twice.ops[i]
			if at, ok := base.index[pair{o.Rank, o.Peer, o.Class}]; ok {
				o.Bytes -= base.ops[at].Bytes
			}
			x.count(&o, int64(steps)*int64(further))
		}
	}
	for i := range base.ops {
		x.count(&base.ops[i], int64(steps))
	}
	return x, t.addStored(x)
}

// mostSummed is the maximum sum of bytes, so that sums over ranks do not overflow either.
const mostSummed = float64(1 << 62)

// countable refuses sums whose multiple exceeds 64 bits.
func (t *Training) countable(x *sums, times float64) error {
	all := 0.0
	for i := range x.ops {
		all += float64(x.ops[i].Bytes)
	}
	if all*times > mostSummed {
		return field.New("global_batch", "%d sequences in %s send about %.3g bytes, at most %.3g are added up",
			t.Global(), unit.Plural(t.StepsInRow(), "step"), all*times, mostSummed)
	}
	return nil
}

// added builds the steps one operation after another, and sums them.
func (t *Training) added() (*sums, error) {
	return adding(t.Ranks()+t.Storage.Ends(), func(b *Builder) error { return t.build(b) })
}

// adding returns the sums of the current build.
func adding(ranks int, build func(b *Builder) error) (*sums, error) {
	b := NewBuilder(ranks)
	x := &sums{index: map[pair]int{}, runs: map[run]*repeated{}}
	b.sums = x
	err := build(b)
	for _, r := range x.runs {
		for i := range r.ops {
			x.count(&r.ops[i], r.times)
		}
	}
	return x, err
}

// addStored adds the batches and checkpoints of all steps.
func (t *Training) addStored(to *sums) error {
	for _, part := range []struct {
		is    bool
		times int
		build func(s *step)
	}{
		{t.Data != nil, t.loads(), func(s *step) { s.loadOnce() }},
		{t.Checkpoint != nil, t.saves(), func(s *step) { s.saveAll() }},
	} {
		if !part.is || part.times == 0 {
			continue
		}
		x, err := adding(t.Ranks()+t.Storage.Ends(), func(b *Builder) error {
			s := t.newStep(b)
			s.group()
			part.build(s)
			return nil
		})
		if err == nil {
			err = t.countable(x, float64(part.times))
		}
		if err != nil {
			return err
		}
		for i := range x.ops {
			to.count(&x.ops[i], int64(part.times))
		}
	}
	return nil
}
