package result

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestRankPauses ranks a pause of 100 ps by two roots. The one that caused less had more bytes queued and is first.
// Half of the pause is half of the total, and bytes are those of the nearest sample.
func TestRankPauses(t *testing.T) {
	rows := []PauseRootRow{
		{From: 100, To: 200, Port: 0, By: 2, Root: 3, Kind: RootEgress, Time: 40, Bytes: 9000},
		{From: 100, To: 200, Port: 0, By: 2, Root: 2, Kind: RootEgress, Time: 60, Bytes: 1000},
	}
	held := []PauseHeldRow{{At: 90, Port: 3, QP: 1, Bytes: 500}, {At: 140, Port: 3, QP: 0, Bytes: 3000},
		{At: 140, Port: 3, QP: 1, Bytes: 1000}, {At: 900, Port: 3, QP: 2, Bytes: 500},
		{At: 120, Port: 2, QP: 2, Bytes: 70}}
	ports := []PortRow{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	qps := []QPRow{{From: "x", To: "y", Job: "one"}, {From: "z", To: "y", Job: "two"}, {From: "w", To: "y", Job: "one"}}
	p := RankPauses(rows, held, 0, 1000, ports, qps)
	if p.Time != 100 || p.Ports != 1 || p.Count != 2 || p.Roots[0].Name != "d" || p.Roots[0].Time != 40 ||
		p.Roots[1].Bytes != 1000 {
		t.Errorf("roots: %+v", p)
	}
	if f := p.Flows; len(f) != 3 || f[0].From != "x" || f[0].Time != 30 || f[0].Bytes != 3000 || f[1].From != "z" ||
		f[1].Time != 10 || f[2].Time != 60 {
		t.Errorf("flows: %+v", f)
	}
	if j := p.Jobs; len(j) != 2 || j[0].Job != "one" || j[0].Time != 90 {
		t.Errorf("jobs: %+v", j)
	}
	if p := RankPauses(rows, held, 150, 170, ports, qps); p.Time != 20 || p.Roots[0].Time != 8 {
		t.Errorf("a fifth of the pause: %+v", p)
	}
	for _, at := range [][2]int64{{0, 100}, {200, 300}, {150, 150}} {
		if p := RankPauses(rows, held, at[0], at[1], ports, qps); p != nil {
			t.Errorf("nothing is paused from %d to %d: %+v", at[0], at[1], p)
		}
	}
}

// TestRankingsAddUp draws pauses and divides the run anywhere: the parts' rankings add up to the whole's.
func TestRankingsAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var rows []PauseRootRow
		var all int64
		for range rapid.IntRange(1, 20).Draw(rt, "pauses") {
			from := rapid.Int64Range(0, 900).Draw(rt, "from")
			x := PauseRootRow{From: from, To: from + rapid.Int64Range(1, 100).Draw(rt, "length"),
				Port: rapid.Int32Range(0, 5).Draw(rt, "port"), Root: rapid.Int32Range(0, 5).Draw(rt, "root"),
				Kind: RootEgress, Bytes: rapid.Int64Range(0, 1000).Draw(rt, "bytes")}
			x.Time = x.To - x.From
			all += x.Time
			rows = append(rows, x)
		}
		cut := rapid.Int64Range(0, 1000).Draw(rt, "cut")
		sum, by := int64(0), map[string]int64{}
		for i, part := range []*PauseRanking{RankPauses(rows, nil, 0, cut, make([]PortRow, 6), nil),
			RankPauses(rows, nil, cut, 1000, make([]PortRow, 6), nil),
			RankPauses(rows, nil, 0, 1000, make([]PortRow, 6), nil)} {
			if part == nil {
				continue
			}
			own, last := int64(0), 0.0
			for k, root := range part.Roots {
				if c := cost(root.Time, root.Bytes); k > 0 && c > last {
					rt.Fatalf("root %d costs %g, the one before %g", k, c, last)
				} else {
					last = c
				}
				own += root.Time
				by[fmt.Sprint(i/2, root.Port)] += root.Time
			}
			if own != part.Time {
				rt.Fatalf("roots caused %d, paused %d", own, part.Time)
			}
			if i < 2 {
				sum += part.Time
			} else if part.Time != all || sum != all {
				rt.Fatalf("paused %d: the parts %d, the whole %d", all, sum, part.Time)
			}
		}
		for port := range 6 {
			if a, b := by[fmt.Sprint(0, port)], by[fmt.Sprint(1, port)]; a != b {
				rt.Fatalf("root %d caused %d in parts, %d in the whole", port, a, b)
			}
		}
	})
}
