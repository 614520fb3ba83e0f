package topo

import (
	"math/bits"
	"slices"
)

// interned is the sets of next switches of one switch, each stored once. A regular fabric has few sets, an
// irregular one up to one per class.
type interned struct {
	sets [][]int32
	at   []int32 // numbers from 1, by hash, or in the next free slot; nil while there are few
}

// few sets are searched linearly.
const few = 8

// find returns the number of a set, and whether it is new.
func (k *interned) find(peers []int32) (set int32, fresh bool) {
	if k.at == nil {
		for i := len(k.sets) - 1; i >= 0; i-- {
			if slices.Equal(k.sets[i], peers) {
				return int32(i), false
			}
		}
		if k.sets = append(k.sets, slices.Clone(peers)); len(k.sets) > few {
			k.spread()
		}
		return int32(len(k.sets) - 1), true
	}
	if set = k.put(peers, int32(len(k.sets))); int(set) < len(k.sets) {
		return set, false
	}
	if k.sets = append(k.sets, slices.Clone(peers)); 2*len(k.sets) > len(k.at) {
		k.spread()
	}
	return set, true
}

// spread puts all sets in a table of four times as many slots.
func (k *interned) spread() {
	k.at = make([]int32, 4<<bits.Len(uint(len(k.sets))))
	for i, s := range k.sets {
		k.put(s, int32(i))
	}
}

// put returns the existing number of a set; a new set gets the given number.
func (k *interned) put(peers []int32, number int32) int32 {
	h := uint64(14695981039346656037) // FNV-1a, a word at a time
	for _, p := range peers {
		h = (h ^ uint64(uint32(p))) * 1099511628211
	}
	for h ^= h >> 32; ; h++ {
		at := &k.at[h&uint64(len(k.at)-1)]
		switch {
		case *at == 0:
			*at = number + 1
			return number
		case slices.Equal(k.sets[*at-1], peers):
			return *at - 1
		}
	}
}

// intern numbers a switch's set of next switches and stores the links to them; -1 is none. The set is often the
// previous one.
func (r *Routes) intern(net *mesh, n, before int32, peers []int32) int32 {
	known := &net.known[n]
	switch {
	case len(peers) == 0:
		return -1
	case before >= 0 && int(before) < len(known.sets) && slices.Equal(known.sets[before], peers):
		return before
	}
	set, fresh := known.find(peers)
	if fresh {
		links := make([]int, 0, len(peers))
		for _, x := range net.exits[n] {
			if _, ok := slices.BinarySearch(peers, int32(x.Peer)); ok {
				links = append(links, x.Link)
			}
		}
		r.sets[n] = append(r.sets[n], links)
	}
	return set
}
