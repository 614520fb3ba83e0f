package coll

import (
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// ledger records transfers and the length of the chain that each one ends.
type ledger struct {
	sent, got map[int]unit.Bytes
	depth     []int
}

func (l *ledger) Transfer(src, dst int, b unit.Bytes, after ...int32) int32 {
	l.sent[src] += b
	l.got[dst] += b
	d := 0
	for _, a := range after {
		d = max(d, l.depth[a])
	}
	l.depth = append(l.depth, d+1)
	return int32(len(l.depth) - 1)
}

func newLedger() *ledger { return &ledger{sent: map[int]unit.Bytes{}, got: map[int]unit.Bytes{}} }

// Bytes per rank and rounds follow from the collective alone (nccl-tests PERFORMANCE.md), including the rounding to
// bytes.
func TestVolumes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "ranks")
		s := unit.Bytes(rapid.Int64Range(1, 1e9).Draw(t, "bytes"))
		ranks := make([]int, n)
		for i := range ranks {
			ranks[i] = 100 + i
		}
		for name, c := range map[string]struct {
			run    func(Sink, []int, unit.Bytes, [][]int32) [][]int32
			volume unit.Bytes // of n ranks together
			rounds int
		}{
			"all-reduce":     {RingAllReduce, 2 * unit.Bytes(n-1) * s, 2 * (n - 1)},
			"all-gather":     {RingAllGather, unit.Bytes(n-1) * s, n - 1},
			"reduce-scatter": {RingReduceScatter, unit.Bytes(n-1) * s, n - 1},
			"all-to-all":     {AllToAll, unit.Bytes(n-1) * s, 1},
			"broadcast": {func(k Sink, r []int, b unit.Bytes, y [][]int32) [][]int32 {
				return Broadcast(k, r, b, 4, y)
			}, unit.Bytes(n-1) * s, n - 1},
		} {
			l := newLedger()
			done := c.run(l, ranks, s, make([][]int32, n))
			total, rounds := unit.Bytes(0), 0
			for _, r := range ranks {
				total += l.sent[r]
			}
			for _, d := range l.depth {
				rounds = max(rounds, d)
			}
			if total != c.volume || rounds != c.rounds || len(done) != n {
				t.Fatalf("%s of %d bytes over %d ranks moves %d in %d rounds, want %d in %d", name, s, n,
					total, rounds, c.volume, c.rounds)
			}
			if per := l.sent[ranks[0]] - c.volume/unit.Bytes(n); name != "broadcast" &&
				(per > unit.Bytes(2*n) || per < -unit.Bytes(2*n)) {
				t.Fatalf("%s: rank 0 sends %d bytes off its share", name, per)
			}
		}
	})
}

// A rank that is not ready delays itself and every rank that needs its data.
func TestWaitsForReadiness(t *testing.T) {
	l := newLedger()
	slow := l.Transfer(9, 9, 1)
	done := RingAllReduce(l, []int{0, 1, 2}, 300, [][]int32{nil, {slow}, nil})
	for r, ids := range done {
		deepest := 0
		for _, id := range ids {
			deepest = max(deepest, l.depth[id])
		}
		if deepest < 3 {
			t.Errorf("rank %d is done after a chain of %d", r, deepest)
		}
	}
}
