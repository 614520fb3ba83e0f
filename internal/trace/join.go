package trace

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/workload"
	"railyard/unit"
)

// call is a collective, or a message, with the acts of all participants.
type call struct {
	group int32
	what  op
	bytes unit.Bytes
	root  int32
	by    how
	acts  []int32 // by position in the group, or for a message the send and the receive; -1: none
	open  int     // number of these that are still blocked
	file  string
	line  int32
}

// callKey is the key that calls of different ranks share.
type callKey struct {
	group    int32
	from, to int32 // places of the two ranks of a message in the group; else -1
	seq      int64
}

// joined is all ranks' acts as one list, and the calls between them.
type joined struct {
	*calls
	base []int32 // by member: the first of its acts
	who  []int32 // by act, the member
	in   []int32 // by act: the call in which it takes part; -1: none
	all  []call
}

// join matches the calls of ranks: by group and number, messages by sender, receiver and order.
func (c *calls) join() (*joined, error) {
	j := &joined{calls: c}
	total := 0
	for i := range c.members {
		j.base = append(j.base, int32(total))
		if total += len(c.members[i].acts); total > workload.MaxOps {
			return nil, at(c.members[i].file, 0, "what ranks do up to here takes %d operations, more than the %d of a workload", total, workload.MaxOps)
		}
	}
	j.who, j.in = make([]int32, total), make([]int32, total)
	found := map[callKey]int32{}
	for i := range c.members {
		m := &c.members[i]
		next := map[callKey]int64{}
		for k := range m.acts {
			n := j.base[i] + int32(k)
			j.who[n], j.in[n] = int32(i), -1
			if m.acts[k].what != opCompute && m.acts[k].what != opNothing {
				j.meet(n, m, &m.acts[k], next, found)
			}
		}
	}
	if err := j.missing(float64(total)); err != nil {
		return nil, err
	}
	return j, nil
}

// meet adds an act to its call.
func (j *joined) meet(n int32, m *member, a *act, next map[callKey]int64, found map[callKey]int32) {
	g := j.group(m, a)
	place := g.place(m.rank)
	if place < 0 || len(g.ranks) < 2 || (a.what == opSend || a.what == opRecv) &&
		(int(a.peer) == place || a.peer < 0 || int(a.peer) >= len(g.ranks)) {
		what := "calls of one rank alone"
		if place < 0 {
			what = "calls of groups that the rank is not in"
		}
		note(&j.report.Left, what, m.file, int(a.line))
		return
	}
	key := callKey{group: m.id(a), from: -1, to: -1}
	seats := len(g.ranks)
	if a.what == opSend || a.what == opRecv {
		key.from, key.to, seats = int32(place), a.peer, 2
		if place = 0; a.what == opRecv {
			key.from, key.to, place = key.to, key.from, 1
		}
	}
	if key.seq = a.seq; a.seq < 0 || seats == 2 && key.from >= 0 {
		key.seq = next[callKey{key.group, key.from, key.to, 0}]
		next[callKey{key.group, key.from, key.to, 0}]++
	}
	i, ok := found[key]
	if !ok {
		i = int32(len(j.all))
		found[key] = i
		x := call{group: key.group, what: a.what, bytes: a.bytes, root: a.peer, by: a.by, file: m.file,
			line: a.line, acts: make([]int32, seats)}
		for k := range x.acts {
			x.acts[k] = -1
		}
		if key.from >= 0 {
			x.what, x.root = opSend, -1
		}
		j.all = append(j.all, x)
	}
	x := &j.all[i]
	if x.acts[place] >= 0 {
		note(&j.report.Left, "duplicate calls", m.file, int(a.line))
		return
	}
	if a.bytes != x.bytes || key.from < 0 && a.what != x.what {
		note(&j.report.Guessed, "calls that differ between ranks; the call of the lowest rank is used", m.file, int(a.line))
	}
	x.acts[place] = n
	j.in[n] = i
}

