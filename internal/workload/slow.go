package workload

import (
	"cmp"
	"slices"

	"railyard/internal/model"
	"railyard/unit"
)

// Slow is a computation that takes longer than the equal one of its rank's siblings, or than on a faster GPU.
type Slow struct {
	Op    int32
	Usual unit.Time // median of the siblings' computations, or the time on the job's fastest GPU
}

// Siblings are ranks with equal operations in equal order, whose bytes differ by at most sameBytes. Another stage
// of a pipeline, or an expert with more tokens, differs in these. With fewer than leastSiblings, one slow rank
// shifts the median.
const (
	sameBytes     = 0.01
	leastSiblings = 3
)

// A computation is slow if it exceeds the median by leastExcess, and also by fence times the distance of the lower
// quartile below the median. 0.35 % of normally distributed times do.
const (
	leastExcess = 0.05
	fence       = 4
)

// ofRank is the properties by which siblings are found.
type ofRank struct {
	rank, receives int32
	// hash of its operations: their classes, and receivers by the order of their first occurrence
	order    uint64
	peers    map[int32]uint64
	bytes    unit.Bytes
	computes []int32 // operations, in order
}

// next adds an operation to the hash (FNV-1a).
func (r *ofRank) next(o *Op) {
	peer := uint64(0)
	if !o.Compute() {
		if peer = r.peers[o.Peer]; peer == 0 {
			if r.peers == nil {
				r.peers = map[int32]uint64{}
			}
			peer = uint64(len(r.peers) + 1)
			r.peers[o.Peer] = peer
		}
	}
	r.order = (r.order ^ (peer<<8 | uint64(o.Class))) * 1099511628211
}

func (r *ofRank) compare(o *ofRank) int {
	return cmp.Or(cmp.Compare(r.order, o.order), cmp.Compare(r.receives, o.receives), cmp.Compare(r.bytes, o.bytes),
		cmp.Compare(r.rank, o.rank))
}

// SlowOps returns the slow computations of a job's operations, in order. Computations at the same index of sibling
// ranks are compared.
func SlowOps(ops []Op) (slow []Slow) {
	ranks := ranksOf(ops)
	for len(ranks) > 0 {
		n := 1
		for n < len(ranks) && ranks[n].alike(&ranks[0]) {
			n++
		}
		slow = append(slow, slowOf(ops, siblings(ranks[:n]))...)
		ranks = ranks[n:]
	}
	slices.SortFunc(slow, func(a, b Slow) int { return cmp.Compare(a.Op, b.Op) })
	return slow
}

// alike reports whether two ranks have equal operations and receive equally often.
func (r *ofRank) alike(o *ofRank) bool { return r.order == o.order && r.receives == o.receives }

// ranksOf returns the computing ranks, equal ones adjacent, the one with the fewest bytes first.
func ranksOf(ops []Op) (ranks []ofRank) {
	for i := range ops {
		for int(max(ops[i].Rank, ops[i].Peer)) >= len(ranks) {
			ranks = append(ranks, ofRank{rank: int32(len(ranks))})
		}
		o, r := &ops[i], &ranks[ops[i].Rank]
		r.next(o)
		switch {
		case !o.Compute():
			to := &ranks[o.Peer]
			to.receives++
			r.bytes, to.bytes = r.bytes+o.Bytes, to.bytes+o.Bytes
		case o.Class == Forward, o.Class == Backward, o.Class == Optimizer, o.Class == Computing:
			r.computes = append(r.computes, int32(i))
		}
	}
	ranks = slices.DeleteFunc(ranks, func(r ofRank) bool { return len(r.computes) == 0 })
	slices.SortFunc(ranks, func(a, b ofRank) int { return a.compare(&b) })
	return ranks
}

// siblings returns the ranks whose bytes are near the median, ordered by bytes.
func siblings(ranks []ofRank) []ofRank {
	usual := float64(ranks[len(ranks)/2].bytes)
	from := slices.IndexFunc(ranks, func(r ofRank) bool { return float64(r.bytes) >= (1-sameBytes)*usual })
	to := len(ranks)
	for float64(ranks[to-1].bytes) > (1+sameBytes)*usual {
		to--
	}
	return ranks[from:to]
}

// slowOf compares the computations of siblings.
func slowOf(ops []Op, ranks []ofRank) (slow []Slow) {
	if len(ranks) < leastSiblings {
		return nil
	}
	times := make([]unit.Time, len(ranks))
	for k := range ranks[0].computes {
		for i := range ranks {
			times[i] = ops[ranks[i].computes[k]].Dur
		}
		slices.Sort(times)
		usual := times[len(times)/2]
		limit := usual + max(unit.Time(leastExcess*float64(usual)), fence*(usual-times[len(times)/4]))
		for i := range ranks {
			if op := ranks[i].computes[k]; ops[op].Dur > limit {
				slow = append(slow, Slow{op, usual})
			}
		}
	}
	return slow
}

// slowOps returns the slow computations among a job's operations. A training's ranks differ in their GPUs only: slow
// are those that take longer than on the fastest of these.
func (j *Job) slowOps(ops []Op) (slow []Slow) {
	if j.Training == nil {
		return SlowOps(ops)
	}
	fastest, mixed := j.Training.Fastest()
	if !mixed {
		return nil
	}
	even := *j.Training
	even.Each = slices.Repeat([]model.GPU{fastest}, len(even.Each))
	d, err := even.Build()
	if err != nil || len(d.Ops) != len(ops) {
		return nil
	}
	for i := range ops {
		if o := &ops[i]; o.Compute() && o.Dur > d.Ops[i].Dur {
			slow = append(slow, Slow{int32(i), d.Ops[i].Dur})
		}
	}
	return slow
}

// Even is the job's graph without slow computations: with the siblings' median time, or that of the fastest GPU.
func (j *Job) Even() *DAG {
	if slow := j.slowOps(j.DAG.Ops); len(slow) > 0 {
		return j.DAG.With(slow)
	}
	return j.DAG
}

// Slow returns the slow computations of all jobs.
func (m *Mix) Slow() (slow []Slow) {
	for i := range m.Jobs {
		p := &m.Jobs[i]
		for _, s := range p.slowOps(m.DAG.Ops[p.Ops[0]:p.Ops[1]]) {
			slow = append(slow, Slow{p.Ops[0] + s.Op, s.Usual})
		}
	}
	return slow
}

// With is the graph with slow computations of their usual time.
func (d *DAG) With(slow []Slow) *DAG {
	even := *d
	even.Ops = slices.Clone(d.Ops)
	for _, s := range slow {
		even.Ops[s.Op].Dur = s.Usual
	}
	return &even
}
