package route

import (
	"slices"
	"testing"

	"railyard/internal/rng"

	"pgregory.net/rapid"
)

// regions is a table of a switch in region home of n regions. Locator r is region r; later locators are a switch in
// each region.
func regions(home, count int, reachable func(r int) bool) *Table {
	t := NewTable(2 * count)
	t.Home, t.Regions = home, &Regions{Of: make([]int, 2*count)}
	for r := range count {
		t.Regions.Loc = append(t.Regions.Loc, r)
		t.Regions.Of[r], t.Regions.Of[count+r] = r, r
		switch {
		case r == home:
			t.SetAttached(r)
		case reachable(r):
			t.SetGroup(r, []int32{int32(r)})
		}
	}
	return t
}

// An intermediate region is neither the sender's nor the receiver's, nor isolated by a failure. Vias lists each
// region once, and within a region packets take the direct path. A flow keeps its region.
func TestViaIsAnotherRegion(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.IntRange(1, 12).Draw(rt, "regions")
		home := rapid.IntRange(0, count-1).Draw(rt, "home")
		to := rapid.IntRange(0, count-1).Draw(rt, "to")
		cut := rapid.IntRange(-1, count-1).Draw(rt, "cut off")
		perPacket := rapid.Bool().Draw(rt, "per packet")
		v := map[string]any{"per_packet": perPacket}
		site := Site{Seed: rapid.Uint32().Draw(rt, "seed"), Stream: rng.New(1, "valiant")}
		c := Valiant.Make(v, site).(Steerer)
		c.Renew(regions(home, count, func(r int) bool { return r != cut }))
		want := []int{}
		for r := range count {
			if r != home && r != to && r != cut && home != to {
				want = append(want, r)
			}
		}
		if len(want) == 0 {
			want = []int{-1}
		}
		vias := c.Vias(nil, count+to)
		if !slices.Equal(vias, want) {
			rt.Fatalf("from %d to %d, %d cut off: by %v, want %v", home, to, cut, vias, want)
		}
		for range 50 {
			flow := rapid.Uint32().Draw(rt, "flow")
			via := c.Via(0, count+to, flow, nil)
			if !slices.Contains(want, via) {
				rt.Fatalf("from %d to %d by %d, want one of %v", home, to, via, want)
			}
			if again := c.Via(0, count+to, flow, nil); !perPacket && again != via {
				rt.Fatalf("flow %d goes by %d and by %d", flow, via, again)
			}
		}
	})
}

// Each of seven regions is equally likely, for flows and for packets, whichever port the same hash picks there.
func TestViasAreEven(t *testing.T) {
	for _, perPacket := range []bool{false, true} {
		beyond := 0
		for s := range uint64(200) {
			site := Site{Seed: uint32(rng.Mix64(s)), Stream: rng.New(s, "valiant")}
			c := Valiant.Make(map[string]any{"per_packet": perPacket}, site).(Steerer)
			c.Renew(regions(3, 9, func(int) bool { return true }))
			bins, both := make([]int, 7), make([]int, 7*2)
			for i := range uint32(20_000) {
				via := c.Via(0, 9+5, i, nil)
				at := via
				for _, less := range []int{5, 3} {
					if via > less {
						at--
					}
				}
				bins[at]++
				both[2*at+int(c.Pick(0, []int32{0, 1}, 0, i, nil))]++
			}
			if chiSquare(bins) > 22.46 || chiSquare(both) > 34.53 { // 99.9 % at 6 and 13 degrees of freedom
				beyond++
			}
		}
		if beyond > 4 {
			t.Errorf("per packet %v: %d of 200 switches are uneven", perPacket, beyond)
		}
	}
}
