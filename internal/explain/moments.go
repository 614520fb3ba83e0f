package explain

import (
	"slices"
	"sort"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// momentsOf sets the time at which to inspect the place of each row: after the start of the transfer that lost most,
// the sample in which the port with the largest loss had its longest queue, or was paused longest if pauses are the
// leading cause. Where neither was, it is the sample in which the port sent most. The start alone is no such time: for
// traffic without a delay it is 0.
func momentsOf(rows []result.CollectiveRow, links []result.LinkRow) {
	byPort := map[int32][]*result.LinkRow{}
	for i := range rows {
		if p := rows[i].Port; p >= 0 {
			byPort[p] = nil
		}
	}
	for i := range links {
		if l := &links[i]; l.Port >= 0 {
			if list, asked := byPort[l.Port]; asked {
				byPort[l.Port] = append(list, l)
			}
		}
	}
	for _, list := range byPort {
		slices.SortStableFunc(list, func(a, b *result.LinkRow) int { return int(a.Start - b.Start) })
	}
	for i := range rows {
		c := &rows[i]
		list := byPort[c.Port]
		if c.Port < 0 || len(list) == 0 {
			continue
		}
		top, _ := c.Lost.Leading(0)
		paused := top == cause.Pause
		first := sort.Search(len(list), func(i int) bool { return list[i].Start+list[i].Length > c.At })
		var most *result.LinkRow
		for _, l := range list[first:] {
			if l.Start >= c.End {
				break
			}
			if most == nil || fuller(l, most, paused) {
				most = l
			}
		}
		if most != nil {
			c.At = min(max(most.Start+most.Length/2, c.At), c.End)
		}
	}
}

// fuller reports whether more happened in a sample than in another of the same port.
func fuller(a, b *result.LinkRow, paused bool) bool {
	switch {
	case paused && a.Paused != b.Paused:
		return a.Paused > b.Paused
	case a.Longest() != b.Longest():
		return a.Longest() > b.Longest()
	}
	return a.Bytes > b.Bytes
}
