package coll

import (
	"fmt"

	"railyard/internal/field"
	"railyard/unit"
)

// Algorithm runs a collective of bytes over ranks. What must be done before rank i
// takes part is ready[i]; what must be done before it has its result is returned.
type Algorithm func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32

// Names of all-reduce algorithms.
const (
	ByRing    = "ring"
	ByTree    = "tree"
	ByHalving = "halving-doubling"
	ByRails   = "hierarchical"
)

// Ring returns the ring algorithm of an all-reduce, all-gather or reduce-scatter.
func Ring(k Kind) Algorithm {
	switch k {
	case AllGather:
		return RingAllGather
	case ReduceScatter:
		return RingReduceScatter
	}
	return RingAllReduce
}

// AllReduceBy returns the all-reduce of a name over n ranks in servers of per GPUs,
// "" being a ring.
func AllReduceBy(name string, n, per int) (Algorithm, error) {
	switch name {
	case "", ByRing:
		return RingAllReduce, nil
	case ByTree:
		return NodeTrees(per), nil
	case ByRails:
		return Hierarchical(per), nil
	case ByHalving:
		if n&(n-1) != 0 {
			return nil, fmt.Errorf("halving and doubling needs a power of two of ranks, found %d", n)
		}
		return func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
			done, _ := HalvingDoubling(s, ranks, bytes, ready)
			return done
		}, nil
	}
	return nil, field.Choice("", name, []string{ByRing, ByTree, ByHalving, ByRails},
		"algorithm %q is not known", name)
}

// AllToAllBy returns the all-to-all of a name in servers of per GPUs, "" being direct.
func AllToAllBy(name string, per int) (Algorithm, error) {
	switch name {
	case "", "direct":
		return AllToAll, nil
	case "pairwise":
		return PairwiseAllToAll, nil
	case "pxn":
		return RailAllToAll(per), nil
	}
	return nil, field.Choice("", name, []string{"direct", "pairwise", "pxn"}, "algorithm %q is not known",
		name)
}

// ChannelOrder returns the order, as indices into ranks, in which channel c's ring
// goes through them when every server has per GPUs: NCCL's rings enter and leave a
// server on the channel's rail. Servers are walked through forwards and backwards
// in turn, so that the GPU that leaves and the one that enters next have the same
// place, for every hop but, with an odd number of servers, the last.
func ChannelOrder(ranks []int, per, c int) []int {
	order := make([]int, 0, len(ranks))
	for i, server := 0, 0; i < len(ranks); server++ {
		j := i
		for j < len(ranks) && ranks[j]/per == ranks[i]/per {
			j++
		}
		n := j - i
		for k := range n {
			at := (c + k) % n // enters at c, leaves at c-1
			if server%2 == 1 {
				at = ((c-1-k)%n + n) % n // enters at c-1, leaves at c
			}
			order = append(order, i+at)
		}
		i = j
	}
	return order
}
