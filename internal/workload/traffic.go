package workload

import (
	"fmt"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/rng"
	"railyard/unit"
)

// Flow is one transfer of an explicit traffic list.
type Flow struct {
	Src, Dst int
	Bytes    unit.Bytes
	Start    unit.Time
}

// Flows starts each flow at its time.
func Flows(ranks int, flows []Flow) (*DAG, error) {
	b := NewBuilder(ranks)
	b.Collective(Collective{Name: "flows", Kind: coll.SendRecv, Ranks: seq(ranks)}, func() {
		for _, f := range flows {
			after := []int32{}
			if f.Start > 0 {
				after = append(after, b.Compute(f.Src, f.Start, Other))
			}
			b.Transfer(f.Src, f.Dst, f.Bytes, after...)
			b.colls[b.coll].Bytes = max(b.colls[b.coll].Bytes, f.Bytes)
		}
	})
	return b.Seal()
}

// Permutation sends bytes from each rank of a group to another one, so that each sends and receives once: a cycle
// through the group in random order. Groups of one have no destination.
func Permutation(ranks int, groups [][]int, bytes unit.Bytes, seed uint64) (*DAG, error) {
	var flows []Flow
	for i, g := range groups {
		if len(g) < 2 {
			continue
		}
		name := "permutation"
		if len(groups) > 1 {
			name = fmt.Sprintf("permutation/%d", i)
		}
		order := make([]int, len(g))
		r := rng.New(seed, name)
		r.Perm(order)
		for i := range order {
			flows = append(flows, Flow{Src: g[order[i]], Dst: g[order[(i+1)%len(g)]], Bytes: bytes})
		}
	}
	if len(flows) == 0 {
		return nil, field.New("permutation", "needs two ranks, found %d", ranks)
	}
	return Flows(ranks, flows)
}

// Incast sends bytes to target from each of the fanIn ranks after it.
func Incast(ranks, fanIn, target int, bytes unit.Bytes) (*DAG, error) {
	if fanIn < 1 || fanIn >= ranks {
		return nil, field.New("incast.fan_in", "an incast of %d needs %s, the fabric has %d",
			fanIn, unit.Plural(fanIn+1, "rank"), ranks)
	}
	flows := make([]Flow, fanIn)
	for i := range flows {
		flows[i] = Flow{Src: (target + 1 + i) % ranks, Dst: target, Bytes: bytes}
	}
	return Flows(ranks, flows)
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// All returns one group of all ranks.
func All(ranks int) [][]int { return [][]int{seq(ranks)} }

// Step is one operation of an explicit workload.
type Step struct {
	ID      string
	Rank    int
	Compute unit.Time
	Send    unit.Bytes
	To      int // -1: a computation
	After   []string
}

// Explicit builds a DAG from named operations.
func Explicit(ranks int, steps []Step) (*DAG, error) {
	b := NewBuilder(ranks)
	b.names = map[int32]string{}
	ids := make(map[string]int32, len(steps))
	for i, s := range steps {
		if _, dup := ids[s.ID]; dup {
			return nil, field.New(fmt.Sprintf("[%d].id", i), "operation %q is defined twice", s.ID)
		}
		ids[s.ID] = int32(i)
		b.names[int32(i)] = s.ID
	}
	b.colls = append(b.colls, Collective{Name: "transfers", Kind: coll.SendRecv, Ranks: seq(ranks)})
	for n, s := range steps {
		after := make([]int32, len(s.After))
		for i, a := range s.After {
			id, ok := ids[a]
			if !ok {
				return nil, field.New(fmt.Sprintf("[%d].after[%d]", n, i),
					"operation %q depends on %q, which does not exist", s.ID, a)
			}
			after[i] = id
		}
		if s.To < 0 {
			b.Compute(s.Rank, s.Compute, Computing, after...)
			continue
		}
		b.coll = 0
		b.colls[0].Bytes = max(b.colls[0].Bytes, s.Send)
		b.Transfer(s.Rank, s.To, s.Send, after...)
		b.coll = -1
	}
	return b.Seal()
}
