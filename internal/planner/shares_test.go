package planner

import (
	"testing"

	"pgregory.net/rapid"
)

// A matrix of pairs: silent and carrying shares are those of all ordered pairs of different ranks, and its cells
// contain every byte at any resolution.
func TestSharesOfPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := &Traffic{Ranks: rapid.IntRange(1, 20).Draw(t, "ranks")}
		carrying := [Kinds]int{}
		total := 0.0
		for src := range x.Ranks {
			for dst := range x.Ranks {
				if src == dst || rapid.IntRange(0, 4).Draw(t, "sends") > 0 {
					continue
				}
				p := Pair{Src: src, Dst: dst}
				kind := rapid.IntRange(0, Kinds-1).Draw(t, "kind")
				p.Bytes[kind] = rapid.Int64Range(1, 1e12).Draw(t, "bytes")
				carrying[kind]++
				total += float64(p.Total())
				x.Pairs = append(x.Pairs, p)
			}
		}
		all := max(1, float64(x.Ranks)*float64(x.Ranks-1))
		sum := 0.0
		for kind, n := range carrying {
			near(t, KindNames[kind], x.Carriers(kind), float64(n)/all)
			sum += x.Carriers(kind)
		}
		if x.Ranks > 1 {
			near(t, "silent and carrying pairs", x.Silent()+sum, 1)
		} else if x.Silent() != 0 {
			t.Errorf("one rank alone is silent to %g", x.Silent())
		}
		side := rapid.IntRange(1, 25).Draw(t, "cells")
		cells, per := x.Cells(side, Kinds)
		if len(cells) > side || len(cells)*per < x.Ranks || (len(cells)-1)*per >= x.Ranks {
			t.Fatalf("%d cells of %d for %d ranks, %d asked", len(cells), per, x.Ranks, side)
		}
		held := 0.0
		for _, row := range cells {
			for _, b := range row {
				held += b
			}
		}
		near(t, "bytes in cells", held, total)
	})
}
