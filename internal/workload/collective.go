package workload

import (
	"fmt"
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/unit"
)

// CollectiveRun describes one collective over groups of ranks.
type CollectiveRun struct {
	Kind      coll.Kind
	Bytes     unit.Bytes // bytes of a rank's buffer; in all-gathers and reduce-scatters of the whole buffer
	Algorithm string     // one of Algorithms(Kind); "" is the first
	Protocol  string     // ll, ll128, simple, or "" for bare transfers
	Channels  int        // rings side by side
	Orders    [][]int    // order of ranks in each ring, as indices; nil: the order of the servers' rails
	CrossNIC  bool       // whether rings change the rail between servers
	Repeat    int        // consecutive runs; a rank begins each when its previous one is done; 0: one run
	Chunk     unit.Bytes // 0: a ring's steps are not divided; else the maximum bytes per rank at a time
	PerServer int
	Servers   coll.Servers // positions of ranks; if unknown, PerServer in each server
	CopyRate  float64      // GB/s at which the protocol's kernels copy on each rank; 0: no bound
	Switch    float64      // share of NVLink's rate at which NVSwitch reduces; 0: it cannot
}

// on is the positions of ranks.
func (c CollectiveRun) on() coll.Servers {
	if c.Servers.Known() {
		return c.Servers.Crossed(c.CrossNIC)
	}
	return coll.Even(c.PerServer).Crossed(c.CrossNIC)
}

// Algorithms lists the algorithms of a kind of collective, the default first.
func Algorithms(k coll.Kind) []string {
	switch k {
	case coll.AllReduce:
		return []string{coll.ByRing, coll.ByTree, coll.ByHalving, coll.ByRails, coll.ByNVLS, coll.ByNVLSTree}
	case coll.ToAll:
		return []string{"direct", "pairwise", "pxn"}
	case coll.Bcast:
		return []string{coll.ByChain, coll.ByTree}
	}
	return []string{coll.ByRing, coll.ByRails}
}

// usual returns the algorithm of a kind: the requested one, else the default.
func usual(k coll.Kind, asked string) string {
	if asked == "" {
		return Algorithms(k)[0]
	}
	return asked
}

// RunCollective runs it, all groups in parallel.
func RunCollective(ranks int, c CollectiveRun, groups [][]int) (*DAG, error) {
	b := NewBuilder(ranks)
	for _, g := range groups {
		if len(g) < 2 {
			return nil, fmt.Errorf("a collective needs two ranks, found %d", len(g))
		}
		if _, err := c.runs(g); err != nil {
			return nil, err
		}
		if ops := c.Transfers(len(g)) * float64(len(groups)*max(1, c.Repeat)); ops > MaxOps {
			return nil,
				field.New("bytes",
					"about %.3g transfers are more than the %d that are taken; use larger chunks",
					ops, MaxOps)
		}
		name := c.Kind.String()
		if c.Algorithm != "" && c.Algorithm != Algorithms(c.Kind)[0] {
			name = c.Algorithm + " " + name
		}
		ready := make([][]int32, len(g))
		for k := range max(1, c.Repeat) {
			for i, done := range ready {
				if k > 0 {
					ready[i] = []int32{b.Compute(g[i], 0, Other, done...)}
				}
			}
			b.Collective(Collective{Name: name, Kind: c.Kind, Bytes: c.Bytes, Ranks: g,
				By: usual(c.Kind, c.Algorithm), Run: k}, func() { ready, _ = c.Into(b, g, ready) })
		}
	}
	return b.Seal()
}

