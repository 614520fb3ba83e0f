package trace

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ringOf parses a rank's line about a ring: Ring 00 : 7 -> 0 -> 1. It belongs to the communicator that the process
// began last.
func (x *ncclLog) ringOf(p *ncclProc, words []string) {
	me, err1 := strconv.Atoi(words[5])
	next, err2 := strconv.Atoi(words[7])
	if c := x.latest(p, me); c != nil && len(words[1]) <= 3 && err1 == nil && err2 == nil && next >= 0 &&
		next < c.size {
		if c.next[words[1]] == nil {
			c.next[words[1]] = map[int]int{}
		}
		c.next[words[1]][me] = next
	}
}

// ring parses a complete ring, as rank 0 logs it: Channel 00/08 : 0 1 2 3.
func (x *ncclLog) ring(p *ncclProc, words []string) {
	channel, all, _ := strings.Cut(words[1], "/")
	of, err := strconv.Atoi(all)
	if err != nil || of < 1 || of > maxChannels || len(channel) > 3 {
		return
	}
	var ring []int
	seen := map[int]bool{}
	for _, w := range words[3:] {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || seen[n] {
			return // a channel's path: 0[0] -> 1[1] via P2P
		}
		seen[n], ring = true, append(ring, n)
	}
	if c := x.latest(p, -1); c != nil && len(ring) == c.size && slices.Max(ring) == c.size-1 {
		c.rings[channel], c.of = ring, of
	}
}

// maxChannels is the largest number of channels in NCCL.
const maxChannels = 64

// orders are the orders of ranks in rings, equal ones once; nil: some are missing, or incomplete.
func (c *ncclComm) orders() (all [][]int) {
	for _, channel := range slices.Sorted(maps.Keys(c.next)) {
		if c.rings[channel] != nil {
			continue
		}
		ring := []int{0}
		for len(ring) < c.size {
			next, ok := c.next[channel][ring[len(ring)-1]]
			if !ok || slices.Contains(ring, next) {
				return nil
			}
			ring = append(ring, next)
		}
		c.rings[channel] = ring
	}
	if len(c.rings) < c.of || len(c.rings) > maxChannels {
		return nil
	}
	for _, channel := range slices.Sorted(maps.Keys(c.rings)) {
		ring := c.rings[channel]
		if !slices.ContainsFunc(all, func(r []int) bool { return slices.Equal(r, ring) }) {
			all = append(all, ring)
		}
	}
	return all
}
