package explain

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// chainOfSwitches is a reading of a host and switches in a row, each the next one's sender: port 2i sends to
// port 2i+1.
func chainOfSwitches(n int, holds []Hold, pauses []result.PauseRow) *reading {
	g := &topo.Graph{}
	seen := &Observation{At: 1000, Holds: holds, Recorded: result.Tables{Pauses: pauses}}
	for i := range n {
		role := topo.Leaf
		if i == 0 || i == n-1 {
			role = topo.Host
		}
		g.Nodes = append(g.Nodes, topo.Node{Name: fmt.Sprint("n", i), Role: role})
	}
	for i := range n - 1 {
		g.Links = append(g.Links, topo.Link{A: i, B: i + 1})
		seen.Ports = append(seen.Ports, Port{Link: int32(i), Node: int32(i), Peer: int32(2*i + 1)},
			Port{Link: int32(i), Node: int32(i + 1), Peer: int32(2 * i)})
	}
	return &reading{seen: seen, graph: g}
}

func pausedFor(port int32, from, to unit.Time) []result.PauseRow {
	return []result.PauseRow{{At: int64(from), What: "pause", Port: port, Priority: 3, Cause: -1},
		{At: int64(to), What: "resume", Port: port, Priority: 3, Cause: -1}}
}

// TestRootsThroughSwitches: host 0 is paused for bytes in port 2, three quarters of which are there because
// port 2 was paused for bytes in port 4, which holds them on its own. A server behind port 6 pauses that.
func TestRootsThroughSwitches(t *testing.T) {
	holds := []Hold{
		{Port: 1, Priority: 3, From: 90, To: 300, By: []Holder{
			{Port: 2, Share: 1, Queue: 1000, Passed: 0.75, Since: 60}}},
		{Port: 3, Priority: 3, From: 40, To: 150, By: []Holder{{Port: 4, Share: 1, Queue: 5000}}},
		{Port: 7, Priority: 3, From: 500, To: 600, By: []Holder{{Port: 6, Share: 1, Queue: 700}}},
	}
	var rows []result.PauseRow
	for _, x := range [][]result.PauseRow{pausedFor(2, 50, 160), pausedFor(0, 100, 310), pausedFor(6, 500, 600)} {
		rows = append(rows, x...)
	}
	r := chainOfSwitches(5, holds, rows)
	got := map[string]int64{}
	for _, x := range r.rootRows() {
		got[fmt.Sprintf("%d for %d (%s, %d B) by %d", x.Port, x.Root, x.Kind, x.Bytes, x.By)] = x.Time
	}
	want := map[string]int64{"2 for 4 (egress, 5000 B) by 4": 110, "0 for 4 (egress, 5000 B) by 2": 158,
		"0 for 2 (egress, 1000 B) by 2": 52, "6 for 6 (receiver, 700 B) by -1": 100}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("roots %v\nwant  %v", got, want)
	}
	p := r.pauseIntervals()
	own := func(root int32) bool { return root == 2 }
	if d := p.elsewhere(0, 0, 1000, own); d != 157 {
		t.Errorf("port 0 was paused for %v for others' sake, want 157", d)
	}
	if d := p.elsewhere(0, 205, 1000, own); d != 78 {
		t.Errorf("port 0 was paused for %v for others' sake from 205 on, want 78", d)
	}
	if root := p[6][0].cause; root != -1 {
		t.Errorf("a server pauses port 6, and its root is port %d", root)
	}
}

// TestTwoPrioritiesOfAPort: while a port is paused for two priorities at once, the first one has the time.
func TestTwoPrioritiesOfAPort(t *testing.T) {
	holds := []Hold{
		{Port: 1, Priority: 3, From: 0, To: 50, By: []Holder{{Port: 2, Share: 1}}},
		{Port: 1, Priority: 4, From: 10, To: 90, By: []Holder{{Port: 4, Share: 1}}},
	}
	row := func(at int64, what string, prio int32) result.PauseRow {
		return result.PauseRow{At: at, What: what, Port: 0, Priority: prio, Cause: -1}
	}
	r := chainOfSwitches(4, holds, []result.PauseRow{row(5, "pause", 3), row(20, "pause", 4), row(60, "resume", 3),
		row(100, "resume", 4), row(200, "pause", 4), row(210, "pause", 3), row(220, "resume", 3), row(230, "resume", 4)})
	got := map[int32]int64{}
	for _, x := range r.rootRows() {
		got[x.Root] += x.Time
	}
	if got[2] != 55 || got[4] != 70 || len(r.pauseIntervals()[0]) != 3 {
		t.Errorf("roots caused %v, pauses %v", got, r.pauseIntervals()[0])
	}
}

// TestRootsOfAnythingAddUp draws holds and pauses, circles among them: the shares of every pause add up to
// one, and the rows to the time.
func TestRootsOfAnythingAddUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const ports = 12
		var holds []Hold
		var rows []result.PauseRow
		all := int64(0)
		for port := range int32(ports) {
			at := unit.Time(0)
			for range rapid.IntRange(0, 4).Draw(rt, "pauses") {
				at += unit.Time(rapid.IntRange(1, 50).Draw(rt, "gap"))
				end := at + unit.Time(rapid.IntRange(1, 80).Draw(rt, "length"))
				rows = append(rows, pausedFor(port, at, end)...)
				all += int64(end - at)
				h := Hold{Port: port ^ 1, Priority: 3, From: at - 1, To: end - 1}
				n := rapid.IntRange(0, 30).Draw(rt, "holders")
				for range n {
					h.By = append(h.By, Holder{Port: rapid.Int32Range(0, ports-1).Draw(rt, "holder"), Share: 1 / float64(n),
						Queue: 100, Passed: rapid.Float64Range(0, 1).Draw(rt, "passed"),
						Since: unit.Time(rapid.IntRange(0, int(at)).Draw(rt, "since"))})
				}
				if holds = append(holds, h); rapid.IntRange(0, 9).Draw(rt, "forgotten") == 0 {
					holds = holds[:len(holds)-1]
				}
				at = end
			}
		}
		r := chainOfSwitches(ports/2+1, holds, rows)
		for port, spans := range r.pauseIntervals() {
			for _, s := range spans {
				sum := 0.0
				for _, x := range s.roots {
					sum += x.share
				}
				if sum < 1-1e-9 || sum > 1+1e-9 || len(s.roots) > mostRoots {
					rt.Fatalf("the %d roots of a pause of port %d have %g of it", len(s.roots), port, sum)
				}
			}
		}
		sum := int64(0)
		for _, x := range r.rootRows() {
			if sum += x.Time; x.Time < 0 {
				rt.Fatalf("root %+v", x)
			}
		}
		if sum != all {
			rt.Fatalf("ports were paused for %d, roots caused %d", all, sum)
		}
	})
}
