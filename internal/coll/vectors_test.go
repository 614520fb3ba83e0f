package coll

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// send is one transfer requested by an algorithm.
type send struct {
	src, dst int
	bytes    unit.Bytes
	after    []int32
}

// record stores all transfers. Operations below first are those that made the ranks ready. Operation i stands for
// rank i, as if one of its computations had to end first.
type record struct {
	first int32
	sends []send
}

func (r *record) Transfer(src, dst int, b unit.Bytes, after ...int32) int32 {
	r.sends = append(r.sends, send{src, dst, b, slices.Clone(after)})
	return r.first + int32(len(r.sends)) - 1
}

// recorded runs an algorithm over ranks that each become ready by their own operation.
func recorded(run Algorithm, ranks []int, bytes unit.Bytes) (*record, [][]int32) {
	r := &record{first: int32(len(ranks))}
	ready := make([][]int32, len(ranks))
	for i := range ready {
		ready[i] = []int32{int32(i)}
	}
	return r, run(r, ranks, bytes, ready)
}

// A ring all-reduce on numbers: in round k a rank forwards the chunk k before its own. For n-1 rounds it adds its
// own numbers to the chunk (Patarasuk and Yuan 2009). A sent chunk must be the one delivered by the transfer on
// which it depends, chunks must be the parts of the buffer, and in the end every rank has every sum.
func TestRingAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "ranks")
		bytes := unit.Bytes(rapid.IntRange(n, 10_000).Draw(t, "bytes"))
		own := func(rank, chunk int) int { return 1_000*rank + chunk*chunk + 7 }
		r, done := recorded(RingAllReduce, seq(n), bytes)
		if len(r.sends) != 2*n*(n-1) {
			t.Fatalf("%d transfers, a ring of %d has %d", len(r.sends), n, 2*n*(n-1))
		}
		has := make([][]int, n) // by rank and chunk
		for i := range has {
			for c := range n {
				has[i] = append(has[i], own(i, c))
			}
		}
		payload := make([]int, len(r.sends))
		rounds := make([]int, n)
		last := make([]int32, n)
		for id, s := range r.sends {
			k := rounds[s.src]
			rounds[s.src]++
			c := ((s.src-k)%n + n) % n
			if s.dst != (s.src+1)%n || s.bytes != chunk(bytes, c, n) {
				t.Fatalf("round %d: %d bytes from %d to %d, chunk %d has %d", k, s.bytes, s.src, s.dst, c,
					chunk(bytes, c, n))
			}
			if len(s.after) == 0 || k < n && !slices.Contains(s.after, int32(s.src)) {
				t.Fatalf("round %d of rank %d waits for %v", k, s.src, s.after)
			}
			switch before := s.after[0]; {
			case k == 0:
				payload[id] = own(s.src, c)
			case r.sends[before-r.first].dst != s.src:
				t.Fatalf("rank %d waits for what %d got", s.src, r.sends[before-r.first].dst)
			case k < n:
				payload[id] = payload[before-r.first] + own(s.src, c)
			default:
				payload[id] = payload[before-r.first]
			}
			if k >= n-1 { // it has visited all ranks
				has[s.src][c], has[s.dst][c] = payload[id], payload[id]
			}
			last[s.dst] = r.first + int32(id)
		}
		for rank := range n {
			for c := range n {
				want := 0
				for j := range n {
					want += own(j, c)
				}
				if has[rank][c] != want {
					t.Fatalf("rank %d has %d in chunk %d, the sum is %d", rank, has[rank][c], c, want)
				}
			}
			if !slices.Contains(done[rank], last[rank]) || !slices.Contains(done[rank], int32(rank)) {
				t.Fatalf("rank %d is done after %v, its last chunk is %d", rank, done[rank], last[rank])
			}
		}
	})
}

