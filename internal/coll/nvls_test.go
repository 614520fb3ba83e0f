package coll

import (
	"testing"

	"pgregory.net/rapid"

	"railyard/unit"
)

// moved is the bytes that each rank sends and receives, and the dependencies of transfers.
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

// Each GPU sends and receives (n+1)/n of the bytes, over the switch's share. No transfer starts before all ranks
// are ready, and no rank has the sums before all transfers.
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

// TestNVLSFill computes rounds from NCCL's rules for chunks: 16 channels of Hopper, 24 of Blackwell, and at most 32
// heads. Each has a chunk of 128 KiB, or less if there would be fewer than 64, 8 or 2 rounds.
func TestNVLSFill(t *testing.T) {
	for _, c := range []struct {
		name         string
		share        float64
		n            int
		bytes, round unit.Bytes
	}{
		{"8 GPUs, 1 GiB: 64 rounds of 128 KiB", NVLSShare(false), 8, unit.GiB, 16 * unit.MiB},
		{"just below: 64 KiB", NVLSShare(false), 8, unit.GiB - 1, 8 * unit.MiB},
		{"64 MiB: 8 rounds of 64 KiB", NVLSShare(false), 8, 64 * unit.MiB, 8 * unit.MiB},
		{"16 MiB: 32 KiB", NVLSShare(false), 8, 16 * unit.MiB, 4 * unit.MiB},
		{"8 MiB: 2 rounds of 32 KiB", NVLSShare(false), 8, 8 * unit.MiB, 4 * unit.MiB},
		{"4 MiB: 16 KiB", NVLSShare(false), 8, 4 * unit.MiB, 2 * unit.MiB},
		{"1 MiB: part of a round", NVLSShare(false), 8, unit.MiB, unit.MiB},
		{"8 of Blackwell", NVLSShare(true), 8, 8 * unit.GiB, 24 * unit.MiB},
		{"72 GPUs have 32 heads", NVLSShare(true), 72, 8 * unit.GiB, 96 * unit.MiB},
	} {
		if got := nvlsRound(c.share, c.n, c.bytes); got != c.round {
			t.Errorf("%s: a round of %v, want %v", c.name, got, c.round)
		}
		if got, want := NVLSFill(c.share, c.n, c.bytes), NVLSBytes(c.share, c.n, 2*c.round); got != want {
			t.Errorf("%s: %v fill the pipeline, want %v", c.name, got, want)
		}
	}
}
