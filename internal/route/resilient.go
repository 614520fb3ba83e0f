package route

import (
	"slices"

	"railyard/param"
)

// Resilient is ECMP whose groups are tables of buckets: a flow's hash picks a bucket, and when one of a
// group's ports goes only its buckets are given to others, in turn. Flows on ports that work stay where they
// are, and those of a port that comes back return to it (Broadcom's resilient hashing, SONiC's fine-grained
// ECMP, Linux's resilient next-hop groups). Where all works it hashes as ECMP does, if the number of ports
// divides that of buckets.
var Resilient = Policy{
	Name: "ecmp-resilient", Title: "ECMP with resilient hashing",
	Params: []param.Param{{Name: "buckets", Kind: param.Count, Min: "1", Max: "4096",
		Doc: "resilient hashing: buckets of a group, at least as many as it has ports"}},
	Defaults: param.Values{"buckets": 128},
	DLB:      "resilient",
	Buckets:  func(v param.Values) int { return param.Value[int](v, "buckets") },
	New:      func(_ param.Values, s Site) Chooser { return &ecmp{seed: s.Seed} },
}

// Refill is a group as a table of buckets: whole are the ports that it has when all works, each as often
// as its share says, live those that it has now.
func Refill(whole, live []int32, buckets int) []int32 {
	for _, p := range live {
		if !slices.Contains(whole, p) {
			whole = live // other ways than it had: nothing to keep
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