// Halving and doubling on numbers: partners n/2, n/4, ... 1 apart exchange the half that the other keeps, and then
// return it in the opposite order (Rabenseifner 2004).
func TestHalvingAddsUp(t *testing.T) {
	for _, n := range []int{2, 4, 8, 16, 32} {
		run, err := AllReduceBy(ByHalving, n, Even(1))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := recorded(run, seq(n), unit.Bytes(n*8))
		v := make([][]int, n)
		for i := range v {
			for e := range n {
				v[i] = append(v[i], (i+1)*(e+3))
			}
		}
		low, high := make([]int, n), make([]int, n) // elements that a rank is in charge of
		for i := range high {
			high[i] = n
		}
		at := 0
		exchange := func(distance int, halve bool) {
			before := make([][]int, n)
			for i := range v {
				before[i] = slices.Clone(v[i])
			}
			lows, highs := slices.Clone(low), slices.Clone(high)
			for i := range n {
				s := r.sends[at]
				if at++; s.src != i || s.dst != i^distance {
					t.Fatalf("%d ranks: %d sends to %d, at distance %d", n, s.src, s.dst, distance)
				}
				from, to := lows[i], highs[i]
				if halve { // the partner's half
					mid := (lows[i] + highs[i]) / 2
					if i&distance == 0 {
						from, high[i] = mid, mid
					} else {
						to, low[i] = mid, mid
					}
				}
				if s.bytes != unit.Bytes(8*(to-from)) {
					t.Fatalf("%d ranks at distance %d: %d bytes, %d elements", n, distance, s.bytes, to-from)
				}
				for e := from; e < to; e++ {
					if halve {
						v[s.dst][e] += before[i][e]
					} else {
						v[s.dst][e] = before[i][e]
					}
				}
				if !halve {
					low[s.dst], high[s.dst] = min(low[s.dst], lows[i]), max(high[s.dst], highs[i])
				}
			}
		}
		for d := n / 2; d >= 1; d /= 2 {
			exchange(d, true)
		}
		for d := 1; d < n; d *= 2 {
			exchange(d, false)
		}
		if at != len(r.sends) {
			t.Fatalf("%d ranks: %d transfers, %d were followed", n, len(r.sends), at)
		}
		for i := range v {
			for e := range v[i] {
				if want := n * (n + 1) / 2 * (e + 3); v[i][e] != want {
					t.Fatalf("%d ranks: rank %d has %d in element %d, the sum is %d", n, i, v[i][e], e, want)
				}
			}
		}
	}
}

// everyAlgorithm draws an algorithm with a layout of ranks on servers.
func everyAlgorithm(t *rapid.T) (name string, run Algorithm, ranks []int) {
	servers, per := rapid.IntRange(1, 6).Draw(t, "servers"), rapid.IntRange(1, 4).Draw(t, "per")
	if servers*per < 2 {
		per = 2
	}
	name = rapid.SampledFrom([]string{ByRing, ByTree, ByRails, ByHalving, "all-gather", "reduce-scatter",
		"direct", "pairwise", "pxn", "sliced", "channels", "broadcast", "tree-broadcast",
		"all-gather in pairs", "all-reduce in pairs"}).Draw(t, "algorithm")
	if name == ByHalving {
		servers, per = 1<<rapid.IntRange(0, 3).Draw(t, "log servers"), 2
	}
	ranks = seq(servers * per)
	switch name {
	case "all-gather":
		return name, RingAllGather, ranks
	case "reduce-scatter":
		return name, RingReduceScatter, ranks
	case "all-gather in pairs":
		return name, DirectAllGather, ranks
	case "all-reduce in pairs":
		return name, DirectAllReduce, ranks
	case "direct", "pairwise", "pxn":
		run, err := AllToAllBy(name, Even(per))
		if err != nil {
			t.Fatal(err)
		}
		return name, run, ranks
	case "sliced":
		return name, Sliced(RingAllReduce, 512, 2), ranks
	case "channels":
		return name, OnChannels(RingAllReduce, per, Even(per)), ranks
	case "tree-broadcast":
		return name, TreeBroadcast, ranks
	case "broadcast":
		return name, func(s Sink, r []int, b unit.Bytes, y [][]int32) [][]int32 {
			return Broadcast(s, r, b, 3, y)
		}, ranks
	}
	run, err := AllReduceBy(name, len(ranks), Even(per))
	if err != nil {
		t.Fatal(err)
	}
	return name, run, ranks
}