// missing omits calls without some rank, and returns an error if too few remain. acts is the number of operations
// without them.
func (j *joined) missing(acts float64) error {
	j.fit.per = j.per
	j.fit.reckon(acts, func(add func(Run, []int)) {
		for i := range j.all {
			if x := &j.all[i]; x.collective() && !slices.Contains(x.acts, -1) {
				add(j.want(x), j.groups[x.group].ranks)
			}
		}
	})
	for i := range j.all {
		x := &j.all[i]
		if !slices.Contains(x.acts, -1) {
			j.mapped(x)
			if acts += j.size(x); acts > workload.MaxOps {
				return at(x.file, int(x.line), "with this %v of %s, the %s of all, the workload takes more than the %d operations that there may be: take a step with fewer", x.what,
					unit.Plural(len(j.groups[x.group].ranks), "rank"), ordinal(i+1), workload.MaxOps)
			}
			continue
		}
		what := "calls that not all ranks of their group make"
		if x.what == opSend {
			what = "sends without a receive, and receives without a send"
		}
		note(&j.report.Left, what, x.file, int(x.line))
		for _, n := range x.acts {
			if n >= 0 {
				j.in[n] = -1
			}
		}
		x.acts = nil
	}
	return nil
}

// collective reports whether NCCL has several algorithms for a call.
func (x *call) collective() bool {
	_, is := x.what.kind()
	return is
}

// want returns the algorithm that the trace has for a call.
func (j *joined) want(x *call) Run {
	kind, _ := x.what.kind()
	return Run{CollectiveRun: workload.CollectiveRun{Kind: kind, Bytes: max(1, x.bytes),
		Algorithm: algorithms[x.by.algorithm], Protocol: protocols[x.by.protocol],
		Orders: j.groups[x.group].rings}, named: x.by.named}
}

// size returns the number of operations that a call takes, from above.
func (j *joined) size(x *call) float64 {
	ranks := j.groups[x.group].ranks
	n := float64(len(ranks))
	switch {
	case x.what == opSend:
		return 3
	case !x.collective():
		return 2 * n
	}
	r := j.fit.run(j.want(x), ranks)
	if x.what == opBroadcast || x.what == opReduce {
		c := float64(max(1, r.Channels))
		return n * (c*float64(coll.ChainPieces(x.bytes/unit.Bytes(c)+1)) + 1)
	}
	return r.Transfers(len(ranks)) + n
}

// ordinal is 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	end := "th"
	if n%100/10 != 1 && n%10 > 0 && n%10 < 4 {
		end = []string{"", "st", "nd", "rd"}[n%10]
	}
	return fmt.Sprintf("%d%s", n, end)
}

// mapped describes how a call is run.
func (j *joined) mapped(x *call) {
	if x.what == opSend {
		note(&j.report.Mapped, "messages, as transfers", x.file, int(x.line))
		return
	}
	g := &j.groups[x.group]
	name := g.class.String() + " "
	if name == "other " {
		name = ""
	}
	s := x.what.String() + "s"
	if strings.HasSuffix(s, "chs") {
		s = x.what.String() + "es"
	}
	s = name + s + " of " + unit.Plural(len(g.ranks), "rank")
	if !x.collective() {
		note(&j.report.Mapped, s+", as direct transfers", x.file, int(x.line))
		return
	}
	r := j.fit.run(j.want(x), g.ranks)
	j.fit.note(&j.report, s, &r, "", x.file, int(x.line))
}

