package coll

import "railyard/unit"

// ByPairs is the name of collectives in which every rank sends to every other one at once.
const ByPairs = "direct"

// DirectAllGather sends each rank's n-th of bytes to all others at once.
func DirectAllGather(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	n := len(ranks)
	done := make([][]int32, n)
	for i := range n {
		done[i] = append(done[i], ready[i]...)
	}
	for d := 1; d < n; d++ {
		for i := range n {
			to := (i + d) % n
			done[to] = append(done[to], s.Transfer(ranks[i], ranks[to], chunk(bytes, i, n), ready[i]...))
		}
	}
	return done
}

// DirectAllReduce sends everybody's share of an n-th to the rank that adds it up, which sends the sum
// to all: as many bytes as a ring, in two rounds, over the cables of all pairs.
func DirectAllReduce(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	return DirectAllGather(s, ranks, bytes, AllToAll(s, ranks, bytes, ready))
}

// Within returns how a collective runs among ranks: as a ring, or directly in a server whose GPUs are
// joined in pairs, where a ring would use one cable of each GPU's.
func (on Servers) Within(k Kind, ranks []int) (run Algorithm, name string) {
	if !on.mesh || len(ranks) < 3 || on.Of(ranks[0]) != on.Of(ranks[len(ranks)-1]) {
		return Ring(k), ByRing
	}
	switch k {
	case AllGather:
		return DirectAllGather, ByPairs
	case ReduceScatter:
		return AllToAll, ByPairs // what arrives is added up
	}
	return DirectAllReduce, ByPairs
}
