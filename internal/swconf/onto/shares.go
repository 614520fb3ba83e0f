package onto

import (
	"slices"
	"strconv"
	"strings"
)

// lowered puts the classes of a policy whose shares fall before those whose shares rise: a switch takes no
// line with which they would add up to more than all of the port.
func lowered(path []string, run *node, want []*node) []*node {
	if len(path) != 1 || !begins(path[0], "policy-map type queuing") {
		return want
	}
	out := slices.Clone(want)
	slices.SortStableFunc(out, func(a, b *node) int { return min(0, rise(run, a)) - min(0, rise(run, b)) })
	return out
}

// rise is by how many percent a class's share grows.
func rise(run, want *node) int {
	old := find(run.kids, want.text)
	if old == nil {
		return 0
	}
	return share(want) - share(old)
}

// share is the percentage that a class says, 0 where it says none.
func share(class *node) int {
	for _, k := range class.kids {
		if strings.HasPrefix(k.text, "bandwidth ") {
			n, _ := strconv.Atoi(last(k.text))
			return n
		}
	}
	return 0
}
