package deadlock

import (
	"encoding/binary"
	"slices"
)

// merge keeps, of parallel cables that are in the same sets of next links and have the same levels, the first: a
// cycle through one of them is a cycle through any. A torus of 131,072 GPUs has 16 cables between neighbors.
func (f *finder) merge() {
	keys := map[int32][]byte{}      // by directed cable of a node: the sets that it is in
	last := make([]int, len(f.out)) // by node: the last node with a cable to it, from 1
	for n, out := range f.out {
		parallel := false
		for i, d := range out {
			f.first[d], f.place[d] = d, int32(i)
			parallel = parallel || last[f.to(d)] == n+1
			last[f.to(d)] = n + 1
		}
		if parallel {
			clear(keys)
			for set := range f.sets[n] {
				for _, d := range f.sets[n][set].cables {
					keys[d] = binary.LittleEndian.AppendUint32(keys[d], uint32(set))
				}
			}
			f.out[n] = f.firsts(out, keys)
		}
		for set := range f.sets[n] {
			f.count(&f.sets[n][set], len(f.out[n]))
		}
	}
}

// firsts returns the first cables of a node's with the same key.
func (f *finder) firsts(out []int32, keys map[int32][]byte) (kept []int32) {
	first := map[string]int32{}
	for _, d := range out {
		key := string(f.alike(keys[d], d))
		one, known := first[key]
		if !known {
			one, first[key] = d, d
			f.place[d] = int32(len(kept))
			kept = append(kept, d)
		}
		f.first[d], f.place[d] = one, f.place[one]
	}
	return kept
}

// alike appends to a key where a cable leads, and what classes and pauses make of it.
func (f *finder) alike(key []byte, d int32) []byte {
	key = binary.LittleEndian.AppendUint32(key, uint32(f.to(d)))
	for level := range f.levels {
		key = binary.LittleEndian.AppendUint32(key, uint32(f.after(d, level)))
	}
	for state := range f.states {
		key = binary.LittleEndian.AppendUint32(key, uint32(f.level(state, d)))
	}
	if f.pauses(d) {
		key = append(key, 1)
	}
	return key
}

// count sets a way's cables to the kept ones, and their bits.
func (f *finder) count(w *way, places int) {
	w.cables = slices.DeleteFunc(w.cables, func(d int32) bool { return f.first[d] != d })
	w.bits = make([]uint64, (places+63)/64)
	for _, d := range w.cables {
		w.bits[f.place[d]>>6] |= 1 << (f.place[d] & 63)
	}
}