// SumCollective is RunCollective without a simulation. It has one transfer for each pair of ranks, with all their
// bytes, in no order, and no limit of operations.
func SumCollective(ranks int, c CollectiveRun, groups [][]int) (*DAG, error) {
	x, err := adding(ranks, func(b *Builder) error {
		for _, g := range groups {
			if len(g) < 2 {
				return fmt.Errorf("a collective needs two ranks, found %d", len(g))
			}
			for range max(1, c.Repeat) {
				if _, err := c.Into(b, g, make([][]int32, len(g))); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return x.dag(ranks, ranks)
}

// runs is the algorithm among some ranks.
func (c CollectiveRun) runs(ranks []int) (coll.Algorithm, error) {
	if err := c.switched(ranks); err != nil {
		return nil, err
	}
	return c.algorithm(len(ranks))
}

// Into adds the collective's transfers to a graph: rank i depends on ready[i], and the dependencies of its result are
// returned.
func (c CollectiveRun) Into(b *Builder, ranks []int, ready [][]int32) ([][]int32, error) {
	run, err := c.runs(ranks)
	if err != nil {
		return nil, err
	}
	return run(c.sink(b, len(ranks)), ranks, c.Bytes, c.started(b, ranks, ready)), nil
}

// started returns the dependencies of ranks, delayed by the time that a protocol takes before its first transfer.
func (c CollectiveRun) started(b *Builder, ranks []int, ready [][]int32) [][]int32 {
	d := unit.Time(coll.StartCost(c.Algorithm, c.Protocol) * float64(unit.Microsecond))
	if d == 0 {
		return ready
	}
	out := make([][]int32, len(ready))
	for i, after := range ready {
		out[i] = []int32{b.Compute(ranks[i], d, Other, after...)}
	}
	return out
}

// switched refuses reductions by NVSwitch if no switch supports them, or none connects all ranks.
func (c CollectiveRun) switched(ranks []int) error {
	if c.Algorithm != coll.ByNVLS && c.Algorithm != coll.ByNVLSTree || c.Kind != coll.AllReduce {
		return nil
	}
	on := c.on()
	far := slices.IndexFunc(ranks, func(r int) bool { return on.Of(r) != on.Of(ranks[0]) })
	switch {
	case far >= 0 && c.Algorithm == coll.ByNVLS:
		return field.New("algorithm",
			"nvls takes GPUs that share NVLink, and these are in several servers or domains: with groups, NVLink domains (server.nvlink_domain) or algorithm nvls-tree it has them")
	case c.Switch == 0:
		return field.New("algorithm", "%s takes an NVSwitch that adds up: GPUs from H100 on, connected by it",
			c.Algorithm)
	case c.Algorithm == coll.ByNVLSTree && !on.AsMany(ranks):
		return field.New("algorithm", "nvls-tree needs servers with as many GPUs each")
	case c.Protocol != "" && c.Protocol != coll.Simple:
		return field.New("protocol", "%s runs with protocol simple or none, found %s", c.Algorithm, c.Protocol)
	}
	return nil
}

// Transfers estimates the operations of one group of n ranks, from above.
func (c CollectiveRun) Transfers(n int) float64 {
	ops := c.transfers(n)
	if c.Protocol != "" {
		ops *= 2 // a protocol's cost is an operation of its own
	}
	if c.CopyRate > 0 && c.Protocol != coll.LL { // copies in addition; LL has no further cost
		ops *= 1.5
	}
	return ops
}

// transfers estimates those operations that carry bytes.
func (c CollectiveRun) transfers(n int) float64 {
	pieces, rounds := 1.0, 1.0
	if c.Kind == coll.AllReduce {
		rounds = 2
	}
	if c.Chunk > 0 {
		pieces = min(1024, float64(c.Bytes)/float64(c.Chunk)/float64(n)+1)
	}
	per := float64(max(1, c.PerServer)) // channels of trees
	ranks, tree := float64(n), float64(c.Bytes)/float64(coll.TreePiece)+1
	switch {
	case c.Kind == coll.Bcast:
		return ranks * max(64, min(coll.TreePieces, tree)) * float64(max(1, c.Channels))
	case c.Algorithm == coll.ByTree:
		return 4 * ranks * (min(2*coll.TreePieces*per, tree) + 2*per)
	case c.Algorithm == coll.ByNVLS:
		return ranks
	case c.Algorithm == coll.ByNVLSTree: // twice nvls and two trees, piece by piece
		return 6 * ranks * min(coll.TreePieces, tree/(2*per)+1)
	case c.Algorithm == coll.ByHalving:
		return 2 * ranks * 20
	case c.Algorithm == coll.ByRails:
		per := max(1, c.PerServer)
		if n%per != 0 { // a number that does not divide evenly runs as a ring
			return rounds * ranks * ranks
		}
		return rounds * ranks * float64(per+n/per)
	}
	return rounds * ranks * ranks * float64(max(1, c.Channels, len(c.Orders))) * pieces
}

// algorithm finds the algorithm for n ranks.
func (c CollectiveRun) algorithm(n int) (run coll.Algorithm, err error) {
	all := Algorithms(c.Kind)
	if c.Algorithm != "" && !slices.Contains(all, c.Algorithm) {
		return nil, field.Choice("algorithm", c.Algorithm, append([]string{"auto"}, all...),
			"%q runs no %v", c.Algorithm, c.Kind)
	}
	ring := false
	switch c.Kind {
	case coll.AllReduce:
		if c.Algorithm == coll.ByNVLS || c.Algorithm == coll.ByNVLSTree {
			run = coll.NVLSTree(c.Switch, c.on()) // within one server it is NVLS
			break
		}
		ring = c.Algorithm == "" || c.Algorithm == coll.ByRing
		if run, err = coll.AllReduceBy(c.Algorithm, n, c.on()); err != nil {
			return nil, field.Under("algorithm", err)
		}
	case coll.ToAll:
		if run, err = coll.AllToAllBy(c.Algorithm, c.on()); err != nil {
			return nil, field.Under("algorithm", err)
		}
	case coll.Bcast:
		run = coll.TreeBroadcast
		if c.Algorithm != coll.ByTree {
			run = coll.FromRoot(coll.Chain, coll.ChainPieces, c.Channels, 0, c.on())
			if c.Chunk == 0 {
				return run, nil
			}
		}
	default:
		if ring = c.Algorithm != coll.ByRails; ring {
			run = coll.Ring(c.Kind)
		} else {
			run = coll.Hierarchical(c.Kind, c.on())
		}
	}
	if !ring && (c.Channels > 1 || c.Chunk > 0) {
		return nil, field.New("algorithm", "channels and chunks are a ring's; found %q", usual(c.Kind, c.Algorithm))
	}
	if c.Chunk > 0 {
		run = coll.Sliced(run, c.Chunk, 8)
	}
	switch {
	case ring && c.Orders != nil:
		run = coll.OnOrders(run, c.Orders)
	case c.Channels > 1:
		run = coll.OnChannels(run, c.Channels, c.on())
	}
	return run, nil
}

// sink returns the receiver of transfers. With a protocol they carry its flags and wait for its synchronisation.
func (c CollectiveRun) sink(b *Builder, ranks int) coll.Sink {
	if c.Protocol == "" {
		return b
	}
	p := &protocol{Builder: b, name: c.Protocol, by: c.Algorithm, on: c.on(), rate: c.CopyRate}
	if c.Algorithm == coll.ByNVLS {
		p.fill = coll.NVLSFill(c.Switch, ranks, c.Bytes)
	}
	return p
}

// protocol adds the costs of NCCL's protocols. LL sends a flag with every word, and LL128 with every 120 bytes.
// Each hop has the tuning model's latency beyond LL's, which is the wire's. Kernels copy words and flags at a
// limited rate.
type protocol struct {
	*Builder
	name string
	by   string
	on   coll.Servers
	rate float64    // GB/s; 0: no bound
	fill unit.Bytes // fill of NVLS's pipeline, for each transfer
}

// Transfer makes protocol a coll.Sink.
func (p *protocol) Transfer(src, dst int, bytes unit.Bytes, after ...int32) int32 {
	local := p.on.Of(src) == p.on.Of(dst)
	wait, wire := coll.ProtocolCost(p.name, local)
	if p.by == coll.ByNVLS || p.by == coll.ByNVLSTree {
		wait = coll.NVLSCost(p.by, local)
	}
	d := unit.Time(wait * float64(unit.Microsecond))
	if d > 0 {
		after = []int32{p.Compute(src, d, Other, after...)}
	}
	if p.rate > 0 && (local || p.by != coll.ByNVLSTree) {
		after = []int32{p.Copy(src, unit.Time(float64(bytes)/p.rate*float64(unit.Nanosecond)), after...)}
	}
	return p.Builder.Transfer(src, dst, unit.Bytes(float64(bytes)*wire+0.5)+p.fill, after...)
}
