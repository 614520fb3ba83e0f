package trace

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// One rank of eight thousand determines what all do: in its tensor parallel group of neighbours, and in its data
// parallel group of every eighth rank. Groups of other ranks are shifted copies.
func TestFill(t *testing.T) {
	c := &calls{file: "f", ranks: 8192}
	m := member{rank: 0, file: "f"}
	every := make([]int, 16)
	for i := range every {
		every[i] = 8 * i
	}
	m.add(act{what: opAllReduce, bytes: 8, seq: -1, group: c.grouped("tp", seqOf(8))})
	m.add(act{what: opBroadcast, bytes: 8, seq: -1, group: c.grouped("dp", every)}, 0)
	c.members = append(c.members, m)
	x, err := c.trace()
	if err != nil || len(x.DAG.Colls) != 1024+512 || x.Ranks != 8192 {
		t.Fatal(x, err)
	}
	count := map[string]int{}
	for _, c := range x.DAG.Colls {
		count[c.Name]++
		if d := c.Ranks[1] - c.Ranks[0]; c.Name == "tp all-reduce" && (d != 1 || c.Ranks[0]%8 != 0) ||
			c.Name == "dp broadcast" && d != 8 {
			t.Fatal(c.Name, c.Ranks)
		}
	}
	if count["tp all-reduce"] != 1024 || count["dp broadcast"] != 512 {
		t.Error(count)
	}
	c = &calls{file: "f", ranks: 100_000}
	m = member{rank: 0, file: "f"}
	m.add(act{what: opAllReduce, bytes: 8, seq: -1, group: c.grouped("all", seqOf(100_000))})
	c.members = append(c.members, m)
	if _, err := c.trace(); err == nil || !strings.Contains(err.Error(), "of 100,000 ranks, the 1st of all") {
		t.Error(err)
	}
}

// Ranks that contradict one another in the order of their calls are reported, not waited for.
func TestStuck(t *testing.T) {
	c := &calls{file: "f"}
	a, b := c.grouped("a", []int{0, 1}), c.grouped("b", []int{0, 1})
	for rank, order := range [][]int32{{a, b}, {b, a}} {
		m := member{rank: rank, file: "f"}
		first := m.add(act{what: opAllReduce, seq: -1, group: order[0], line: 3})
		m.add(act{what: opAllReduce, seq: -1, group: order[1], line: 4}, first)
		c.members = append(c.members, m)
	}
	if _, err := c.trace(); err == nil || !strings.Contains(err.Error(), "is blocked on rank 1 without end") {
		t.Error(err)
	}
}

// If ranks make calls in one global order, on any streams, no call is omitted.
func TestCallsMeet(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(r, "ranks")
		c := &calls{file: "f", ranks: n, members: make([]member, n)}
		last := make([][]int32, n)
		for i := range c.members {
			c.members[i] = member{rank: i, file: "f"}
		}
		want := rapid.IntRange(1, 12).Draw(r, "calls")
		for range want {
			ranks := rapid.Permutation(seqOf(n)).Draw(r, "order")[:rapid.IntRange(2, n).Draw(r, "size")]
			slices.Sort(ranks)
			what := op(rapid.IntRange(int(opAllReduce), int(opScatter)).Draw(r, "what"))
			root := rapid.IntRange(0, len(ranks)-1).Draw(r, "root")
			a := act{what: what, bytes: 1 << 20, seq: -1, group: c.grouped("g", ranks), peer: int32(root)}
			for _, rank := range ranks {
				after := last[rank]
				if rapid.Bool().Draw(r, "beside") {
					after = nil
				}
				last[rank] = []int32{c.members[rank].add(a, after...)}
			}
		}
		x, err := c.trace()
		if err != nil || len(x.DAG.Colls) != want || len(x.Report.Left) > 0 {
			r.Fatal(err, x)
		}
	})
}
