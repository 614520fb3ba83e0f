package deadlock

import (
	"encoding/binary"
	"slices"
)

// Rings are looked for twice. A switch's buffers usually wait for one of few sets of other buffers, so a graph of
// buffers and sets has few edges. A graph of buffers alone has quadratically many: at a spine, the data of each
// leaf wait for all other leaves. There the leaf is counted in, which can only add rings. The remaining ones are
// checked edge by edge.

// tries is from how many buffers a short ring is looked for.
const tries = 256

// ring finds a short ring.
func (f *finder) ring() []Buffer {
	inside := make([]bool, len(f.turns))
	mark := func(suspects []int32) {
		clear(inside)
		for _, b := range suspects {
			inside[b] = true
		}
	}
	suspects := f.components(f.coarse())
	if mark(suspects); suspects != nil {
		suspects = f.components(f.exact(suspects, inside))
		mark(suspects)
	}
	var best []int32
	for _, b := range suspects[:min(tries, len(suspects))] {
		best = f.shortest(b, inside, best)
	}
	var ring []Buffer
	for _, b := range best {
		d := b / int32(f.levels)
		ring = append(ring, Buffer{Link: int(d / 2), From: f.from(d), Level: int(b) % f.levels})
	}
	return ring
}

// coarse is the graph with sets: buffers first, then sets.
func (f *finder) coarse() (next [][]int32) {
	next = make([][]int32, len(f.turns))
	sets := map[string]int32{}
	seen := map[string]int{} // number of buffers by their waiting set, with the reverse direction included
	for b := range f.turns {
		if f.turns[b] != nil {
			seen[f.key(int32(b), true)]++
		}
	}
	for b := range f.turns {
		if f.turns[b] == nil {
			continue
		}
		back := seen[f.key(int32(b), true)] > 1
		key := f.key(int32(b), back)
		s, known := sets[key]
		if !known {
			s = int32(len(next))
			sets[key] = s
			var waits []int32
			f.each(int32(b), func(n int32) { waits = append(waits, n) })
			if back {
				waits = append(waits, f.back(int32(b)))
			}
			next = append(next, waits)
		}
		next[b] = []int32{s}
	}
	return next
}

// exact is the graph of some buffers, edge by edge.
func (f *finder) exact(buffers []int32, inside []bool) (next [][]int32) {
	next = make([][]int32, len(f.turns))
	for _, b := range buffers {
		f.each(b, func(n int32) {
			if inside[n] {
				next[b] = append(next[b], n)
			}
		})
	}
	return next
}

// back returns the buffer at the same link in the reverse direction.
func (f *finder) back(b int32) int32 {
	d := b / int32(f.levels)
	back := f.first[d^1]
	return f.buffer(back, f.level(f.after(d, int(b)%f.levels), back))
}

// key identifies the set of buffers that a buffer waits for, with or without the reverse direction.
func (f *finder) key(b int32, back bool) string {
	d := b / int32(f.levels)
	words := slices.Clone(f.turns[b])
	if p := f.place[d^1]; back {
		words[p>>6] |= 1 << (p & 63)
	}
	key := binary.LittleEndian.AppendUint32(nil, uint32(f.to(d)))
	key = append(key, byte(f.after(d, int(b)%f.levels)))
	for _, w := range words {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return string(key)
}

// components returns the buffers on some cycle of a graph, or nil: those in strongly connected components of several
// nodes (Tarjan 1972, with an explicit stack).
func (f *finder) components(next [][]int32) (buffers []int32) {
	const none = -1
	index := make([]int32, len(next))
	low := make([]int32, len(next))
	on := make([]bool, len(next))
	for i := range index {
		index[i] = none
	}
	type frame struct {
		node int32
		edge int
	}
	var stack []int32
	var calls []frame
	count := int32(0)
	enter := func(n int32) {
		index[n], low[n] = count, count
		count++
		stack, on[n] = append(stack, n), true
		calls = append(calls, frame{node: n})
	}
	for root := range next {
		if index[root] != none {
			continue
		}
		enter(int32(root))
		for len(calls) > 0 {
			c := &calls[len(calls)-1]
			n := c.node
			if c.edge < len(next[n]) {
				m := next[n][c.edge]
				c.edge++
				if index[m] == none {
					enter(m)
				} else if on[m] {
					low[n] = min(low[n], index[m])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].node
				low[up] = min(low[up], low[n])
			}
			if low[n] != index[n] {
				continue
			}
			from := len(stack) - 1
			for stack[from] != n {
				from--
			}
			if len(stack)-from > 1 {
				for _, m := range stack[from:] {
					if int(m) < len(f.turns) {
						buffers = append(buffers, m)
					}
				}
			}
			for _, m := range stack[from:] {
				on[m] = false
			}
			stack = stack[:from]
		}
	}
	slices.Sort(buffers)
	return buffers
}

// shortest returns a shortest cycle through a buffer within inside, if it is shorter than best.
func (f *finder) shortest(from int32, inside []bool, best []int32) []int32 {
	came := map[int32]int32{from: from}
	level := []int32{from}
	for depth := 1; len(level) > 0 && (best == nil || depth < len(best)); depth++ {
		var further []int32
		for _, b := range level {
			closed := false
			f.each(b, func(n int32) {
				if n == from {
					closed = true
				} else if _, known := came[n]; !known && inside[n] {
					came[n] = b
					further = append(further, n)
				}
			})
			if closed {
				ring := []int32{b}
				for b != from {
					b = came[b]
					ring = append(ring, b)
				}
				slices.Reverse(ring)
				return ring
			}
		}
		level = further
	}
	return best
}
