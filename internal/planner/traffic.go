package planner

import (
	"fmt"
	"slices"

	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/unit"
)

// Kinds of parallelism that traffic is divided by.
const (
	KindTensor = iota
	KindPipeline
	KindData
	KindContext
	KindExpert
	KindOther
	Kinds
)

// KindNames are their names.
var KindNames = [Kinds]string{"tensor", "pipeline", "data", "context", "expert", "other"}

// Pair is the bytes that one rank sends another in a step.
type Pair struct {
	Src, Dst int
	Bytes    [Kinds]int64
}

// Total adds the kinds up.
func (p *Pair) Total() (n int64) {
	for _, b := range p.Bytes {
		n += b
	}
	return n
}

// Tiers a transfer can cross, from near to far.
const (
	InServer   = iota // NVLink
	SameLeaf          // one switch connects the NICs
	AcrossTier        // over spines
	OffRail           // to another rail: NVLink first if required
	Tiers
)

// TierNames are their names.
var TierNames = [Tiers]string{"in the server", "one switch", "over spines", "between rails"}

// Traffic is the rank-to-rank matrix of a step, without the empty pairs.
type Traffic struct {
	Ranks  int
	Pairs  []Pair // by source, then destination
	Kinds  [Kinds]int64
	ByTier [Tiers][Kinds]int64
}

// Matrix adds up the transfers of a workload. Rank i runs on GPU i, or is a node that the graph has after them.
func Matrix(d *workload.DAG, g *topo.Graph) (*Traffic, error) {
	if d.Ranks > g.Ends() {
		return nil, fmt.Errorf("%s do not fit %s", unit.Plural(d.Ranks, "rank"), unit.Plural(g.TotalGPUs(), "GPU"))
	}
	t := &Traffic{Ranks: d.Ranks}
	index := map[int64]int{}
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Compute() || o.Bytes == 0 {
			continue
		}
		key := int64(o.Rank)<<32 | int64(o.Peer)
		at, ok := index[key]
		if !ok {
			at = len(t.Pairs)
			index[key] = at
			t.Pairs = append(t.Pairs, Pair{Src: int(o.Rank), Dst: int(o.Peer)})
		}
		t.Pairs[at].Bytes[kindOf(o.Class)] += int64(o.Bytes)
	}
	t.tally(g)
	return t, nil
}

// tally sorts the pairs and adds them up.
func (t *Traffic) tally(g *topo.Graph) {
	routes := g.Route(nil)
	slices.SortFunc(t.Pairs, func(a, b Pair) int {
		if a.Src != b.Src {
			return a.Src - b.Src
		}
		return a.Dst - b.Dst
	})
	for i := range t.Pairs {
		p := &t.Pairs[i]
		tier := tierOf(g, routes, p.Src, p.Dst)
		for k, b := range p.Bytes {
			t.Kinds[k] += b
			t.ByTier[tier][k] += b
		}
	}
}

func kindOf(c workload.Class) int {
	switch c {
	case workload.TensorParallel:
		return KindTensor
	case workload.PipelineParallel:
		return KindPipeline
	case workload.DataParallel:
		return KindData
	case workload.ContextParallel:
		return KindContext
	case workload.ExpertParallel:
		return KindExpert
	}
	return KindOther
}

func tierOf(g *topo.Graph, r *topo.Routes, src, dst int) int {
	a, b := g.NICOf[src], g.NICOf[dst]
	if g.Stored(src, dst) {
		a, b = g.Pair(src, dst, 0)
	}
	switch {
	case g.Together(src, dst):
		return InServer
	case g.NICs[a].Rail != g.NICs[b].Rail:
		return OffRail
	case r.Locator[a] == r.Locator[b]:
		return SameLeaf
	}
	return AcrossTier
}

// Total is every byte of the step.
func (t *Traffic) Total() (n int64) {
	for _, b := range t.Kinds {
		n += b
	}
	return n
}

// Silent is the share of the ordered pairs of different ranks that send nothing.
func (t *Traffic) Silent() float64 {
	all := float64(t.Ranks) * float64(t.Ranks-1)
	if all == 0 {
		return 0
	}
	return 1 - float64(len(t.Pairs))/all
}

// Carriers is the share of the ordered pairs that carry a kind.
func (t *Traffic) Carriers(kind int) float64 {
	n := 0
	for i := range t.Pairs {
		if t.Pairs[i].Bytes[kind] > 0 {
			n++
		}
	}
	return float64(n) / (float64(t.Ranks) * float64(max(t.Ranks-1, 1)))
}

// Cells sums the matrix into a square of at most n cells a side, source by destination, of one kind or, with kind
// Kinds, of all.
func (t *Traffic) Cells(n, kind int) (cells [][]float64, ranksPerCell int) {
	ranksPerCell = (t.Ranks + n - 1) / n
	side := (t.Ranks + ranksPerCell - 1) / ranksPerCell
	cells = make([][]float64, side)
	for i := range cells {
		cells[i] = make([]float64, side)
	}
	for i := range t.Pairs {
		p := &t.Pairs[i]
		b := p.Total()
		if kind < Kinds {
			b = p.Bytes[kind]
		}
		cells[p.Src/ranksPerCell][p.Dst/ranksPerCell] += float64(b)
	}
	return cells, ranksPerCell
}
