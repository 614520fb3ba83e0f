package cli

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// meanings are the compiled patterns. Modes are created anew for each configuration, whose commands close over it;
// the meaning of patterns is constant. It is computed once. Patterns are part of the program, so their number is
// bounded. Configurations are read concurrently, so the lists only grow at their heads.
type meanings [1 << 10]atomic.Pointer[meaning]

var (
	commands   meanings // by pattern
	passedOver meanings // by the argument of Skip, within a pattern

	seed = maphash.MakeSeed()
)

// meaning is a pattern, worked out.
type meaning struct {
	key      string
	pattern  string
	no, only bool // accepts "no"; matches nothing else
	nodes    []node
	next     *meaning
}

// meaning returns a key's meaning, which translate computes on first use.
func (all *meanings) meaning(key string, translate func(key string) meaning) *meaning {
	list := &all[maphash.String(seed, key)%uint64(len(all))]
	head := list.Load()
	for m := head; m != nil; m = m.next {
		if m.key == key {
			return m
		}
	}
	m := translate(key)
	m.key, m.next = key, head
	list.CompareAndSwap(head, &m) // the first result is stored; others are dropped
	return &m
}

// translate works out a pattern.
func translate(pattern string) meaning {
	m := meaning{pattern: pattern}
	if rest, ok := strings.CutPrefix(pattern, "[no] "); ok {
		m.no, pattern = true, rest
	} else if rest, ok := strings.CutPrefix(pattern, "no "); ok {
		m.no, m.only, pattern = true, true, rest
	}
	m.nodes = compile(pattern)
	return m
}

// translateSkipped compiles a pattern that is ignored with any following words.
func translateSkipped(pattern string) meaning { return translate("[no] " + pattern + " [ <more...> ]") }
