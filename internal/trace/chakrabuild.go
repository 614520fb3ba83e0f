package trace

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/tally"
	"railyard/internal/workload"
	"railyard/unit"
)

// impossible returns the error of a single node, "" for none.
func (n *chakraNode) impossible() string {
	comm := n.kind == chakraSend || n.kind == chakraRecv || n.kind == chakraCollective && !n.cpu
	switch {
	case n.dur < 0:
		return "lasts less than nothing or longer than time can be"
	case int(n.kind) >= len(chakraKinds):
		return fmt.Sprintf("is of type %d, expected 0 to %d", n.kind, len(chakraKinds)-1)
	case comm && (n.bytes < -1 || n.bytes > 1<<50):
		return fmt.Sprintf("has comm_size %d", n.bytes)
	case comm && int(n.op) >= len(chakraOps):
		return fmt.Sprintf("has comm_type %d, expected 0 to %d", n.op, len(chakraOps)-1)
	case n.kind == chakraSend && n.dst < 0:
		return "sends to no rank (comm_dst)"
	case n.kind == chakraRecv && n.src < 0:
		return "receives from no rank (comm_src)"
	}
	return ""
}

// chakraMeeting is a collective: one node of each participating rank.
type chakraMeeting struct {
	op    int16
	group string
	ranks []int
	nodes []int32 // by place in ranks; -1: that rank has none
	bytes int64
	here  int // number of ranks that have reached it
}

// chakraBuild sorts nodes so that all dependencies of a node precede it, and adds them in that order.
type chakraBuild struct {
	*chakra
	b       *workload.Builder
	first   []int32 // first of each rank's nodes, in one numbering of all ranks
	rankOf  []int32
	succ    [][]int32
	waits   []int32
	after   [][]int32 // dependencies of a node's operations
	ready   []unit.Time
	meets   []*chakraMeeting // by node; nil: no collective
	queue   chakraQueue
	engines [][2]chakraEngine // by rank: GPU, CPU
	streams map[string][]int32
	over    []bool // finished nodes
	done    int
	ops     float64
}

// chakraEngine runs one computation at a time.
type chakraEngine struct {
	last int32 // -1: nothing yet
	free unit.Time
}

// chakraQueue has the nodes that could run, by when.
type chakraQueue []chakraReady

type chakraReady struct {
	at   unit.Time
	node int32
}

