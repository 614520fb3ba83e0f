package coll

import "railyard/unit"

// Sink takes transfers: bytes from one rank to another once all operations of after are done. The returned number
// identifies the event "delivered at dst". The caller may reuse after once Transfer returns.
type Sink interface {
	Transfer(src, dst int, bytes unit.Bytes, after ...int32) int32
}

// summing reports whether a sink sums transfers. One transfer of all bytes from one rank to another then replaces
// many.
func summing(s Sink) bool {
	x, ok := s.(interface{ Summing() bool })
	return ok && x.Summing()
}

// chunk returns the size of the i-th of n nearly equal parts of b.
func chunk(b unit.Bytes, i, n int) unit.Bytes {
	return b*unit.Bytes(i+1)/unit.Bytes(n) - b*unit.Bytes(i)/unit.Bytes(n)
}

// ring runs steps rounds around the ring. In round k rank i forwards the chunk that it received in round k-1.
// chunkOf returns the chunk that rank i sends in round k.
func ring(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32, steps int, chunkOf func(i, k int) int) [][]int32 {
	n := len(ranks)
	if n < 2 {
		return ready
	}
	if summing(s) {
		for i := range n {
			all := unit.Bytes(0)
			for k := range steps {
				all += chunk(bytes, (chunkOf(i, k)%n+n)%n, n)
			}
			s.Transfer(ranks[i], ranks[(i+1)%n], all)
		}
		done := make([][]int32, n)
		for i := range done {
			done[i] = []int32{0}
		}
		return done
	}
	got := make([]int32, n) // last transfer delivered at i
	next := make([]int32, n)
	var after []int32
	for k := range steps {
		for i := range n {
			to := (i + 1) % n
			b := chunk(bytes, (chunkOf(i, k)%n+n)%n, n)
			switch {
			case k == 0:
				next[to] = s.Transfer(ranks[i], ranks[to], b, ready[i]...)
			case k < n: // a rank forwards data only after it has added its own
				after = append(append(after[:0], got[i]), ready[i]...)
				next[to] = s.Transfer(ranks[i], ranks[to], b, after...)
			default: // the piece has passed this rank
				next[to] = s.Transfer(ranks[i], ranks[to], b, got[i])
			}
		}
		got, next = next, got
	}
	done := make([][]int32, n)
	for i := range done {
		// A rank takes part only when it is ready, even if it only receives, in the last round.
		done[i] = append([]int32{got[i]}, ready[i]...)
	}
	return done
}

// RingReduceScatter leaves each of n ranks with one reduced n-th of bytes:
// n-1 rounds of bytes/n (Patarasuk and Yuan 2009).
func RingReduceScatter(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	return ring(s, ranks, bytes, ready, len(ranks)-1, func(i, k int) int { return i - k })
}

// RingAllGather collects 1/n of bytes from each rank at all ranks.
func RingAllGather(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	return ring(s, ranks, bytes, ready, len(ranks)-1, func(i, k int) int { return i + 1 - k })
}

// RingAllReduce is a reduce-scatter and an all-gather in one chain of 2(n-1) rounds. Each rank sends and receives
// 2(n-1)/n of bytes.
func RingAllReduce(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	return ring(s, ranks, bytes, ready, 2*(len(ranks)-1), func(i, k int) int { return i - k })
}

// AllToAll sends bytes/n from every rank to every other one in parallel. Each rank starts with its right neighbour.
func AllToAll(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	return direct(s, ranks, bytes, ready, func(_, to int) int { return to })
}

// direct sends a share of bytes from every rank to every other one in parallel.
func direct(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32, share func(from, to int) int) [][]int32 {
	n := len(ranks)
	done := make([][]int32, n)
	for i := range n {
		done[i] = append(done[i], ready[i]...)
	}
	for d := 1; d < n; d++ {
		for i := range n {
			to := (i + d) % n
			done[to] = append(done[to], s.Transfer(ranks[i], ranks[to], chunk(bytes, share(i, to), n), ready[i]...))
		}
	}
	return done
}

// Chain passes bytes from the first rank down a chain, undivided: a piece of a broadcast.
func Chain(s Sink, ranks []int, b unit.Bytes, ready [][]int32) [][]int32 {
	return Broadcast(s, ranks, b, 1, ready)
}

// ChainPieces returns the number of pieces of a chain: a megabyte or more each, at most 64.
func ChainPieces(b unit.Bytes) int { return max(1, int(min(b/unit.MiB, 64))) }

// Broadcast passes bytes from the first rank down a chain in pieces, so that all links are busy in parallel.
func Broadcast(s Sink, ranks []int, bytes unit.Bytes, pieces int, ready [][]int32) [][]int32 {
	n := len(ranks)
	done := make([][]int32, n)
	for i := range n {
		done[i] = append(done[i], ready[i]...)
	}
	for p := range pieces {
		b := chunk(bytes, p, pieces)
		after := ready[0]
		for i := 0; i+1 < n; i++ {
			id := s.Transfer(ranks[i], ranks[i+1], b, append(after, ready[i+1]...)...)
			done[i+1] = append(done[i+1], id)
			after = []int32{id}
		}
	}
	return done
}

// Kind names a collective and its bus bandwidth rule.
type Kind uint8

// Kinds of collectives.
const (
	AllReduce Kind = iota
	AllGather
	ReduceScatter
	ToAll
	Bcast
	SendRecv
)

var kindNames = [...]string{"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv"}

func (k Kind) String() string { return kindNames[k] }

// BusFactor returns the ratio of bus bandwidth to algorithm bandwidth (nccl-tests, PERFORMANCE.md).
func (k Kind) BusFactor(n int) float64 {
	switch k {
	case AllReduce:
		return 2 * float64(n-1) / float64(n)
	case AllGather, ReduceScatter, ToAll:
		return float64(n-1) / float64(n)
	}
	return 1
}

// ByPairs is the name of collectives in which every rank sends to every other one in parallel.
const ByPairs = "direct"

// DirectAllGather sends each rank's 1/n of bytes to all others in parallel.
func DirectAllGather(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	return direct(s, ranks, bytes, ready, func(from, _ int) int { return from })
}

// DirectAllReduce sends each rank's share of 1/n to the rank that reduces it, which sends the sum to all. It
// transfers a ring's bytes in two rounds, over the links of all pairs.
func DirectAllReduce(s Sink, ranks []int, bytes unit.Bytes, ready [][]int32) [][]int32 {
	return DirectAllGather(s, ranks, bytes, AllToAll(s, ranks, bytes, ready))
}

// Within returns the algorithm of a collective among ranks: a ring, or direct in a server whose GPUs are connected
// in pairs. There a ring would use only one link of each GPU.
func (on Servers) Within(k Kind, ranks []int) (run Algorithm, name string) {
	if !on.mesh || len(ranks) < 3 || on.Of(ranks[0]) != on.Of(ranks[len(ranks)-1]) {
		return Ring(k), ByRing
	}
	switch k {
	case AllGather:
		return DirectAllGather, ByPairs
	case ReduceScatter:
		return AllToAll, ByPairs // received data are summed
	}
	return DirectAllReduce, ByPairs
}
