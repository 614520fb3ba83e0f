package explain

import (
	"slices"
	"testing"

	"railyard/roce"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Packets that are let through by whole cycles arrive when they would one by one, over stages of any rates and numbers
// of ports, with slow PCIe at either end.
func TestTurnsAreThePacketsOneByOne(t *testing.T) {
	skipped := 0
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) *way {
			w := &way{cut: rapid.Bool().Draw(t, "cut-through")}
			for range rapid.IntRange(1, 5).Draw(t, "stages") {
				ports := rapid.SampledFrom([]int{1, 1, 2, 3, 4, 8}).Draw(t, "ports")
				w.path = append(w.path, stage{ports: ports, side: ports, alike: rapid.Bool().Draw(t, "alike"),
					rate: unit.Rate(rapid.SampledFrom([]int{25, 100, 200, 400}).Draw(t, "Gbit/s")) * unit.Gbps,
					hop:  unit.Time(rapid.IntRange(0, 2000).Draw(t, "ns")) * unit.Nanosecond})
				w.free = append(w.free, make([]unit.Time, ports))
			}
			w.pcie = unit.Rate(rapid.SampledFrom([]int{0, 0, 30, 250}).Draw(t, "PCIe out")) * unit.Gbps
			w.into = unit.Rate(rapid.SampledFrom([]int{0, 0, 30, 250}).Draw(t, "PCIe in")) * unit.Gbps
			w.last = make([]unit.Time, len(w.path))
			return w
		}
		one := draw("way")
		two := *one
		two.free, two.last = nil, slices.Clone(one.last)
		for _, f := range one.free {
			two.free = append(two.free, slices.Clone(f))
		}
		n := rapid.IntRange(1, 3000).Draw(t, "packets")
		size := one.size(roce.WriteMiddle, 4096)
		for range n {
			one.send(size, 4096)
		}
		turns := two.newTurns(size, 4096)
		for left := n; left > 0; left-- {
			k := turns.skip(left)
			skipped, left = skipped+k, left-k
			two.send(size, 4096)
		}
		var a, b []unit.Time
		one.times(func(x *unit.Time) { a = append(a, *x) })
		two.times(func(x *unit.Time) { b = append(b, *x) })
		if !slices.Equal(a, b) {
			t.Fatalf("one by one %v, in turns %v", a, b)
		}
	})
	if skipped == 0 {
		t.Error("none were let through by cycles")
	}
}
