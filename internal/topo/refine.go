package topo

// Edge joins two vertices for Refine; what counts for From is the label and the colour of To.
type Edge struct {
	From, To int32
	Label    uint64
}

// Mix is a step of a hash (SplitMix64's finalizer).
func Mix(h uint64, words ...uint64) uint64 {
	for _, w := range words {
		h ^= w + 0x9e3779b97f4a7c15 + h<<6 + h>>2
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// Refine gives vertices that have other neighbours other colours, until no more can be told apart or for at
// most so many rounds. It returns the number of colours.
func Refine(colour []uint64, edges []Edge, rounds int) (kinds int) {
	next := make([]uint64, len(colour))
	kinds = distinct(colour)
	for range rounds {
		clear(next)
		for _, e := range edges {
			next[e.From] += Mix(e.Label, colour[e.To])
		}
		for v := range colour {
			colour[v] = Mix(colour[v], next[v])
		}
		now := distinct(colour)
		if now == kinds {
			break
		}
		kinds = now
	}
	return kinds
}

func distinct(colour []uint64) int {
	seen := make(map[uint64]bool, 64)
	for _, c := range colour {
		seen[c] = true
	}
	return len(seen)
}
