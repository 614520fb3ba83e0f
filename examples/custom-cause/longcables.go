// Package longcables adds a cause of lost time to Railyard: propagation over cables of more than 300 m, as between
// halls and buildings. Railyard's own cause "latency" also has switches, NICs and short cables, which no other placement
// shortens.
package longcables

import (
	"fmt"

	"railyard/extend"
	"railyard/unit"
)

// limit is the length of cables within a hall: reach of DR optics in IEEE 802.3 is 500 m, of most halls less.
const limit = 300_000 // mm

func init() {
	extend.AddCause(&extend.Cause{Key: "long_cables", Name: "long cables",
		About: "propagation over cables of more than 300 m, beyond what 300 m take",
		Color: "#2f4a6b", From: "latency", Claim: claim, Evidence: evidence,
		Without: func(*extend.Facts) extend.Change {
			return extend.Change{Says: "no cable longer than 300 m", Cables: shorten}
		},
		Remedies: func(f *extend.Facts) []extend.Change {
			if f.Jobs != 1 {
				return nil
			}
			return []extend.Change{{Says: "hosts of the job in one hall", Needs: "a hall with room for the job",
				Cables: shorten}}
		},
		Advice: "place each job in one hall, or let less traffic cross halls"})
}

// claim is the propagation over the part of cables beyond the limit, each link with the share of packets that it has.
func claim(_ *extend.Facts, m *extend.Message) (lost unit.Time, hop int) {
	hop = -1
	for i := range m.Hops {
		h := &m.Hops[i]
		if h.LengthMM <= limit {
			continue
		}
		more := beyond(h.Cable)
		if lost += unit.Time(h.Share * float64(more)); hop < 0 || more > beyond(m.Hops[hop].Cable) {
			hop = i
		}
	}
	return min(lost, m.Done-m.Posted), hop
}

// beyond is the delay of a cable beyond the limit.
func beyond(c extend.Cable) unit.Time {
	return unit.Time(float64(c.Delay) * (1 - limit/float64(c.LengthMM)))
}

// evidence names the longest cable.
func evidence(m *extend.Message, hop int) string {
	if hop < 0 {
		return "on other messages"
	}
	h := &m.Hops[hop]
	return fmt.Sprintf("%d m from %s to %s", h.LengthMM/1000, h.From, h.To)
}

// shorten gives a cable the limit's length and delay.
func shorten(c *extend.Cable) {
	if c.LengthMM > limit {
		c.Delay -= beyond(*c)
		c.LengthMM = limit
	}
}
