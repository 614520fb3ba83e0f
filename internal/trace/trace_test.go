package trace

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/workload"
	"railyard/unit"

	"pgregory.net/rapid"
)

// twoRanks computes, sends and computes again at the far end; it uses every keyword of a schedule.
const twoRanks = `num_ranks 2
// both ways
rank 0 {
l1: calc 500 cpu 0
l2: send 100000b to 1 tag 7 cpu 0 nic 0
l2 requires l1
l3: recv 8b from 1 tag 9
l4: calc 10
l4 irequires l2
}
rank 1 { # the far end
l9 requires l1
l1: recv 100000b from 0 tag 7
l9: calc 250
l2: send 8b to 0 tag 9 cpu 1
l2 requires l9
}
`

// ends runs a graph with a given time per transfer. It returns the time when everything has ended, and that of each
// node.
func ends(t interface {
	Helper()
	Fatalf(string, ...any)
}, d *workload.DAG, latency unit.Time) (last unit.Time, at []unit.Time) {
	t.Helper()
	at = make([]unit.Time, len(d.Ops))
	deps := make([]int32, len(d.Ops))
	var ready []int32
	for i := range d.Ops {
		if deps[i] = d.Ops[i].Deps; deps[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if at[i] += d.Ops[i].Dur; !d.Ops[i].Compute() {
			at[i] += latency
		}
		last = max(last, at[i])
		for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
			at[s] = max(at[s], at[i])
			if deps[s]--; deps[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	if done != len(d.Ops) {
		t.Fatalf("%d of %d operations run", done, len(d.Ops))
	}
	return last, at
}

func TestGoal(t *testing.T) {
	x, err := Read("", File{"two.goal", []byte(twoRanks)})
	if err != nil {
		t.Fatal(err)
	}
	transfers := 0
	for i := range x.DAG.Ops {
		if !x.DAG.Ops[i].Compute() {
			transfers++
		}
	}
	// 500 ns, transfer, 250 ns, and transfer back
	if last, _ := ends(t, x.DAG, unit.Microsecond); last != 2750*unit.Nanosecond || transfers != 2 ||
		x.Ranks != 2 || x.Format != "goal" {
		t.Errorf("%v, %d transfers, %+v", last, transfers, x)
	}
	want := "mapped [computations: 3 (first two.goal:4) sends with their receives, as transfers: 2 (first two.goal:5)], guessed [], left out [operations on a core other than the first: cores are not distinguished: 1 (first two.goal:15)]"
	if got := words(x.Report); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func words(r Report) string {
	list := func(all []Count) (out []string) {
		for _, c := range all {
			out = append(out, c.Words())
		}
		return out
	}
	return fmt.Sprintf("mapped %v, guessed %v, left out %v", list(r.Mapped), list(r.Guessed), list(r.Left))
}

// A large send ends when the receive was posted, a small one at once. A dependency on a start does not wait for the
// end.
func TestGoalSends(t *testing.T) {
	for _, c := range []struct {
		bytes int
		want  unit.Time // end of rank 0's last computation
	}{{65_535, 100 * unit.Nanosecond}, {65_536, 5100 * unit.Nanosecond}} {
		text := fmt.Sprintf("num_ranks 2\nrank 0 {\na: send %db to 1\nb: calc 100\nb requires a\nc: calc 7000\n"+
			"d: calc 40\nd irequires c\n}\nrank 1 {\nw: calc 5000\nr: recv %db from 0\nr requires w\n}\n",
			c.bytes, c.bytes)
		x, err := Read("goal", File{"s.goal", []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		_, at := ends(t, x.DAG, unit.Microsecond)
		for i := range x.DAG.Ops {
			switch o := &x.DAG.Ops[i]; o.Dur {
			case 100 * unit.Nanosecond:
				if at[i] != c.want {
					t.Errorf("%d bytes: goes on until %v, want %v", c.bytes, at[i], c.want)
				}
			case 40 * unit.Nanosecond:
				if at[i] != 40*unit.Nanosecond {
					t.Errorf("waits until %v for what had begun", at[i])
				}
			}
		}
	}
}

// Receives with a wildcard sender or tag take what receives with both leave, in the order of the schedule.
func TestGoalWildcards(t *testing.T) {
	text := "num_ranks 3\nrank 0 {\na: recv 8b from -1 tag -1\nb: recv 8b from -1 tag 5\nc: recv 8b from 2 tag 5\n}\n" +
		"rank 1 {\nsend 8b to 0 tag 5\nsend 8b to 0 tag 6\n}\nrank 2 {\nsend 8b to 0 tag 5\n}\n"
	x, err := Read("", File{"w.goal", []byte(text)})
	if err != nil || len(x.Report.Mapped) != 1 || x.Report.Mapped[0].N != 3 {
		// a takes rank 1's tag 5, and no tag 5 is left for b, because order counts
		if err == nil || !strings.Contains(err.Error(), "w.goal:4:1: rank 0 receives 8 bytes from rank any with tag 5 and no rank sends it") {
			t.Errorf("%+v %v", x, err)
		}
	}
	swapped := strings.Replace(text, "send 8b to 0 tag 5\nsend 8b to 0 tag 6", "send 8b to 0 tag 6\nsend 8b to 0 tag 5", 1)
	if x, err = Read("", File{"w.goal", []byte(swapped)}); err != nil || x.Report.Mapped[0].N != 3 {
		t.Errorf("%+v %v", x, err)
	}
}

// Matching receives with wildcards takes less than quadratic time in their number.
func TestManyWildcards(t *testing.T) {
	const n = 100_000
	var b strings.Builder
	b.WriteString("num_ranks 2\nrank 0 {\n")
	for i := range n {
		fmt.Fprintf(&b, "recv 8b from -1 tag %d\n", n-1-i)
	}
	b.WriteString("}\nrank 1 {\n")
	for i := range n {
		fmt.Fprintf(&b, "send 9b to 0 tag %d\n", i)
	}
	b.WriteString("}\n")
	x, err := Read("goal", File{"many.goal", []byte(b.String())}) // quadratic matching would take a minute
	if err != nil {
		t.Fatal(err)
	}
	want := "guessed [receives whose size differs from the send; the size of the send is used: 100000 (first many.goal:3)]"
	if got := words(x.Report); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A schedule is recognized by its first keyword, after any comments.
func TestGoalBehindComments(t *testing.T) {
	text := strings.Repeat("// what made this, and with which flags\n\n", 2000) + twoRanks
	if f, ok := Detect(File{"two.txt", []byte(text)}); !ok || f.Name != "goal" {
		t.Error(f, ok)
	}
	if f, ok := Detect(File{"none.txt", []byte(strings.Repeat("# nothing\n", 9999))}); ok {
		t.Error(f.Name)
	}
}

// A cycle of operations of several ranks, and an operation that only depends on the cycle.
func TestGoalCycleOverRanks(t *testing.T) {
	text := "num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: send 8b to 1\nb requires a\n}\n" +
		"rank 1 {\nc: calc 5\na: recv 8b from 0\nb: send 8b to 0\nb requires a\nc requires b\n}\n"
	_, err := Read("", File{"r.goal", []byte(text)})
	want := "r.goal:3:1: the schedule is cyclic: the recv here (line 3) is blocked on line 10, which is blocked on line 9, which is blocked on line 4, which is blocked on line 3"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestBadGoal(t *testing.T) {
	within := func(s string) string { return "num_ranks 2\nrank 0 {\n" + s + "\n}\n" }
	for text, want := range map[string]string{
		"num_ranks 0\n": "b.goal:1:1: found \"num_ranks 0\", expected num_ranks once, with 1 to",
		within("send 99999999999999999999b to 1"):                  "N up to 2^50, NS up to 26 days",
		"num_ranks 999999999\n":                                    "expected num_ranks once, with 1 to 131072",
		"num_ranks 2\nnum_ranks 2\n":                               "b.goal:2:1: found \"num_ranks 2\", expected num_ranks once",
		"num_ranks 2\n":                                            "b.goal:1:1: no rank does anything",
		"num_ranks 2\nrank 0 {\n":                                  "b.goal:2:1: ends within rank 0: a closing } is missing",
		"num_ranks 2\nrank 2 {\n}\n":                               "b.goal:2:1: rank 2: num_ranks is 2",
		"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n":                  "b.goal:4:1: rank 0 is repeated",
		"num_ranks 2\nrank 0 {\nrank 1 {\n":                        "b.goal:3:1: rank 0 is not closed by }",
		"num_ranks 2\nrank x {\n":                                  "expected rank N {",
		"num_ranks 2\nsend 1b to 1\n":                              "b.goal:2:1: found \"send 1b to 1\", expected rank N {",
		within("send 1b to 2"):                                     "rank 0 exchanges bytes with rank 2; there are 0 to 1, and not itself",
		within("send 1b to 0"):                                     "and not itself",
		within("send 1b to -1"):                                    "expected send N b to R",
		within("send 1b from 1"):                                   "expected send N b to R",
		within("send -5b to 1"):                                    "expected send N b to R",
		within("send 1b to 1 tag x"):                               "expected send N b to R",
		within("send 1b to 1 colour 3"):                            "expected send N b to R",
		within("send 1b to 1 tag"):                                 "expected send N b to R",
		within("calc -1"):                                          "expected send N b to R",
		within("calc 99999999999999999"):                           "expected send N b to R",
		within("calc 5 tag 3"):                                     "expected send N b to R",
		within("calc 5" + strings.Repeat(" ", longest)):            "3:1: the line is longer than the 1048576",
		within("think 5"):                                          "expected send N b to R",
		within("a: calc 5\na: calc 6"):                             "b.goal:4:1: the label \"a\" is on line 3 already",
		within("a: calc 5\na requires b"):                          "b.goal:4:1: rank 0 has no operation \"b\"",
		within("a: calc 5\nb: calc 5\na requires b\nb requires a"): "b.goal:3:1: the schedule is cyclic: the calc here (line 3) is blocked on line 4, which is blocked on line 3",
		within("a: calc 5\nb: calc 6\nb requires a\na requires a"): "b.goal:3:1: the schedule is cyclic: the calc here (line 3) is blocked on line 3",
		within("send 1b to 1"):                                     "b.goal:3:1: rank 0 sends 1 bytes to rank 1 with tag 0 and no rank receives it",
		within("recv 1b from 1 tag 4"):                             "b.goal:3:1: rank 0 receives 1 bytes from rank 1 with tag 4 and no rank sends it",
	} {
		if _, err := Read("goal", File{"b.goal",
			[]byte(text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.99q: %v\nwant %s", text, err, want)
		}
	}
}

// In a small file all ranks may name the same bytes, or all operations the same dependents. It would become as many
// operations and edges as the product.
func TestGoalBinaryOverlaps(t *testing.T) {
	le := binary.LittleEndian
	const ranks, nodes = 50, 10
	one := &schedule{ranks: 1}
	for range nodes {
		one.steps = append(one.steps, step{kind: calc, peer: anybody, dur: unit.Nanosecond})
	}
	body := packed(one)[goalHead+16:]
	b := append(le.AppendUint32(le.AppendUint64(nil, goalMagic), ranks), 1, 1)
	for range ranks {
		b = le.AppendUint64(b, goalHead+16*ranks-8)
		b = le.AppendUint64(b, uint64(goalHead+16*ranks-8+len(body)))
	}
	if _, err := Read("", File{"o.bin", append(b, body...)}); err == nil || !strings.Contains(err.Error(),
		"where other ranks lie too") {
		t.Error(err)
	}
	one.edges = []edge{{0, 9, false}}
	b = packed(one)
	at := goalHead + 16 + 8 + 4*(nodes-1) // its first operation
	copy(b[at+goalNode+23:], b[at+23:at+31])
	if _, err := Read("", File{"o.bin", b}); err == nil || !strings.Contains(err.Error(),
		"rank 0, operation 1 names dependents that another one names") {
		t.Error(err)
	}
}

// written is a schedule as text.
func written(s *schedule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "num_ranks %d\n", s.ranks)
	for rank := range s.ranks {
		fmt.Fprintf(&b, "rank %d {\n", rank)
		for i := range s.steps {
			switch x := &s.steps[i]; {
			case x.rank != int32(rank):
			case x.kind == calc:
				fmt.Fprintf(&b, "l%d: calc %d\n", i, x.dur/unit.Nanosecond)
			case x.kind == send:
				fmt.Fprintf(&b, "l%d: send %db to %d tag %d\n", i, x.bytes, x.peer, x.tag)
			default:
				fmt.Fprintf(&b, "l%d: recv %db from %d tag %d\n", i, x.bytes, x.peer, x.tag)
			}
		}
		for _, e := range s.edges {
			if s.steps[e.to].rank == int32(rank) {
				word := map[bool]string{false: "requires", true: "irequires"}[e.begun]
				fmt.Fprintf(&b, "l%d %s l%d\n", e.to, word, e.from)
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// drawn is a random schedule without a deadlock: receives and dependent operations follow their dependencies.
func drawn(rt *rapid.T) *schedule {
	s := &schedule{ranks: rapid.IntRange(2, 6).Draw(rt, "ranks")}
	for range rapid.IntRange(1, 25).Draw(rt, "operations") {
		rank := int32(rapid.IntRange(0, s.ranks-1).Draw(rt, "rank"))
		peer := int32(rapid.IntRange(0, s.ranks-1).Draw(rt, "peer"))
		add := func(x step) {
			for i := range s.steps {
				if s.steps[i].rank == x.rank && rapid.IntRange(0, 5).Draw(rt, "waits") == 0 {
					s.edges = append(s.edges, edge{int32(i), int32(len(s.steps)), rapid.Bool().Draw(rt,
						"begun")})
				}
			}
			s.steps = append(s.steps, x)
		}
		if rank == peer {
			add(step{kind: calc, rank: rank, peer: anybody,
				dur: unit.Time(rapid.IntRange(0, 5000).Draw(rt, "ns")) * unit.Nanosecond})
			continue
		}
		n := unit.Bytes(rapid.SampledFrom([]int{1, 4096, 65_535, 65_536, 1 << 20}).Draw(rt, "bytes"))
		tag := int64(rapid.IntRange(0, 2).Draw(rt, "tag"))
		add(step{kind: send, rank: rank, peer: peer, bytes: n, tag: tag})
		add(step{kind: recv, rank: peer, peer: rank, bytes: n, tag: tag})
	}
	return s
}

// A schedule is equal as text and as binary: as many transfers, and equal times of each node.
func TestTextAndBinaryAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawn(rt)
		a, err1 := Read("", File{"a.goal", []byte(written(s))})
		b, err2 := Read("", File{"b.bin", packed(s)})
		if err1 != nil || err2 != nil {
			if err1 == nil || err2 == nil || !strings.Contains(err1.Error(), "cyclic") {
				rt.Fatalf("%v; %v\n%s", err1, err2, written(s))
			}
			return // a cycle of large sends
		}
		last1, _ := ends(t, a.DAG, unit.Microsecond)
		last2, _ := ends(t, b.DAG, unit.Microsecond)
		if last1 != last2 || len(a.DAG.Ops) != len(b.DAG.Ops) || b.Format != "goal-binary" {
			rt.Errorf("%v with %d, packed %v with %d\n%s", last1, len(a.DAG.Ops), last2,
				len(b.DAG.Ops), written(s))
		}
	})
}

// Windows editors write a byte order mark before a text and carriage returns at line ends.
func TestWindowsTexts(t *testing.T) {
	x, err := Read("", File{"a.goal", []byte("\ufeff" + strings.ReplaceAll(twoRanks, "\n", "\r\n"))})
	if err != nil {
		t.Fatal(err)
	}
	if y, err := Read("", File{"a.goal", []byte(twoRanks)}); err != nil || len(x.DAG.Ops) != len(y.DAG.Ops) {
		t.Errorf("%d operations, %v", len(x.DAG.Ops), err)
	}
}
