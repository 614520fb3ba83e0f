package coll

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"railyard/unit"
)

// Parallel rings in a mesh use each link once per direction, if there are at most as many rings as cycles.
func TestChannelsInAMesh(t *testing.T) {
	p := newPaths()
	OnChannels(RingAllGather, 7, Even(8).Meshed(true))(p, seq(8), 56*unit.MB, make([][]int32, 8))
	if len(p.pairs) != 56 {
		t.Errorf("%d pairs of GPUs are used, want all 56", len(p.pairs))
	}
	for pair, b := range p.pairs {
		if b != 7*unit.MB {
			t.Errorf("%v carries %d bytes", pair, b)
		}
	}
}

// TestLanes runs as many channels as there are lanes. In a mesh no two of them use one link in the same direction.
func TestLanes(t *testing.T) {
	for _, servers := range []int{1, 2, 3, 4} {
		for n := 1; n <= 10; n++ {
			if got := Lanes(n, servers, false); got != 1 {
				t.Errorf("%d GPUs connected by a switch: %d lanes", n, got)
			}
			used, lanes := map[[2]int]int{}, Lanes(n, servers, true)
			for c := range lanes {
				order := ChannelOrder(seq(n*servers), Even(n).Meshed(true), c)
				for i, from := range order {
					if to := order[(i+1)%len(order)]; from/n == to/n {
						used[[2]int{from, to}]++
					}
				}
			}
			for pair, rings := range used {
				if n > 1 && rings > 1 {
					t.Errorf("%d servers of %d: %d of %d rings use the link of %v", servers, n, rings, lanes, pair)
				}
			}
		}
	}
	for n, want := range map[int]int{2: 1, 4: 2, 6: 4, 8: 7} {
		if got := Lanes(n, 1, true); got != want {
			t.Errorf("a server of %d: %d lanes, want %d", n, got, want)
		}
	}
}

// Trees also connect servers of different sizes. All but one path in and out stays inside a server, and there are
// as many channels as the smallest server has GPUs.
func TestTreesOfUnevenServers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 8), 2, 6).Draw(t, "sizes")
		var of, at []int32
		least := 8
		for server, n := range sizes {
			for i := range n {
				of, at = append(of, int32(server)), append(at, int32(i))
			}
			least = min(least, n)
		}
		const bytes = 8 * unit.MiB
		p := newPaths()
		n := len(of)
		done := NodeTrees(Placed(of, at))(p, seq(n), bytes, make([][]int32, n))
		if len(done) != n || sum(p.ledger) != 2*unit.Bytes(n-1)*bytes {
			t.Fatalf("%d bytes for %d ranks", sum(p.ledger), n)
		}
		between := unit.Bytes(0)
		for pair, b := range p.pairs {
			if of[pair[0]] != of[pair[1]] {
				between += b
			}
		}
		if want := 2 * unit.Bytes(len(sizes)-1) * bytes; between != want {
			t.Fatalf("%v: %d bytes between servers, want %d", sizes, between, want)
		}
	})
}

// In a mesh all links of a server carry equal bytes, and a collective transfers a ring's bytes. Without a mesh, and
// between servers, it is a ring.
func TestWithin(t *testing.T) {
	const bytes = 64 * unit.MB
	for kind, each := range map[Kind]unit.Bytes{AllReduce: 2 * bytes / 8, AllGather: bytes / 8,
		ReduceScatter: bytes / 8} {
		run, name := Even(8).Meshed(true).Within(kind, seq(8))
		p := newPaths()
		done := run(p, seq(8), bytes, make([][]int32, 8))
		ring := newPaths()
		Ring(kind)(ring, seq(8), bytes, make([][]int32, 8))
		if name != ByPairs || len(p.pairs) != 56 || sum(p.ledger) != sum(ring.ledger) || len(done[3]) < 7 {
			t.Errorf("%v: %s over %d pairs, %d bytes, a ring %d", kind, name, len(p.pairs), sum(p.ledger),
				sum(ring.ledger))
		}
		for pair, b := range p.pairs {
			if b != each {
				t.Errorf("%v: %v carries %d bytes, want %d", kind, pair, b, each)
			}
		}
		for _, on := range []Servers{Even(8), Even(4).Meshed(true)} {
			if _, name := on.Within(kind, seq(8)); name != ByRing {
				t.Errorf("%v between servers, or at a switch, is %s", kind, name)
			}
		}
	}
}

// Servers given by rank and even servers give equal results for even ones.
func TestPlaced(t *testing.T) {
	of, at := make([]int32, 12), make([]int32, 12)
	for r := range of {
		of[r], at[r] = int32(r/4), int32(r%4)
	}
	for c := range 5 {
		a, b := ChannelOrder(seq(12), Even(4), c), ChannelOrder(seq(12), Placed(of, at), c)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("channel %d: %v and %v", c, a, b)
		}
	}
	if (Servers{}).Known() || !Even(0).Known() || Even(0).Of(3) != 3 {
		t.Error("unknown servers")
	}
}

// The channels between servers with pairwise connected GPUs use every link once per direction. Each enters and
// leaves at its own positions, also when servers are visited backwards.
func TestZigzag(t *testing.T) {
	for _, n := range []int{2, 4, 8, 16} {
		for _, back := range []bool{false, true} {
			arcs, first, last := map[[2]int]int{}, map[int]bool{}, map[int]bool{}
			for c := range n {
				way := zigzag(n, c, back)
				if sorted := slices.Sorted(slices.Values(way)); !slices.Equal(sorted, seq(n)) {
					t.Errorf("%d, %d, %v: %v does not visit each place once", n, c, back, way)
				}
				first[way[0]], last[way[n-1]] = true, true
				for k := 1; k < n; k++ {
					arcs[[2]int{way[k-1], way[k]}]++
				}
			}
			if len(arcs) != n*(n-1) || len(first) != n || len(last) != n {
				t.Errorf("%d, %v: %d cables, %d places to enter, %d to leave", n, back, len(arcs), len(first),
					len(last))
			}
		}
	}
	// it leaves at the position where it enters the next server
	order := ChannelOrder(seq(16), Even(8).Meshed(true), 3)
	if order[7]%8 != order[8]%8 || order[15]%8 != order[0]%8 {
		t.Errorf("%v", order)
	}
}