// For any algorithm: no rank sends before it is ready, or waits for an operation of which neither it nor the
// receiver learns, and no rank sends to itself. When a rank is done, all required data of each other rank have
// reached it, over a chain of dependent transfers.
func TestWhatReachesWhom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name, run, ranks := everyAlgorithm(t)
		bytes := unit.Bytes(rapid.IntRange(len(ranks), 100_000).Draw(t, "bytes"))
		n := len(ranks)
		r, done := recorded(run, ranks, bytes)
		before := make([]map[int32]bool, n+len(r.sends)) // all dependencies of an operation, including itself
		holds := make([]map[int]bool, n+len(r.sends))    // ranks whose data it carries at most
		for i := range n {
			before[i], holds[i] = map[int32]bool{int32(i): true}, map[int]bool{i: true}
		}
		for k, s := range r.sends {
			id := r.first + int32(k)
			before[id], holds[id] = map[int32]bool{id: true}, map[int]bool{s.src: true}
			if s.src == s.dst || s.bytes < 0 {
				t.Fatalf("%s: %+v", name, s)
			}
			for _, a := range s.after {
				if a >= id {
					t.Fatalf("%s: transfer %d waits for %d", name, id, a)
				}
				involved := []int{int(a), int(a)}
				if a >= r.first {
					involved = []int{r.sends[a-r.first].src, r.sends[a-r.first].dst}
				}
				if !slices.Contains(involved, s.src) && !slices.Contains(involved, s.dst) {
					t.Fatalf("%s: %d to %d waits for what is between %v", name, s.src, s.dst, involved)
				}
				for b := range before[a] {
					before[id][b] = true
				}
				if a >= r.first && r.sends[a-r.first].dst == s.src {
					for h := range holds[a] {
						holds[id][h] = true
					}
				}
			}
			if !before[id][int32(s.src)] {
				t.Fatalf("%s: rank %d sends before it is ready", name, s.src)
			}
		}
		for i := range done {
			got := map[int]bool{i: true}
			self := false
			for _, d := range done[i] {
				self = self || before[d][int32(i)]
				for b := range before[d] {
					if b >= r.first && r.sends[b-r.first].dst == i {
						for h := range holds[b] {
							got[h] = true
						}
					}
				}
			}
			if !self {
				t.Fatalf("%s: rank %d is done before it is ready", name, i)
			}
			for j := range n {
				if needed := name != "broadcast" && name != "tree-broadcast" || j == 0; needed && !got[j] {
					t.Fatalf("%s of %d: rank %d is done without anything of rank %d", name, n, i, j)
				}
			}
		}
	})
}

// Unknown names are rejected, and the error lists known ones.
func TestNamesOfAlgorithms(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(AllReduceBy("rings", 8, Even(8))),
			`(did you mean "ring"?); accepted: ring, tree, halving-doubling`},
		{second(AllReduceBy(ByHalving, 12, Even(4))), "needs a power of two of ranks, found 12"},
		{second(AllToAllBy("ring", Even(8))), "accepted: direct, pairwise, pxn"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}

func second(_ Algorithm, err error) error { return err }

// finish runs transfers over ports that send and receive one transfer at a time, each in a + bytes*b, in the order
// of the requests: the textbook model (Thakur et al. 2005).
func finish(r *record, a, b float64) float64 {
	out, in := map[int]float64{}, map[int]float64{}
	at := make([]float64, int(r.first)+len(r.sends))
	last := 0.0
	for k, s := range r.sends {
		start := max(out[s.src], in[s.dst])
		for _, x := range s.after {
			start = max(start, at[x])
		}
		end := start + a + b*float64(s.bytes)
		out[s.src], in[s.dst], at[int(r.first)+k] = end, end, end
		last = max(last, end)
	}
	return last
}

