package coll

import (
	"math"
	"testing"

	"railyard/unit"

	"pgregory.net/rapid"
)

// paths is a ledger that also records the pairs of ranks.
type paths struct {
	*ledger
	pairs map[[2]int]unit.Bytes
	count int
}

func (p *paths) Transfer(src, dst int, b unit.Bytes, after ...int32) int32 {
	p.pairs[[2]int{src, dst}] += b
	p.count++
	return p.ledger.Transfer(src, dst, b, after...)
}

func newPaths() *paths { return &paths{newLedger(), map[[2]int]unit.Bytes{}, 0} }

// Over servers of g GPUs, the hierarchical all-reduce sends as many bytes as a ring in total. It crosses servers on
// rails only, where each rank sends 2(m-1)/m of its share.
func TestHierarchical(t *testing.T) {
	for _, c := range []struct{ servers, per int }{{4, 8}, {2, 2}, {7, 4}} {
		n := c.servers * c.per
		const s = 8 * 7 * 3 * unit.MiB
		p := newPaths()
		done := Hierarchical(AllReduce, Even(c.per))(p, seq(n), s, make([][]int32, n))
		cross := unit.Bytes(0)
		for pair, b := range p.pairs {
			if pair[0]/c.per != pair[1]/c.per {
				cross += b
				if pair[0]%c.per != pair[1]%c.per {
					t.Errorf("%+v: %v changes rails", c, pair)
				}
			}
		}
		if want := 2 * float64(c.servers-1) * float64(s); math.Abs(float64(cross)/want-1) > 1e-6 ||
			len(done) != n {
			t.Errorf("%+v: %d bytes between servers, want %.0f", c, cross, want)
		}
		inside := float64(sum(p.ledger) - cross)
		if want := 2 * float64(c.per-1) * float64(s) * float64(c.servers); math.Abs(inside/want-1) > 1e-6 {
			t.Errorf("%+v: %g bytes inside servers, want %g", c, inside, want)
		}
		ring := newLedger()
		RingAllReduce(ring, seq(n), s, make([][]int32, n))
		if n > 4 && deepest(p.ledger) >= deepest(ring) {
			t.Errorf("%+v: %d rounds, the ring has %d", c, deepest(p.ledger), deepest(ring))
		}
	}
	// Servers of different sizes fall back to a ring.
	l := newLedger()
	if done := Hierarchical(AllReduce, Even(4))(l, []int{0, 1, 2, 3, 4, 5}, 600, make([][]int32, 6)); len(done) != 6 ||
		sum(l) != 2*5*600 {
		t.Errorf("uneven servers: %v", sum(l))
	}
}

// NCCL's trees connect servers on every rail, and send as many bytes as one tree of all ranks.
func TestNodeTrees(t *testing.T) {
	const servers, per, s = 9, 4, 64 * unit.MiB
	p := newPaths()
	NodeTrees(Even(per))(p, seq(servers*per), s, make([][]int32, servers*per))
	if sum(p.ledger) != 2*(servers*per-1)*s {
		t.Errorf("%d bytes, want %d", sum(p.ledger), 2*(servers*per-1)*s)
	}
	rails := map[int]unit.Bytes{}
	for pair, b := range p.pairs {
		if pair[0]/per != pair[1]/per {
			rails[pair[0]%per] += b
			if pair[0]%per != pair[1]%per {
				t.Errorf("%v changes rails", pair)
			}
		}
	}
	for r := range per {
		if rails[r] != 2*(servers-1)*s/per {
			t.Errorf("rail %d carries %d bytes, want %d", r, rails[r], 2*(servers-1)*s/per)
		}
	}
}

// All all-to-alls deliver equal data to every rank. PXN's never changes rails between servers and needs fewer
// messages there, by a factor of per.
func TestAllToAlls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, per := rapid.IntRange(1, 6).Draw(t, "servers"), rapid.IntRange(1, 8).Draw(t, "per")
		n := m * per
		if n < 2 {
			return
		}
		b := unit.Bytes(n * rapid.IntRange(1, 1000).Draw(t, "bytes"))
		direct, pair, pxn := newPaths(), newPaths(), newPaths()
		AllToAll(direct, seq(n), b, make([][]int32, n))
		PairwiseAllToAll(pair, seq(n), b, make([][]int32, n))
		done := RailAllToAll(Even(per))(pxn, seq(n), b, make([][]int32, n))
		if sum(direct.ledger) != unit.Bytes(n-1)*b || sum(pair.ledger) != sum(direct.ledger) ||
			deepest(pair.ledger) != n-1 || len(done) != n {
			t.Fatalf("%d and %d bytes, %d rounds", sum(direct.ledger), sum(pair.ledger), deepest(pair.ledger))
		}
		crossing, messages := unit.Bytes(0), 0
		for p, x := range pxn.pairs {
			if p[0]/per != p[1]/per {
				crossing += x
				messages++
				if p[0]%per != p[1]%per {
					t.Fatalf("%v changes rails", p)
				}
			}
		}
		if want := unit.Bytes(m*(m-1)*per*per) * b / unit.Bytes(n); crossing != want ||
			messages != m*(m-1)*per {
			t.Fatalf("%d bytes in %d messages between servers, want %d in %d", crossing, messages,
				want, m*(m-1)*per)
		}
	})
}

