package trace

import (
	"fmt"
	"slices"

	"railyard/internal/coll"
	"railyard/internal/field"
	"railyard/internal/workload"
	"railyard/unit"
)

// pair makes receives wait for their sends: of the same two ranks and tag, in order.
func (x *chakraBuild) pair() error {
	sends, next := map[pair][]int32{}, map[pair]int{}
	visit := func(kind chakraKind, take func(i int32, k pair) error) error {
		for i := range int32(len(x.rankOf)) {
			n, r := x.node(i), int64(x.rankOf[i])
			if n.kind != kind {
				continue
			}
			from, to := r, n.dst
			if kind == chakraRecv {
				from, to = n.src, r
			}
			other := from + to - r
			switch {
			case other == r:
				return at(x.files[r], 0, "%s exchanges bytes with its own rank", x.say(i))
			case other >= int64(len(x.ranks)):
				return at(x.files[r], 0, "%s exchanges bytes with rank %d, which has no file (there are ranks 0 to %d)", x.say(i), other, len(x.ranks)-1)
			}
			if err := take(i, pair{int32(from), int32(to), n.tag}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(chakraSend, func(i int32, k pair) error {
		sends[k] = append(sends[k], i)
		return nil
	}); err != nil {
		return err
	}
	if err := visit(chakraRecv, func(i int32, k pair) error {
		if next[k] == len(sends[k]) {
			return at(x.files[k.to], 0, "%s receives from rank %d with tag %d, and no rank sends it", x.say(i),
				k.from, k.tag)
		}
		from := sends[k][next[k]]
		next[k]++
		if a, b := x.node(from).bytes, x.node(i).bytes; a != b && b >= 0 {
			note(&x.report.Guessed, "receives whose size differs from the send; the size of the send is used", x.files[k.to],
				0)
		}
		x.edge(from, i)
		return nil
	}); err != nil {
		return err
	}
	return visit(chakraSend, func(i int32, k pair) error {
		if next[k] < len(sends[k]) && i == sends[k][next[k]] {
			return at(x.files[k.from], 0, "%s sends to rank %d with tag %d, and no rank receives it", x.say(i),
				k.to, k.tag)
		}
		return nil
	})
}

// meeting is the key of a rank's collective: the k-th of a kind in its group.
type meeting struct {
	group string
	op    int16
	k     int
}

// meet finds the nodes of the ranks of every collective.
func (x *chakraBuild) meet() error {
	all := map[meeting]*chakraMeeting{}
	var order []*chakraMeeting
	users := x.users()
	for r := range x.ranks {
		known, count := map[string]chakraGroup{}, map[meeting]int{}
		for i := range x.ranks[r] {
			n := &x.ranks[r][i]
			if !n.together() {
				continue
			}
			g, err := x.groupOf(r, n, known, users)
			if err != nil {
				return err
			}
			if len(g.ranks) < 2 {
				continue
			}
			key := meeting{group: g.key, op: n.op}
			key.k = count[key]
			count[meeting{group: g.key, op: n.op}]++
			m := all[key]
			if m == nil {
				m = &chakraMeeting{op: n.op, group: g.key, ranks: g.ranks, nodes: make([]int32, len(g.ranks)),
					bytes: n.bytes}
				for k := range m.nodes {
					m.nodes[k] = -1
				}
				all[key], order = m, append(order, m)
			}
			if m.bytes != n.bytes {
				note(&x.report.Guessed, "collectives whose size differs between ranks; the largest is used",
					x.files[r], 0)
				m.bytes = max(m.bytes, n.bytes)
			}
			if n.some {
				note(&x.report.Guessed, "collectives over some dimensions of the network (involved_dim), simulated over their whole group", x.files[r], 0)
			}
			m.nodes[slices.Index(g.ranks, r)] = x.first[r] + int32(i)
			x.meets[x.first[r]+int32(i)] = m
		}
	}
	for _, m := range order {
		if k := slices.Index(m.nodes, -1); k >= 0 {
			is := m.nodes[slices.IndexFunc(m.nodes, func(i int32) bool { return i >= 0 })]
			return at(x.files[m.ranks[k]], 0, "rank %d does not take part in the %s of %s that %s is: it has fewer of them", m.ranks[k], chakraOps[m.op], groupWords(m.ranks), x.say(is))
		}
	}
	x.fit.reckon(float64(x.nodes), func(add func(Run, []int)) {
		for _, m := range order {
			if want, several := m.want(); several {
				add(want, m.ranks)
			}
		}
	})
	return nil
}

// together reports whether a node is a supported collective.
func (n *chakraNode) together() bool {
	return n.kind == chakraCollective && !n.cpu &&
		(n.op == chakraBarrier || n.op != chakraUnknown && n.bytes >= 0)
}

// chakraGroup is a process group as a rank means it.
type chakraGroup struct {
	ranks []int
	key   string
}

// users are the ranks that name a group in a collective.
func (x *chakraBuild) users() map[string][]int {
	all := map[string][]int{}
	for r := range x.ranks {
		for i := range x.ranks[r] {
			n := &x.ranks[r][i]
			if list := all[n.group]; n.kind == chakraCollective && (len(list) == 0 ||
				list[len(list)-1] != r) {
				all[n.group] = append(list, r)
			}
		}
	}
	return all
}

// groupOf finds the ranks of a node's group: from the rank's own nodes, or a file, or all ranks.
func (x *chakraBuild) groupOf(r int, n *chakraNode, known map[string]chakraGroup,
	users map[string][]int) (chakraGroup,
	error) {
	if g, has := known[n.group]; has {
		return g, nil
	}
	ranks, said := x.own[r][n.group]
	if !said {
		ranks, said = x.shared[n.group]
	}
	switch {
	case said:
	case n.group == "" || n.group == "0":
		ranks = seqOf(len(x.ranks))
	default:
		note(&x.report.Guessed, "process groups without a description, assumed to contain the ranks that use them",
			x.files[r], 0)
		ranks = users[n.group]
	}
	sorted := slices.Sorted(slices.Values(ranks))
	for k, rank := range sorted {
		if rank < 0 || rank >= len(x.ranks) {
			return chakraGroup{}, at(x.files[r], 0, "process group %s has rank %d, which has no file (there are ranks 0 to %d)", field.Quote(n.group), rank, len(x.ranks)-1)
		}
		if k > 0 && sorted[k-1] == rank {
			return chakraGroup{}, at(x.files[r], 0, "process group %s has rank %d twice",
				field.Quote(n.group),
				rank)
		}
	}
	if !slices.Contains(ranks, r) {
		return chakraGroup{}, at(x.files[r], 0, "rank %d's node %d is in a collective of process group %s, which is %s", r, n.id, field.Quote(n.group), groupWords(ranks))
	}
	known[n.group] = chakraGroup{ranks: ranks, key: fmt.Sprint(ranks)}
	return known[n.group], nil
}

// seqOf are the numbers from 0 to n-1.
func seqOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// groupWords describes the ranks of a group.
func groupWords(ranks []int) string {
	n := len(ranks)
	switch {
	case n == 0:
		return "no ranks"
	case n > 1 && ranks[n-1]-ranks[0] == n-1 && slices.IsSorted(ranks):
		return fmt.Sprintf("ranks %d to %d", ranks[0], ranks[n-1])
	case n > 8:
		return fmt.Sprintf("ranks %v and %d more", ranks[:8], n-8)
	}
	return fmt.Sprintf("ranks %v", ranks)
}

// chakraRuns are the algorithms of collectives, by their kind in the schema. It is the fabric's default for their
// kind, unless run sets another.
var chakraRuns = [...]struct {
	run   coll.Algorithm
	kind  coll.Kind
	words string // note on the algorithm, or on the kind if there is only one
}{
	chakraAllReduce:          {nil, coll.AllReduce, ""},
	chakraReduce:             {reduceChain, coll.Bcast, " to the group's first rank"},
	chakraAllGather:          {nil, coll.AllGather, ""},
	chakraGather:             {gather, coll.SendRecv, "transfers to the group's first rank"},
	chakraScatter:            {scatter, coll.SendRecv, "transfers from the group's first rank"},
	chakraBroadcast:          {coll.Chain, coll.Bcast, " from the group's first rank"},
	chakraAllToAll:           {nil, coll.ToAll, ""},
	chakraReduceScatter:      {nil, coll.ReduceScatter, ""},
	chakraReduceScatterBlock: {nil, coll.ReduceScatter, ""},
	chakraBarrier:            {barrier, coll.ToAll, "exchanges of a byte"},
}

// want returns a collective of a Chakra trace as a run; false: its kind has only one algorithm.
func (m *chakraMeeting) want() (Run, bool) {
	how := &chakraRuns[m.op]
	bytes := unit.Bytes(max(1, m.bytes))
	if m.op == chakraAllGather || m.op == chakraGather {
		bytes *= unit.Bytes(len(m.ranks)) // a node's bytes are the bytes of each rank
	}
	return Run{CollectiveRun: workload.CollectiveRun{Kind: how.kind, Bytes: bytes}},
		how.run == nil || how.kind == coll.Bcast
}

// reduceChain adds up along a chain that ends at the first rank.
func reduceChain(s coll.Sink, ranks []int, b unit.Bytes, ready [][]int32) [][]int32 {
	done := slices.Clone(ready)
	last := int32(-1)
	for i := len(ranks) - 1; i > 0; i-- {
		after := slices.Clone(ready[i])
		if last >= 0 {
			after = append(after, last)
		}
		last = s.Transfer(ranks[i], ranks[i-1], b, after...)
		done[i-1] = append(slices.Clone(done[i-1]), last)
	}
	return done
}

// cut returns the pieces of a collective from or to one rank: chains are split into pieces, single transfers are
// not.
func cut(kind coll.Kind) func(unit.Bytes) int {
	if kind == coll.Bcast {
		return coll.ChainPieces
	}
	return coll.Whole
}

// gather sends every rank's share to the first rank.
func gather(s coll.Sink, ranks []int, b unit.Bytes, ready [][]int32) [][]int32 {
	done := slices.Clone(ready)
	done[0] = slices.Clone(ready[0])
	for i := 1; i < len(ranks); i++ {
		done[0] = append(done[0], s.Transfer(ranks[i], ranks[0], max(1, b/unit.Bytes(len(ranks))),
			ready[i]...))
	}
	return done
}

// scatter sends every rank's share from the first rank.
func scatter(s coll.Sink, ranks []int, b unit.Bytes, ready [][]int32) [][]int32 {
	done := slices.Clone(ready)
	for i := 1; i < len(ranks); i++ {
		op := s.Transfer(ranks[0], ranks[i], max(1, b/unit.Bytes(len(ranks))), ready[0]...)
		done[i] = append(slices.Clone(ready[i]), op)
	}
	return done
}

// barrier makes every rank wait for all others.
func barrier(s coll.Sink, ranks []int, _ unit.Bytes, ready [][]int32) [][]int32 {
	return coll.AllToAll(s, ranks, unit.Bytes(len(ranks)), ready)
}