// build emits acts once all their dependencies are emitted, and calls once all their ranks are ready.
func (j *joined) build() (*workload.DAG, error) {
	b := workload.NewBuilder(j.ranks)
	followers, first := j.followers()
	open := make([]int32, len(j.who))
	id := make([]int32, len(j.who)) // the index of the operation that ends an act
	var ready []int32
	for i := range j.members {
		m := &j.members[i]
		for k := range m.acts {
			n := j.base[i] + int32(k)
			if open[n] = int32(len(m.waits(int32(k)))); open[n] == 0 {
				ready = append(ready, n)
			}
		}
	}
	for i := range j.all {
		j.all[i].open = len(j.all[i].acts)
	}
	emitted := 0
	done := func(n int32) {
		emitted++
		for _, s := range followers[first[n]:first[n+1]] {
			if open[s]--; open[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	for next := 0; next < len(ready); next++ {
		n := ready[next]
		m := &j.members[j.who[n]]
		k := n - j.base[j.who[n]]
		a := &m.acts[k]
		var after []int32
		for _, w := range m.waits(k) {
			after = append(after, id[j.base[j.who[n]]+w])
		}
		class := workload.Other
		if a.what == opCompute {
			class = workload.Computing
			note(&j.report.Mapped, "computations", m.file, int(a.line))
		}
		id[n] = b.Compute(m.rank, a.dur, class, after...)
		if j.in[n] < 0 {
			done(n)
			continue
		}
		if x := &j.all[j.in[n]]; x.open > 1 {
			x.open--
		} else {
			x.open = 0
			if err := j.emit(b, x, id); err != nil {
				return nil, at(x.file, int(x.line), "%v", err)
			}
			for _, n := range x.acts {
				done(n)
			}
		}
	}
	if emitted < len(j.who) {
		return nil, j.stuck(open)
	}
	d, err := b.Seal()
	if err != nil {
		return nil, at(j.file, 0, "%v", err)
	}
	return d, nil
}

// followers returns the dependents of each act, from its first up to the next act's first.
func (j *joined) followers() (next, first []int32) {
	first = make([]int32, len(j.who)+1)
	for pass := range 2 {
		for i := range j.members {
			m := &j.members[i]
			for k := range m.acts {
				for _, w := range m.waits(int32(k)) {
					on := j.base[i] + w
					if pass == 0 {
						first[on+1]++
						continue
					}
					next[first[on]] = j.base[i] + int32(k)
					first[on]++
				}
			}
		}
		if pass == 0 {
			for i := 1; i < len(first); i++ {
				first[i] += first[i-1]
			}
			next = make([]int32, first[len(first)-1])
		}
	}
	copy(first[1:], first[:len(first)-1]) // the second pass moved each start to its end
	first[0] = 0
	return next, first
}

// emit adds a call's operations. id contains, for each act, first its dependencies and then its last operation.
func (j *joined) emit(b *workload.Builder, x *call, id []int32) (err error) {
	g := &j.groups[x.group]
	name := x.what.String()
	if g.name != "" {
		name = g.name + " " + name
	}
	c := workload.Collective{Name: name, Kind: coll.SendRecv, Class: g.class, Bytes: max(1, x.bytes), Ranks: g.ranks}
	if x.what == opSend {
		from, to := j.members[j.who[x.acts[0]]].rank, j.members[j.who[x.acts[1]]].rank
		c.Ranks = []int{min(from, to), max(from, to)}
		b.Collective(c, func() {
			sent := b.Transfer(from, to, c.Bytes, id[x.acts[0]])
			if x.bytes > eager {
				id[x.acts[0]] = b.Compute(from, 0, workload.Other, sent, id[x.acts[1]])
			}
			id[x.acts[1]] = b.Compute(to, 0, workload.Other, sent, id[x.acts[1]])
		})
		return nil
	}
	ready := make([][]int32, len(g.ranks))
	for i, n := range x.acts {
		ready[i] = []int32{id[n]}
	}
	var r Run
	if x.collective() {
		r = j.fit.run(j.want(x), g.ranks)
		c.Kind, c.By = r.Kind, r.algorithm()
	}
	b.Collective(c, func() {
		if first := rooted[x.what]; first != nil {
			root := max(0, int(x.root)) % len(g.ranks)
			kind, _ := x.what.kind()
			ready = coll.FromRoot(first, cut(kind), r.Channels, root, r.Servers)(b, g.ranks, c.Bytes, ready)
		} else {
			ready, err = r.Into(b, g.ranks, ready)
		}
		for i, ids := range ready {
			id[x.acts[i]] = b.Compute(g.ranks[i], 0, workload.Other, ids...)
		}
	})
	return err
}

// stuck returns the first call that is blocked for ever, and the rank for which it waits.
func (j *joined) stuck(open []int32) error {
	for i := range j.all {
		x := &j.all[i]
		if x.open <= 0 || x.open == len(x.acts) {
			continue
		}
		for _, n := range x.acts {
			if open[n] > 0 {
				m := &j.members[j.who[n]]
				return at(x.file, int(x.line), "this %v of ranks %s is blocked on rank %d without end: ranks make their calls in orders that contradict one another", x.what,
					few(j.groups[x.group].ranks), m.rank)
			}
		}
	}
	return at(j.file, 0, "ranks make their calls in orders that contradict one another")
}
