package route

import (
	"slices"

	"railyard/param"
)

// Resilient is ECMP whose groups are tables of buckets: a flow's hash picks a bucket. When one of a group's ports
// fails, only its buckets are assigned to other ports, in turn. Flows on working ports keep their ports, and the
// flows of a repaired port return to it (Broadcom's resilient hashing, SONiC's fine-grained ECMP, Linux's resilient
// next-hop groups). If all ports work and their number divides the number of buckets, it hashes as ECMP does.
var Resilient = Policy{
	Name: "ecmp-resilient", Title: "ECMP with resilient hashing",
	Params: []param.Param{{Name: "buckets", Kind: param.Count, Min: "1", Max: "4096",
		Doc: "resilient hashing: buckets of a group, at least as many as it has ports"}},
	Defaults: param.Values{"buckets": 128},
	DLB:      "resilient",
	Buckets:  func(v param.Values) int { return param.Value[int](v, "buckets") },
	New:      func(_ param.Values, s Site) Chooser { return &ecmp{seed: s.Seed} },
}

// Refill computes a group as a table of buckets. whole are its ports without failures, each repeated by its share;
// live are its current ports.
func Refill(whole, live []int32, buckets int) []int32 {
	for _, p := range live {
		if !slices.Contains(whole, p) {
			whole = live // the paths have changed, so no bucket is kept
			break
		}
	}
	buckets = max(buckets, len(whole))
	table, turn := make([]int32, buckets), 0
	for b := range table {
		if table[b] = whole[b*len(whole)/buckets]; !slices.Contains(live, table[b]) {
			table[b] = live[turn%len(live)]
			turn++
		}
	}
	return table
}