// A broadcast, sliced rings and channels transfer the required bytes.
func TestVariants(t *testing.T) {
	const n, s = 12, 64 * unit.MiB
	ready := func() [][]int32 { return make([][]int32, n) }
	tree := newPaths()
	if done := TreeBroadcast(tree, seq(n), s, ready()); sum(tree.ledger) != (n-1)*s || tree.got[0] != 0 ||
		len(done) != n {
		t.Errorf("broadcast: %d bytes", sum(tree.ledger))
	}
	for name, run := range map[string]Algorithm{
		"sliced":   Sliced(RingAllReduce, unit.MiB, 8),
		"channels": OnChannels(RingAllReduce, 4, Even(4)),
		"both":     OnChannels(Sliced(RingAllReduce, unit.MiB, 8), 4, Even(4)),
	} {
		l := newLedger()
		if done := run(l, seq(n), s, ready()); sum(l) != 2*(n-1)*s || len(done) != n {
			t.Errorf("%s: %d bytes, want %d", name, sum(l), 2*(n-1)*s)
		}
	}
	p := newPaths()
	OnChannels(RingAllReduce, 4, Even(4))(p, seq(n), s, ready())
	rails := map[int]bool{}
	for pair := range p.pairs {
		if pair[0]/4 != pair[1]/4 {
			rails[pair[0]%4] = true
		}
	}
	if len(rails) != 4 {
		t.Errorf("four channels cross on rails %v", rails)
	}
}