// Each algorithm takes the time of the literature if parts are equal.
func TestClosedForms(t *testing.T) {
	const a, b = 1000.0, 1.0
	log := map[int]float64{2: 1, 4: 2, 8: 3, 16: 4}
	for _, n := range []int{2, 4, 8, 16} {
		s := unit.Bytes(n) * 4800
		size, ranks := float64(s), float64(n)
		for name, c := range map[string]struct {
			run  Algorithm
			want float64
		}{
			"ring all-reduce":     {RingAllReduce, 2 * (ranks - 1) * (a + b*size/ranks)},
			"ring all-gather":     {RingAllGather, (ranks - 1) * (a + b*size/ranks)},
			"ring reduce-scatter": {RingReduceScatter, (ranks - 1) * (a + b*size/ranks)},
			"halving and doubling": {must(AllReduceBy(ByHalving, n, Even(1))),
				2*log[n]*a + 2*(ranks-1)/ranks*b*size},
			"pairwise all-to-all": {PairwiseAllToAll, (ranks - 1) * (a + b*size/ranks)},
			"pipelined broadcast": {func(k Sink, r []int, x unit.Bytes, y [][]int32) [][]int32 {
				return Broadcast(k, r, x, 6, y)
			}, (ranks - 2 + 6) * (a + b*size/6)},
		} {
			r, _ := recorded(c.run, seq(n), s)
			if got := finish(r, a, b); got < c.want*(1-1e-9) || got > c.want*(1+1e-9) {
				t.Errorf("%s over %d: %.0f, the closed form gives %.0f", name, n, got, c.want)
			}
		}
	}
}

func must(run Algorithm, err error) Algorithm {
	if err != nil {
		panic(fmt.Sprint("a name that this test made up: ", err))
	}
	return run
}

// Bus bandwidth is what a ring's busiest NIC carries. With zero latency, the bytes of the definition over its time
// are the line rate, for any n (nccl-tests, PERFORMANCE.md).
func TestBusFactorIsTheRings(t *testing.T) {
	for n := 2; n <= 64; n++ {
		s := unit.Bytes(n) * 1000
		for _, k := range []Kind{AllReduce, AllGather, ReduceScatter} {
			r, _ := recorded(Ring(k), seq(n), s)
			busbw := float64(s) / finish(r, 0, 1) * k.BusFactor(n)
			if busbw < 1-1e-9 || busbw > 1+1e-9 {
				t.Errorf("%v over %d: bus bandwidth %g of a line of 1", k, n, busbw)
			}
		}
	}
	for k, want := range map[Kind]string{
		AllReduce: "all-reduce",
		ToAll:     "all-to-all",
		SendRecv:  "send-recv",
	} {
		if k.String() != want {
			t.Errorf("kind %d is called %v", k, k)
		}
	}
	if SendRecv.BusFactor(8) != 1 || Bcast.BusFactor(8) != 1 {
		t.Error("what goes once over each link has a factor")
	}
}

// TestAddedUp: a sink that sums transfers gets, from each rank to each other, the sum of the individual transfers.
func TestAddedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "ranks")
		bytes := unit.Bytes(rapid.IntRange(0, 100_000).Draw(t, "bytes"))
		for name, run := range map[string]Algorithm{"all-reduce": RingAllReduce, "all-gather": RingAllGather,
			"reduce-scatter": RingReduceScatter} {
			steps, _ := recorded(run, seq(n), bytes)
			want, got := map[[2]int]unit.Bytes{}, map[[2]int]unit.Bytes{}
			for _, s := range steps.sends {
				want[[2]int{s.src, s.dst}] += s.bytes
			}
			sum := &adding{}
			done := run(sum, seq(n), bytes, make([][]int32, n))
			for _, s := range sum.sends {
				got[[2]int{s.src, s.dst}] += s.bytes
			}
			if !maps.Equal(got, want) || len(sum.sends) > n || len(done) != n {
				t.Fatalf("%s: %d transfers of %v, step by step %v", name, len(sum.sends), got, want)
			}
		}
	})
}

// adding is a sink that adds transfers up.
type adding struct{ record }

func (*adding) Summing() bool { return true }

// TestHalvingNeedsAPowerOfTwo: halving and doubling supports 1, 2, 4 … ranks only.
func TestHalvingNeedsAPowerOfTwo(t *testing.T) {
	for n := 1; n <= 64; n++ {
		if _, err := AllReduceBy(ByHalving, n, Even(1)); (err == nil) != (bits.OnesCount(uint(n)) == 1) {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}
