package coll

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"railyard/unit"
)

// Inside each server GPUs send and receive NVLS's bytes, (n+1)/n over the share. Between servers every nth part
// goes up and down trees of the GPUs that have it. No rank has the sums before a transfer that depends on every
// rank.
func TestNVLSTreeMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, servers := rapid.IntRange(2, 9).Draw(t, "per server"), rapid.IntRange(2, 9).Draw(t, "servers")
		bytes := unit.Bytes(rapid.Int64Range(1<<16, 1<<27).Draw(t, "bytes"))
		share := rapid.SampledFrom([]float64{1, NVLSShare(false), NVLSShare(true)}).Draw(t, "share")
		ready := make([][]int32, n*servers)
		for i := range ready {
			ready[i] = []int32{int32(i)}
		}
		w := &watched{n: n, in: map[int]unit.Bytes{}, all: len(ready)}
		done := NVLSTree(share, Even(n))(w, seq(n*servers), bytes, ready)
		want := float64(bytes) * float64(n+1) / float64(n) / share
		for r := range ready {
			if d := float64(w.in[r]) - want; d > want/100+4096 || d < -want/100-4096 {
				t.Fatalf("rank %d receives %v in its server, want %g", r, w.in[r], want)
			}
			for _, id := range done[r] {
				if id >= 1000 && len(w.from[id-1000]) != w.all {
					t.Fatalf("rank %d is done after %d of %d ranks", r, len(w.from[id-1000]), w.all)
				}
			}
		}
		if want := 2 * bytes * unit.Bytes(servers-1); w.across != want {
			t.Fatalf("%v cross between servers, want %v", w.across, want)
		}
	})
}

// TestNVLSTreeOfOneServer: in a single server there is no traffic between servers, and NVLSTree equals NVLS.
func TestNVLSTreeOfOneServer(t *testing.T) {
	tree, treeDone := recorded(NVLSTree(NVLSShare(false), Even(8)), seq(8), unit.GiB)
	alone, done := recorded(NVLS(NVLSShare(false)), seq(8), unit.GiB)
	if !reflect.DeepEqual(tree, alone) || !reflect.DeepEqual(treeDone, done) || len(alone.sends) != 8 {
		t.Errorf("NVLSTree sends %v, NVLS %v", tree.sends, alone.sends)
	}
}

// watched records the ranks for which each transfer waits.
type watched struct {
	n, all int
	in     map[int]unit.Bytes
	across unit.Bytes
	from   []map[int32]bool
}

func (w *watched) Transfer(src, dst int, bytes unit.Bytes, after ...int32) int32 {
	all := map[int32]bool{}
	for _, a := range after {
		if a < 1000 {
			all[a] = true
			continue
		}
		for r := range w.from[a-1000] {
			all[r] = true
		}
	}
	w.from = append(w.from, all)
	if src/w.n == dst/w.n {
		w.in[dst] += bytes
	} else {
		w.across += bytes
	}
	return int32(999 + len(w.from))
}
