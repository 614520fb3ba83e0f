package route

import "railyard/param"

// DimensionOrder sends packets of a torus along the first dimension until the coordinate is reached, then along the
// second and the third (topo.Graph.Ordered). Parallel cables and sides of equal length are selected by hash. The
// class rises after the link that closes a ring and falls back when a packet leaves the ring, so that pauses cannot
// deadlock (Dally and Seitz 1987; docs/references.md, deadlock-free).
var DimensionOrder = Policy{
	Name: "dimension-order", Title: "dimension order",
	New: func(_ param.Values, s Site) Chooser { return &ordered{ecmp{seed: s.Seed}} },
}

// ordered hashes among the ports of the tables.
type ordered struct{ ecmp }

func (*ordered) Ordered() {}

func (*ordered) Classes(bool) int { return 2 }

func (*ordered) Rises(bool) string { return "after the cable that closes a ring" }
