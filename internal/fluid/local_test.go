package fluid

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"railyard/unit"
)

// TestLocal starts, moves, stops and ends random flows. Each change sets the rates of some flows only; all rates
// must equal those of filling all links together, and links must carry the sum of their flows.
func TestLocal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		links := rapid.IntRange(1, 10).Draw(t, "links")
		rates := make([]float64, links)
		for i := range rates {
			rates[i] = float64(rapid.IntRange(0, 20).Draw(t, "rate")) / 1000
		}
		n := New(rates)
		booked := make([]float64, links)
		n.Booked = func(link int32, from, to unit.Time, rate float64) { booked[link] += rate * float64(to-from) }
		if rapid.Bool().Draw(t, "yields") {
			n.Own = 1
			n.Yield = func(link int32, asked float64) float64 { return 1 / (1 + asked) }
		}
		// flows, and their bytes when they were put on their links
		under, had := map[int32]bool{}, map[int32]float64{}
		sent := make([]float64, links)
		now := unit.Time(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch {
			case rapid.IntRange(0, 3).Draw(t, "what") > 0 || len(under) == 0:
				var uses []Use
				for l := range links {
					if rapid.IntRange(0, 2).Draw(t, "crosses") == 0 {
						uses = append(uses, Use{Link: int32(l), Share: float64(rapid.IntRange(1, 2).Draw(t, "share")) / 2})
					}
				}
				if len(uses) == 0 {
					continue
				}
				weight := float64(rapid.IntRange(1, 2).Draw(t, "weight"))
				at := n.Start(now, 0, 1e6, weight, uses)
				under[at], had[at] = true, 1e6
			case rapid.Bool().Draw(t, "stop"):
				for at := range int32(len(n.flows)) {
					if under[at] {
						uses := n.flows[at].uses
						if rapid.Bool().Draw(t, "move") {
							n.Move(now, at, []Use{{Link: int32(rapid.IntRange(0, links-1).Draw(t, "to")), Share: 1}})
							left := max(0, n.flows[at].left)
							for _, u := range uses {
								sent[u.Link] += (had[at] - left) * u.Share
							}
							had[at] = left
							break
						}
						left := n.Stop(now, at)
						for _, u := range uses {
							sent[u.Link] += (had[at] - left) * u.Share
						}
						delete(under, at)
						break
					}
				}
			default:
				if at, flow := n.Next(now + 50*unit.Microsecond); flow {
					uses := n.flows[n.ends[0].Then].uses
					_, number, _ := n.End()
					for _, u := range uses {
						sent[u.Link] += had[number] * u.Share
					}
					delete(under, number)
					now = at
				} else {
					now = at
				}
			}
			n.Next(now) // settles nothing at this time
			n.refill()
			want := whole(n)
			for at := range under {
				if got := n.flows[at].rate; math.Abs(got-want[at]) > 1e-9*(got+want[at])+1e-15 {
					t.Fatalf("flow %d has %g, filling all links gives %g", at, got, want[at])
				}
			}
			for l := range links {
				sum := 0.0
				for _, s := range n.on[l] {
					sum += n.flows[s.flow].rate * n.flows[s.flow].uses[s.use].Share
				}
				if math.Abs(sum-n.load[l]) > 1e-12 || sum > n.most[l]*(1+1e-8) {
					t.Fatalf("link %d carries %g by its flows, %g by its load, %g at most", l, sum, n.load[l], n.most[l])
				}
			}
		}
		for at := range int32(len(n.flows)) {
			if under[at] {
				uses := n.flows[at].uses
				left := n.Stop(now, at)
				for _, u := range uses {
					sent[u.Link] += (had[at] - left) * u.Share
				}
			}
		}
		n.Book(now)
		for l := range links {
			if math.Abs(booked[l]-sent[l]) > 1e-6*(1+sent[l]) {
				t.Fatalf("link %d carried %g bytes by its loads, %g by its flows", l, booked[l], sent[l])
			}
		}
	})
}

// whole fills all links at once.
func whole(n *Net) map[int32]float64 {
	rate, left := map[int32]float64{}, append([]float64(nil), n.most...)
	for {
		best, at := math.Inf(1), -1
		for l := range left {
			sum := 0.0
			for _, s := range n.on[l] {
				if _, has := rate[s.flow]; !has {
					sum += n.flows[s.flow].weight * n.flows[s.flow].uses[s.use].Share
				}
			}
			if sum > 0 && max(0, left[l])/sum < best {
				best, at = max(0, left[l])/sum, l
			}
		}
		if at < 0 {
			return rate
		}
		for _, s := range n.on[at] {
			if _, has := rate[s.flow]; has {
				continue
			}
			f := &n.flows[s.flow]
			rate[s.flow] = best * f.weight
			for _, u := range f.uses {
				left[u.Link] -= rate[s.flow] * u.Share
			}
		}
	}
}
