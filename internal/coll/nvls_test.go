package coll

import (
	"testing"

	"pgregory.net/rapid"

	"railyard/unit"
)

// moved is what each rank sends and receives, and what transfers wait for.
type moved struct {
	out, in map[int]unit.Bytes
	after   [][]int32
}

func (m *moved) Transfer(src, dst int, bytes unit.Bytes, after ...int32) int32 {
	m.out[src] += bytes
	m.in[dst] += bytes
	m.after = append(m.after, append([]int32(nil), after...))
	return int32(1000 + len(m.after))
}

// Each GPU sends and receives (n+1)/n of the bytes, over the switch's share; nothing moves before all are
// ready, and nobody has the sums before all has moved.
func TestNVLSMovesEachByteOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 72).Draw(t, "ranks")
		bytes := unit.Bytes(rapid.Int64Range(1, 1<<34).Draw(t, "bytes"))
		share := rapid.SampledFrom([]float64{1, NVLSShare(false), NVLSShare(true)}).Draw(t, "share")
		ranks, ready := make([]int, n), make([][]int32, n)
		for i := range ranks {
			ranks[i], ready[i] = 3*i, []int32{int32(i)}
		}
		m := &moved{out: map[int]unit.Bytes{}, in: map[int]unit.Bytes{}}
		done := NVLS(share)(m, ranks, bytes, ready)
		want := float64(bytes) * float64(n+1) / float64(n) / share
		for i, r := range ranks {
			if d := float64(m.out[r]) - want; d > 1 || d < -1 || m.in[r] != m.out[r] {
				t.Fatalf("%d ranks, %v: rank %d sends %v and receives %v, want %g", n, bytes, r, m.out[r],
					m.in[r], want)
			}
			if len(done[i]) != n {
				t.Fatalf("rank %d waits for %d transfers of %d", r, len(done[i]), n)
			}
		}
		for _, a := range m.after {
			if len(a) != n {
				t.Fatalf("a transfer begins after %d of %d ranks", len(a), n)
			}
		}
	})
	if one := NVLS(1)(nil, []int{4}, 8, [][]int32{{7}}); len(one) != 1 || one[0][0] != 7 {
		t.Error("a rank alone has something to add up")
	}
}
