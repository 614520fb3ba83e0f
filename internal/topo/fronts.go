package topo

import (
	"encoding/binary"
	"math"
	"slices"
)

// Fronts follows all shortest paths in parallel: from a set of switches (a front) to the next, hop by hop. Fronts are
// numbered, and a hop is found once for all destinations of a class: in a Clos of thousands of NICs there are few.
type Fronts struct {
	routes *Routes
	unlike [][]int // by locator: the switches whose route differs from its class, in order
	number map[string]int32
	all    []front
	weight func(link, from int) float64
	hops   map[hopKey]*Hop
}

// front is a set of switches in the order of their links, with the share of the bytes at each.
type front struct {
	nodes  []int
	shares []float64
	sorted []int
	hops   []*Hop // next hops from it
}

type hopKey struct {
	front int32
	to    int32 // class of the destination or, inverted, its locator, if it is routed differently from its class
}

// Hop is the links over which bytes at a front continue, in order. Each has the switch that it leaves, and the
// share of the bytes by its weight. Next is the front they lead to. Without links there is no path, or the
// destination is reached.
type Hop struct {
	Links, From []int
	Shares      []float64
	Next        int32
}

// Fronts returns a Fronts for the routes, along which each switch spreads bytes evenly over its links.
func (r *Routes) Fronts() *Fronts { return r.Weighted(func(int, int) float64 { return 1 }) }

// Weighted returns a Fronts along which each switch spreads bytes over its links by their weights, all above 0.
func (r *Routes) Weighted(weight func(link, from int) float64) *Fronts {
	f := &Fronts{routes: r, weight: weight, unlike: make([][]int, len(r.class)), number: map[string]int32{},
		hops: map[hopKey]*Hop{}}
	for n, apart := range r.apart { // in order of n
		for _, x := range apart {
			f.unlike[x.loc] = append(f.unlike[x.loc], n)
		}
	}
	return f
}

// At returns the number of a front. Shares are the shares of the bytes at each switch.
func (f *Fronts) At(nodes []int, shares []float64) int32 {
	key := make([]byte, 0, 12*len(nodes))
	for i, n := range nodes {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(shares[i]))
	}
	at, ok := f.number[string(key)]
	if !ok {
		at = int32(len(f.all))
		f.number[string(key)] = at
		f.all = append(f.all, front{nodes: nodes, shares: shares, sorted: slices.Sorted(slices.Values(nodes))})
	}
	return at
}

// Nodes returns the switches of a front. The result must not be changed.
func (f *Fronts) Nodes(at int32) []int { return f.all[at].nodes }

// To returns the hop from a front towards a locator. All locators with equal links share one hop.
func (f *Fronts) To(at int32, loc int) *Hop {
	if loc < 0 {
		return &Hop{}
	}
	k := hopKey{at, f.routes.class[loc]}
	if slices.ContainsFunc(f.unlike[loc], func(n int) bool {
		_, here := slices.BinarySearch(f.all[at].sorted, n)
		return here
	}) {
		k.to = ^int32(loc)
	}
	h, ok := f.hops[k]
	if !ok {
		h = f.find(at, loc)
		f.hops[k] = h
	}
	return h
}

// find creates a hop, unless the front already has it for other locators.
func (f *Fronts) find(at int32, loc int) *Hop {
	here, h := &f.all[at], &Hop{}
	for i, n := range here.nodes {
		next, sum := f.routes.Next(n, loc), 0.0
		for _, l := range next {
			sum += f.weight(l, n)
		}
		for _, l := range next {
			h.Links, h.From = append(h.Links, l), append(h.From, n)
			h.Shares = append(h.Shares, here.shares[i]*f.weight(l, n)/sum)
		}
	}
	for _, known := range here.hops {
		if slices.Equal(known.Links, h.Links) && slices.Equal(known.From, h.From) {
			return known
		}
	}
	here.hops = append(here.hops, h)
	place := map[int]int{}
	var nodes []int
	var shares []float64
	for i, l := range h.Links {
		peer := f.routes.graph.Links[l].A + f.routes.graph.Links[l].B - h.From[i]
		p, ok := place[peer]
		if !ok {
			p = len(nodes)
			place[peer], nodes, shares = p, append(nodes, peer), append(shares, 0)
		}
		shares[p] += h.Shares[i]
	}
	h.Next = f.At(nodes, shares)
	return h
}
