package trace

import (
	"bytes"
	"fmt"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/tally"
	"railyard/unit"
)

// writeSimAI writes the collectives of a graph as layers of SimAI's workload: a rank's computation before each, and
// the collective. It is of all ranks or of groups of neighbours of one size. The format has no pipelines, groups of
// several sizes, and transfers outside collectives.
func writeSimAI(x *export) error {
	d := x.d
	names := map[coll.Kind]string{coll.AllReduce: "ALLREDUCE", coll.AllGather: "ALLGATHER",
		coll.ReduceScatter: "REDUCESCATTER", coll.ToAll: "ALLTOALL"}
	size := 0
	var own []int // collectives of rank 0
	for i := range d.Colls {
		c := &d.Colls[i]
		switch {
		case names[c.Kind] == "" || c.By == "":
			return field.New("", "has a %v: SimAI's workloads have all-reduces, all-gathers, reduce-scatters and all-to-alls", c.Kind)
		case size != 0 && len(c.Ranks) != size:
			return field.New("", "has collectives of %d ranks and of %d: those of one size are written", size,
				len(c.Ranks))
		}
		size = len(c.Ranks)
		for k, r := range c.Ranks {
			if r != c.Ranks[0]+k || c.Ranks[0]%size != 0 {
				return field.New("", "has a collective of ranks that do not follow one another: %v", c.Ranks)
			}
		}
		if c.Ranks[0] == 0 {
			own = append(own, i)
		}
	}
	if len(own) == 0 || d.Ranks%size != 0 {
		return field.New("", "has no collective of rank 0 in groups that divide its %d ranks", d.Ranks)
	}
	ns := &rounding{to: unit.Nanosecond, short: make([]unit.Time, d.Ranks)}
	dur, lost, err := x.computedBefore(own)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: %d ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: %d checkpoints: 0 checkpoint_initiates: 0\n%d\n", size, d.Ranks, len(own))
	for k, i := range own {
		c := &d.Colls[i]
		fmt.Fprintf(&b, "layer_%d -1 %d %s %d 0 NONE 0 0 NONE 0 0\n", k, ns.of(0, dur[k]), names[c.Kind],
			int64(c.Bytes))
	}
	x.files = []File{{x.name + ".txt", b.Bytes()}}
	tally.Add(&x.report.Mapped, len(own), "collectives of rank 0, as layers; other groups do the same", "", 0)
	tally.Add(&x.report.Left, lost, "computations after the last collective, or next to the first rank's", "", 0)
	x.rounded(ns)
	return nil
}

// computedBefore returns the time that rank 0 computes before each of its collectives and the number of omitted
// computations. It returns an error if collectives run in parallel.
func (x *export) computedBefore(own []int) (dur []unit.Time, lost int, err error) {
	d := x.d
	place := map[int32]int{}
	for k, i := range own {
		place[int32(i)] = k
	}
	dur = make([]unit.Time, len(own))
	level := make([]int, len(d.Ops)) // number of rank 0's collectives before each operation
	d.Ordered(func(i int32) {
		o := &d.Ops[i]
		behind := level[i]
		switch at, is := place[o.Coll]; {
		case is && level[i] != at:
			err = field.New("", "has collectives side by side: SimAI's layers follow one another")
		case is:
		case o.Compute() && o.Dur > 0 && (o.Rank != 0 || level[i] >= len(own)):
			lost++
		case o.Compute() && o.Rank == 0:
			dur[level[i]] += o.Dur
		}
		for _, s := range d.After(i) {
			next := behind
			if _, is := place[o.Coll]; is && d.Ops[s].Coll != o.Coll {
				next = behind + 1
			}
			level[s] = max(level[s], next)
		}
	})
	return dur, lost, err
}
