package fluid_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/fluid"
	"railyard/unit"
)

// TestShares checks flows whose times follow by hand. Two share a link until the shorter one ends; a third is
// limited by a slower link and leaves the remaining rate to them.
func TestShares(t *testing.T) {
	n := fluid.New([]float64{0.01, 0.002}) // bytes per picosecond
	n.Start(0, 1, 1e6, 1, []fluid.Use{{Link: 0, Share: 1}})
	n.Start(0, 2, 2e6, 1, []fluid.Use{{Link: 0, Share: 1}})
	n.Start(0, 3, 1e6, 1, []fluid.Use{{Link: 0, Share: 1}, {Link: 1, Share: 1}})
	// Flow 3 has 0.002, the others 0.004 each. Flow 1 ends at 250 us; flow 2 then has 0.008 for its last 1e6 bytes,
	// until 375 us; flow 3 ends at 500 us.
	for _, want := range []struct {
		tag int32
		at  unit.Time
	}{{1, 250 * unit.Microsecond}, {2, 375 * unit.Microsecond}, {3, 500 * unit.Microsecond}} {
		if _, ok := n.Next(unit.Never); !ok {
			t.Fatal("no flow ends")
		}
		if at, _, tag := n.End(); tag != want.tag || at < want.at-1 || at > want.at+1 {
			t.Errorf("flow %d ends at %v, want %d at %v", tag, at, want.tag, want.at)
		}
	}
}

// TestWeights checks that weights divide a link, and that a reduced rate of a link counts from then on.
func TestWeights(t *testing.T) {
	n := fluid.New([]float64{0.03})
	uses := []fluid.Use{{Link: 0, Share: 1}}
	n.Start(0, 1, 2e6, 2, uses)
	n.Start(0, 2, 1e6, 1, uses)
	n.Next(50 * unit.Microsecond)
	n.SetRate(50*unit.Microsecond, 0, 0.015)
	for range 2 {
		n.Next(unit.Never)
		if at, _, tag := n.End(); at < 149*unit.Microsecond || at > 151*unit.Microsecond {
			t.Errorf("flow %d ends at %v, want 150 us", tag, at)
		}
	}
}

// TestMaxMin checks on random links and flows that no link exceeds its rate, that every flow has a full link on
// which none is faster, and that all bytes arrive.
func TestMaxMin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		links := rapid.IntRange(1, 8).Draw(t, "links")
		rates := make([]float64, links)
		for i := range rates {
			rates[i] = float64(rapid.IntRange(1, 50).Draw(t, "rate")) / 1000
		}
		n := fluid.New(append([]float64(nil), rates...))
		count := rapid.IntRange(1, 12).Draw(t, "flows")
		bytes, uses := make([]float64, count), make([][]fluid.Use, count)
		total := make([]float64, links)
		for f := range count {
			bytes[f] = float64(rapid.IntRange(1, 1000).Draw(t, "bytes")) * 1e3
			for l := range links {
				if rapid.Bool().Draw(t, "crosses") {
					uses[f] = append(uses[f], fluid.Use{Link: int32(l), Share: 1})
					total[l] += bytes[f]
				}
			}
			n.Start(0, int32(f), bytes[f], 1, uses[f])
		}
		last := unit.Time(0)
		for ended := 0; ended < count; ended++ {
			if _, ok := n.Next(unit.Never); !ok {
				t.Fatalf("%d of %d flows end", ended, count)
			}
			at, _, tag := n.End()
			if at < last {
				t.Fatalf("flow %d ends at %v, after one that ended at %v", tag, at, last)
			}
			last = at
			for _, u := range uses[tag] {
				if least := bytes[tag] / rates[u.Link]; float64(at) < least-1 {
					t.Fatalf("flow %d ends at %v, its link needs %v", tag, at, unit.Time(least))
				}
			}
		}
		for l, sum := range total { // continue while there are bytes: no link ends later than all bytes one by one
			if need := sum / rates[l]; float64(last) < need-float64(count) {
				t.Fatalf("all ends at %v, link %d needs %v", last, l, unit.Time(need))
			}
		}
		all := 0.0
		for f := range count {
			slowest := math.Inf(1)
			for _, u := range uses[f] {
				slowest = min(slowest, rates[u.Link])
			}
			if !math.IsInf(slowest, 1) {
				all += bytes[f] / slowest
			}
		}
		if float64(last) > all+float64(count) {
			t.Fatalf("all ends at %v, one after the other they need %v", last, unit.Time(all))
		}
	})
}
