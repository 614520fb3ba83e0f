package cli

import (
	"hash/maphash"
	"sync/atomic"
)

// Modes are made anew for each interface of a text, whose commands close over it; what their patterns mean
// stays the same. It is worked out once: patterns stand in the program, so that there is an end of them.
// Texts are read side by side, so that the lists only grow at their heads.
var (
	compiled [1 << 10]atomic.Pointer[meaning]
	seed     = maphash.MakeSeed()
)

type meaning struct {
	pattern string
	nodes   []node
	next    *meaning
}

// meaningOf is compile, remembered.
func meaningOf(pattern string) []node {
	list := &compiled[maphash.String(seed, pattern)%uint64(len(compiled))]
	head := list.Load()
	for m := head; m != nil; m = m.next {
		if m.pattern == pattern {
			return m.nodes
		}
	}
	m := &meaning{pattern: pattern, nodes: compile(pattern), next: head}
	list.CompareAndSwap(head, m) // who was faster has it, or it is worked out again
	return m.nodes
}
