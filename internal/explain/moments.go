package explain

import (
	"slices"
	"sort"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// momentsOf sets the time at which to inspect each collective: after the start of the transfer that lost most, the
// sample in which the port with the largest loss had its longest queue, or was paused longest if pauses are the largest
// cause. Where neither was, it is the sample in which the port sent most. The start alone is no such time: for traffic
// without a delay it is 0.
func (r *reading) momentsOf(t *result.Tables) {
	byPort := map[int32][]*result.LinkRow{}
	for i := range t.Collectives {
		if p := t.Collectives[i].Port; p >= 0 {
			byPort[p] = nil
		}
	}
	for i := range t.Links {
		if l := &t.Links[i]; l.Port >= 0 {
			if list, asked := byPort[l.Port]; asked {
				byPort[l.Port] = append(list, l)
			}
		}
	}
	for _, list := range byPort {
		slices.SortStableFunc(list, func(a, b *result.LinkRow) int { return int(a.Start - b.Start) })
	}
	for i := range t.Collectives {
		c := &t.Collectives[i]
		list := byPort[c.Port]
		if c.Port < 0 || len(list) == 0 {
			continue
		}
		paused := mostlyPaused(&c.Lost)
		first := sort.Search(len(list), func(i int) bool { return list[i].Start+list[i].Length > c.At })
		var top *result.LinkRow
		for _, l := range list[first:] {
			if l.Start >= c.End {
				break
			}
			if top == nil || fuller(l, top, paused) {
				top = l
			}
		}
		if top != nil {
			c.At = min(max(top.Start+top.Length/2, c.At), c.End)
		}
	}
}

// mostlyPaused reports whether pauses, with the reaction to them, are the largest cause of an account.
func mostlyPaused(a *cause.Account) bool {
	return !slices.ContainsFunc(cause.All(), func(c *cause.Cause) bool {
		return c.Loss && c.ID != cause.Pause && c.ID != cause.Recovering && a.Costs(c.ID) >= a.Costs(cause.Pause)
	})
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