// The tuning model's choices are NCCL's: trees and LL for small all-reduces over many nodes, rings and Simple for
// large ones. No bus bandwidth exceeds the NICs' beyond two nodes, and time grows with bytes.
func TestTuning(t *testing.T) {
	m := Machine{Nodes: 16, PerNode: 8, NVLink: 371, NIC: 400, Channels: 16, Hopper: true, NVLS: true}
	small, err := m.Tune(AllReduce, 64<<10)
	if err != nil || small[0].Algorithm != ByTree || small[0].Protocol != LL {
		t.Errorf("64 KiB: %+v, %v", small, err)
	}
	large, err := m.Tune(AllReduce, 8<<30)
	if err != nil || large[0].Algorithm != ByRing || large[0].Protocol != Simple || large[0].BusBW > 400 ||
		large[0].BusBW < 350 {
		t.Errorf("8 GiB: %+v, %v", large, err)
	}
	// By hand: base 6.6, 254 hops, 30 of which are between nodes, LL.
	for _, c := range small {
		if c.Algorithm == ByRing && c.Protocol == LL {
			want := 6.6 + (254-30)*1.0 + 30*2.7 + 65536.0/(1000*35*128/254)
			if math.Abs(c.Micros-want) > 0.01 {
				t.Errorf("ring LL: %.1f us, by hand %.1f", c.Micros, want)
			}
		}
		// 2^10 times 64 B: trees with LL reach 60 % of 368/3.8 GB/s, but 35 at most.
		if c.Algorithm == ByTree && c.Protocol == LL {
			want := 6.8 + 2*(7*0.6+4*5) + 65536.0/(1000*35*0.6/2)
			if math.Abs(c.Micros-want) > 0.01 {
				t.Errorf("tree LL: %.1f us, by hand %.1f", c.Micros, want)
			}
		}
	}
	for _, kind := range []Kind{AllReduce, AllGather, ReduceScatter} {
		last := 0.0
		for b := 1024.0; b < 1e11; b *= 2 {
			c, err := m.Tune(kind, b)
			if err != nil || c[0].Micros < last || c[0].BusBW > 400 {
				t.Fatalf("%v of %g: %+v after %g us", kind, b, c[0], last)
			}
			last = c[0].Micros
		}
	}
	one := Machine{Nodes: 1, PerNode: 8, NVLink: 371, NIC: 400, Channels: 16, Hopper: true, NVLS: true}
	if c, err := one.Tune(AllReduce, 1<<30); err != nil || c[0].Algorithm != ByNVLS || c[0].BusBW < 466 ||
		c[0].BusBW > 1.03*466 || c[0].Reckoned < 1.25*c[0].Micros {
		// measured 466 GB/s (docs/references.md, busbw); NCCL's model has less
		t.Errorf("one node: %+v, %v", c, err)
	}
	// By hand: 57.7 GB/s a channel on two nodes, above the NICs' bound, 8 channels; 25 us and two hops of 20.9.
	// With two GPUs a ring is better, because its one neighbour has all data to add.
	two := Machine{Nodes: 2, PerNode: 8, NVLink: 371, NIC: 400, Channels: 16, Hopper: true, NVLS: true}
	c, err := two.Tune(AllReduce, 1<<30)
	if want := 25 + 2*20.9 + (1<<30)/(1000*8*57.7*16/30); err != nil || c[0].Algorithm != ByNVLSTree ||
		math.Abs(c[0].Micros-want) > 1 {
		t.Errorf("two nodes: %+v, %v, want %.0f us", c, err, want)
	}
	// With slow NICs (nccl issue 527: 57 GB/s of bus bandwidth on two p4d, whose NICs have 50), a tree sends each
	// byte over the network once, and a ring nearly twice.
	slow := Machine{Nodes: 2, PerNode: 8, NVLink: 240, NIC: 50, Channels: 8}
	if c, err := slow.Tune(AllReduce, 1<<30); err != nil || c[0].Algorithm != ByTree || c[0].BusBW < 57 {
		t.Errorf("two nodes with slow NICs: %+v, %v", c, err)
	}
	slow.NIC = 200 // a DGX A100: NVIDIA measures 192 GB/s of ring (nccl issue 1576)
	if c, err := slow.Tune(AllReduce, 1<<30); err != nil || c[0].Algorithm != ByRing {
		t.Errorf("two nodes with fast NICs: %+v, %v", c, err)
	}
	pair := Machine{Nodes: 1, PerNode: 2, NVLink: 371, NIC: 400, Channels: 16, Hopper: true, NVLS: true}
	if c, err := pair.Tune(AllReduce, 1<<30); err != nil || c[0].Algorithm != ByRing {
		t.Errorf("two GPUs: %+v, %v", c, err)
	}
	if _, err := m.Tune(ToAll, 1); err == nil {
		t.Error("all-to-alls are tuned")
	}
	if _, err := (Machine{Nodes: 1, PerNode: 1, NVLink: 1, NIC: 1, Channels: 1}).Tune(AllReduce,
		1); err == nil {
		t.Error("one rank is tuned")
	}
	for _, p := range Protocols {
		if wait, wire := ProtocolCost(p, false); wait < 0 || wire < 1 || wire > 2 {
			t.Errorf("%s: %g us, %g bytes per byte", p, wait, wire)
		}
	}
}

// A collective from a root on channels delivers all bytes to every other rank. The root's first pieces belong to
// different channels, so none waits for the whole of another.
func TestFromRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		per, servers := rapid.IntRange(1, 8).Draw(t, "per"), rapid.IntRange(1, 4).Draw(t, "servers")
		n := max(2, per*servers)
		root, channels := rapid.IntRange(0, n-1).Draw(t, "root"), rapid.IntRange(1, per).Draw(t, "channels")
		bytes := unit.Bytes(rapid.Int64Range(1, 1e9).Draw(t, "bytes"))
		p := newPaths()
		done := FromRoot(Chain, ChainPieces, channels, root, Even(per))(p, seq(n), bytes, make([][]int32, n))
		for r := range n {
			if got := p.got[r]; r != root && got != bytes || r == root && (got != 0 || len(done[r]) != 0) {
				t.Fatalf("rank %d of %d, root %d: %d of %d bytes", r, n, root, got, bytes)
			}
		}
	})
	r, _ := recorded(FromRoot(Chain, ChainPieces, 8, 0, Even(8)), seq(16), 256*unit.MiB)
	next := map[unit.Bytes]int{}
	for _, s := range r.sends[:8*15] {
		if s.src == 0 {
			next[s.bytes]++
		}
	}
	if next[unit.MiB] != 8 {
		t.Errorf("the first pieces of the root: %v", next)
	}
}