func (q chakraQueue) Len() int { return len(q) }
func (q chakraQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].at, q[j].at), cmp.Compare(q[i].node, q[j].node)) < 0
}
func (q chakraQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *chakraQueue) Push(x any)   { *q = append(*q, x.(chakraReady)) }
func (q *chakraQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// node returns one node of all ranks' nodes by its number.
func (x *chakraBuild) node(i int32) *chakraNode { return &x.ranks[x.rankOf[i]][i-x.first[x.rankOf[i]]] }

// say returns a node's name for an error.
func (x *chakraBuild) say(i int32) string {
	return fmt.Sprintf("rank %d's node %d", x.rankOf[i], x.node(i).id)
}

// trace builds the graph. Computations of a rank run one at a time on its GPU, and on its CPU, in the order in
// which they could start if transfers took no time. Collectives of one group do likewise. A send ends when its
// bytes have arrived. A receive ends when they have arrived and its own dependencies have ended.
func (c *chakra) trace() (*Trace, error) {
	x := &chakraBuild{chakra: c, b: workload.NewBuilder(len(c.ranks)), streams: map[string][]int32{},
		engines: make([][2]chakraEngine, len(c.ranks)), succ: make([][]int32, c.nodes),
		waits: make([]int32, c.nodes), after: make([][]int32, c.nodes), ready: make([]unit.Time, c.nodes),
		meets: make([]*chakraMeeting, c.nodes), over: make([]bool, c.nodes)}
	for r := range c.ranks {
		x.first = append(x.first, int32(len(x.rankOf)))
		for range c.ranks[r] {
			x.rankOf = append(x.rankOf, int32(r))
		}
		x.engines[r] = [2]chakraEngine{{last: -1}, {last: -1}}
	}
	for r := range c.ranks {
		if err := x.depend(r); err != nil {
			return nil, err
		}
	}
	if err := x.pair(); err != nil {
		return nil, err
	}
	if err := x.meet(); err != nil {
		return nil, err
	}
	for i := range x.rankOf {
		if x.waits[i] == 0 {
			x.queue = append(x.queue, chakraReady{node: int32(i)})
		}
	}
	heap.Init(&x.queue)
	all := make([]int, len(c.ranks))
	for r := range all {
		all[r] = r
	}
	for len(x.queue) > 0 {
		if err := x.add(heap.Pop(&x.queue).(chakraReady).node); err != nil {
			return nil, err
		}
	}
	if x.done < len(x.rankOf) {
		return nil, x.cyclic()
	}
	d, err := x.b.Seal()
	if errors.Is(err, workload.ErrEmpty) {
		return nil, at(c.files[0], 0, "has no computation with a duration and no transfer between ranks (%s of %s); accepted: a file for each rank of the collectives (NAME.0.et, NAME.1.et, …)",
			unit.Plural(c.nodes, "node"), unit.Plural(len(c.ranks), "rank"))
	}
	if err != nil {
		return nil, at(c.files[0], 0, "%v", err)
	}
	return &Trace{Ranks: len(c.ranks), DAG: d, Report: c.report, Runs: c.fit.runs}, nil
}

// depend connects the nodes of a rank. PyTorch's control dependencies record callers. If they form a cycle with the
// data dependencies that Chakra's converter derives from them, the data dependencies apply.
func (x *chakraBuild) depend(r int) error {
	nodes, base := x.ranks[r], x.first[r]
	number := make(map[uint64]int32, len(nodes))
	for i := range nodes {
		if twice, has := number[nodes[i].id]; has {
			return at(x.files[r], 0, "node %d is repeated: the %d. and the %d. of the file", nodes[i].id,
				twice-base+1, i+1)
		}
		number[nodes[i].id] = base + int32(i)
	}
	of := func(ids []uint64, known bool) (all []int32) {
		for _, id := range ids {
			if k, has := number[id]; has {
				all = append(all, k)
			} else if known {
				note(&x.report.Left, "dependencies on nodes that are not in the file", x.files[r], 0)
			}
		}
		return all
	}
	deps := make([][]int32, len(nodes))
	controls := 0
	for i := range nodes {
		data, ctrl := of(nodes[i].data, true), of(nodes[i].ctrl, false)
		controls += len(ctrl)
		deps[i] = append(data, ctrl...)
	}
	if controls > 0 && !acyclic(deps, base) {
		for i := range nodes {
			deps[i] = of(nodes[i].data, false)
		}
		tally.Add(&x.report.Left, controls, "control dependencies, which make a ring with the data dependencies",
			x.files[r], 0)
	}
	for i := range nodes {
		slices.Sort(deps[i])
		for _, on := range slices.Compact(deps[i]) {
			x.edge(on, base+int32(i))
		}
		nodes[i].data, nodes[i].ctrl = nil, nil
	}
	return nil
}

func (x *chakraBuild) edge(from, to int32) {
	x.succ[from] = append(x.succ[from], to)
	x.waits[to]++
}

// acyclic reports whether nodes, numbered from base on, can run in some order.
func acyclic(deps [][]int32, base int32) bool {
	succ, waits := make([][]int32, len(deps)), make([]int, len(deps))
	var ready []int32
	for i, all := range deps {
		for _, on := range all {
			succ[on-base] = append(succ[on-base], int32(i))
		}
		if waits[i] = len(all); len(all) == 0 {
			ready = append(ready, int32(i))
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, s := range succ[i] {
			if waits[s]--; waits[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	return done == len(deps)
}

// cyclic names nodes that wait for one another: for a dependency or, in a collective, for another rank's node.
func (x *chakraBuild) cyclic() error {
	before, at0 := make([]int32, len(x.rankOf)), int32(-1)
	for i := range x.rankOf {
		if x.over[i] {
			continue
		}
		at0 = int32(i)
		for _, s := range x.succ[i] {
			before[s] = int32(i)
		}
	}
	blocker := func(i int32) int32 {
		if m := x.meets[i]; x.waits[i] == 0 && m != nil {
			return m.nodes[slices.IndexFunc(m.nodes, func(k int32) bool { return x.waits[k] > 0 })]
		}
		return before[i]
	}
	seen := make([]bool, len(x.rankOf))
	for ; !seen[at0]; at0 = blocker(at0) {
		seen[at0] = true
	}
	ring, others := []string{x.say(at0)}, 0
	for i := blocker(at0); i != at0; i = blocker(i) {
		if len(ring) == 8 {
			others++
			continue
		}
		ring = append(ring, x.say(i))
	}
	if others > 0 {
		ring = append(ring, fmt.Sprintf("%d more, the last of which is blocked on the first", others))
	} else {
		ring = append(ring, x.say(at0))
	}
	return at(x.files[x.rankOf[at0]], 0, "nodes wait for one another: %s", strings.Join(ring, ", which is blocked on "))
}

// release lets the dependents of a node continue after these operations, from this time on.
func (x *chakraBuild) release(i int32, done []int32, end unit.Time) {
	x.done++
	x.over[i] = true
	for _, s := range x.succ[i] {
		x.after[s] = append(x.after[s], done...)
		x.ready[s] = max(x.ready[s], end)
		if x.waits[s]--; x.waits[s] == 0 {
			heap.Push(&x.queue, chakraReady{x.ready[s], s})
		}
	}
	x.after[i] = nil
}

// add adds a node's operations once its dependencies exist.
func (x *chakraBuild) add(i int32) error {
	n, r := x.node(i), int(x.rankOf[i])
	after := x.after[i]
	switch {
	case x.meets[i] != nil:
		return x.come(x.meets[i], i)
	case n.kind == chakraSend:
		op := x.b.Transfer(r, int(n.dst), unit.Bytes(max(1, n.bytes)), after...)
		note(&x.report.Mapped, "sends with their receives, as transfers", x.files[r], 0)
		x.release(i, []int32{op}, x.ready[i])
	case n.kind == chakraRecv, n.dur == 0 && n.kind != chakraCompute:
		x.release(i, after, x.ready[i])
	default:
		x.compute(i, n, r)
	}
	return nil
}

// compute adds a node that takes time on a GPU or a CPU.
func (x *chakraBuild) compute(i int32, n *chakraNode, r int) {
	what := "computations"
	switch {
	case n.kind == chakraCollective && n.cpu:
		what = "collectives' part on the CPU, as computations"
	case n.kind == chakraCollective:
		what = "collectives of one rank, or without a kind or bytes, as computations of their duration"
	case n.kind != chakraCompute:
		what = "loads, stores and metadata that take time, as computations"
	}
	list := &x.report.Mapped
	if n.kind == chakraCollective && !n.cpu {
		list = &x.report.Guessed
	}
	note(list, what, x.files[r], 0)
	if n.dur == 0 {
		note(&x.report.Guessed, "computations without a duration, simulated without one", x.files[r], 0)
		x.release(i, x.after[i], x.ready[i])
		return
	}
	e := &x.engines[r][0]
	if n.cpu {
		e = &x.engines[r][1]
	}
	after := x.after[i]
	if e.last >= 0 {
		after = append(after, e.last)
	}
	slices.Sort(after)
	e.last = x.b.Compute(r, n.dur, workload.Computing, slices.Compact(after)...)
	e.free = max(e.free, x.ready[i]) + n.dur
	x.release(i, []int32{e.last}, e.free)
}

// come adds a rank to a collective; the last rank starts it.
func (x *chakraBuild) come(m *chakraMeeting, i int32) error {
	if m.here++; m.here < len(m.ranks) {
		return nil
	}
	ready, start := make([][]int32, len(m.ranks)), unit.Time(0)
	last := x.streams[m.group]
	for k, node := range m.nodes {
		if ready[k] = x.after[node]; last != nil {
			ready[k] = append(ready[k], last[k])
		}
		slices.Sort(ready[k])
		ready[k] = slices.Compact(ready[k])
		start = max(start, x.ready[node])
	}
	how := chakraRuns[m.op]
	r, several := m.want()
	ops := 2 * float64(len(m.ranks)*len(m.ranks))
	if several {
		r = x.fit.run(r, m.ranks)
		ops = r.Transfers(len(m.ranks))
	}
	if x.ops += ops; x.ops > workload.MaxOps {
		return at(x.files[m.ranks[0]], 0, "collectives up to %s take more transfers than the %d of a workload",
			x.say(m.nodes[0]), workload.MaxOps)
	}
	if name := chakraOps[m.op] + "s"; several {
		x.fit.note(&x.report, name, &r, how.words, x.files[m.ranks[0]], 0)
	} else {
		note(&x.report.Mapped, name+", as "+how.words, x.files[m.ranks[0]], 0)
	}
	var err error
	x.b.Collective(workload.Collective{Name: chakraOps[m.op], Kind: how.kind, Bytes: r.Bytes, Ranks: m.ranks,
		By: r.algorithm()}, func() {
		if how.run != nil {
			ready = coll.FromRoot(how.run, cut(how.kind), r.Channels, 0, r.Servers)(x.b, m.ranks, r.Bytes, ready)
		} else {
			ready, err = r.Into(x.b, m.ranks, ready)
		}
		for k, ops := range ready {
			ready[k] = []int32{x.b.Compute(m.ranks[k], 0, workload.Other, ops...)}
		}
	})
	if err != nil {
		return at(x.files[m.ranks[0]], 0, "%v", err)
	}
	stream := make([]int32, len(m.ranks))
	for k := range ready {
		stream[k] = ready[k][0]
	}
	x.streams[m.group] = stream
	for k, node := range m.nodes {
		x.release(node, ready[k], start)
	}
	return nil
}
