package coll

import (
	"fmt"
	"slices"

	"railyard/internal/field"
	"railyard/unit"
)

// Algorithm runs a collective of bytes over ranks. ready[i] are the operations before rank i takes part. The result
// lists the operations after which each rank has its result.
type Algorithm func(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32

// Names of all-reduce algorithms.
const (
	ByRing    = "ring"
	ByTree    = "tree"
	ByHalving = "halving-doubling"
	ByRails   = "hierarchical"
	ByChain   = "chain" // of broadcasts
	Auto      = "auto"  // what NCCL's tuning model picks
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
func AllReduceBy(name string, n int, on Servers) (Algorithm, error) {
	switch name {
	case "", ByRing:
		return RingAllReduce, nil
	case ByTree:
		return NodeTrees(on), nil
	case ByRails:
		return Hierarchical(AllReduce, on), nil
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

// AllToAllBy returns the all-to-all of a name, "" being direct.
func AllToAllBy(name string, on Servers) (Algorithm, error) {
	switch name {
	case "", "direct":
		return AllToAll, nil
	case "pairwise":
		return PairwiseAllToAll, nil
	case "pxn":
		return RailAllToAll(on), nil
	}
	return nil, field.Choice("", name, []string{"direct", "pairwise", "pxn"}, "algorithm %q is not known", name)
}

// ChannelOrder returns the order in which channel c's ring visits ranks, as indices into ranks. NCCL's rings enter
// and leave a server on the channel's rail. Servers are visited forwards and backwards in turn, so the GPU that
// leaves and the next one that enters have equal positions. With an odd number of servers the last hop is an
// exception. If GPUs are connected in pairs, n channels pass the n GPUs of a server over different links, and enter
// and leave by different NICs. Crossed, all servers are walked through forwards.
func ChannelOrder(ranks []int, on Servers, c int) []int {
	order := make([]int, 0, len(ranks))
	groups := on.groups(ranks)
	for server, g := range groups {
		n := len(g)
		if on.mesh && len(groups) > 1 && n%2 == 0 {
			for _, at := range zigzag(n, c, server%2 == 1) {
				order = append(order, g[at])
			}
			continue
		}
		round := on.round(n, c)
		start := slices.Index(round, c%n)
		for k := range n {
			at := (start + k) % n // enters at c and leaves at its predecessor in the ring
			if server%2 == 1 && !on.cross {
				at = ((start-1-k)%n + n) % n // enters there and leaves at c
			}
			order = append(order, g[round[at]])
		}
	}
	return order
}
