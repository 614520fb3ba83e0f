package exec

import (
	"slices"

	"railyard/internal/fluid"
	"railyard/internal/workload"
	"railyard/unit"
)

// Ahead is a mix of jobs in two parts. One has the operations that wait for no transfer over the network, directly
// or indirectly. They share neither a pipe inside a server nor a rank's copying with an operation that does. The
// other execution has the remaining operations. Operations of the first kind have times that do not depend on the
// network, and are executed once.
type Ahead struct {
	Whole *workload.Mix
	// Rest has the other operations, and their dependencies of the first kind as computations without inputs.
	Rest *workload.Mix
	// Start and end of the first part, by operation of Whole.
	Start, End []unit.Time
	Cause      []int32

	of []int32 // by operation of Rest: its operation of Whole; nil: identical
	at []int32 // by operation of Whole: its operation of Rest; -1: already executed

	// bytes of Whole over the network; bytes that were executed over NVLink and are not in Rest
	netBytes, nvBytes unit.Bytes
}

// worthwhile is the minimum share of all operations for which it pays to execute them ahead.
const worthwhile = 0.25

// Execution prepares the execution of Whole, in which the operations executed ahead have their times from the
// beginning.
func (a *Ahead) Execution(c Carrier, m Machine) *Execution {
	if a.of == nil {
		return New(c, m, a.Whole)
	}
	x := &Execution{Work: a.Whole, DAG: a.Whole.DAG, Machine: m, Start: slices.Clone(a.Start), End: slices.Clone(a.End),
		Cause: slices.Clone(a.Cause), Left: len(a.of), NetBytes: a.netBytes, NVBytes: a.nvBytes, carrier: c,
		deps: make([]int32, len(a.at))}
	x.pipes, x.copied = newPipes(&x.Machine), make([]unit.Time, len(m.Server))
	for _, i := range a.of {
		if x.End[i] == unit.Never {
			x.deps[i] = x.DAG.Ops[i].Deps
		} else { // other operations depend on it
			x.ahead = append(x.ahead, i)
		}
	}
	return x
}

// NewAhead executes what waits for no network.
func NewAhead(m Machine, mix *workload.Mix) *Ahead {
	a := &Ahead{Whole: mix, Rest: mix}
	x := New(nil, m, mix)
	later, n := x.later()
	if float64(len(later)-n) < worthwhile*float64(len(later)) {
		return a
	}
	alone := &alone{x: x}
	x.carrier = alone
	x.Begin()
	for alone.bells.Len() > 0 {
		b := alone.bells.Pop()
		alone.now = b.At
		x.Ring(b.Of)
		if x.End[b.Of.Op] == b.At && b.Of.Stage != begun && !later[b.Of.Op] {
			alone.ended = append(alone.ended, b.Of.Op)
		}
	}
	a.Start, a.End, a.Cause, a.netBytes = x.Start, x.End, x.Cause, x.NetBytes
	bounds := a.divide(later, alone.ended)
	for i, o := range mix.DAG.Ops {
		if later[i] {
			a.Start[i], a.End[i], a.Cause[i] = 0, unit.Never, -1
		} else if !bounds[i] {
			a.nvBytes += o.Bytes
		}
	}
	return a
}

// alone is a carrier for nothing over the network.
type alone struct {
	x     *Execution
	now   unit.Time
	bells fluid.Bells[Bell]
	ended []int32 // in order
}

func (c *alone) Now() unit.Time                   { return c.now }
func (c *alone) After(d unit.Time, b Bell)        { c.bells.Push(c.now+d, b) }
func (c *alone) Send(int32, int, int, unit.Bytes) {}
func (c *alone) Reaches(from, to int) bool        { return true }

// later finds the operations that wait for the network or share pipes or copying with those, and counts them.
func (x *Execution) later() (later []bool, n int) {
	later, used, copies := make([]bool, len(x.DAG.Ops)), make([]bool, x.Pipes()), make([]bool, len(x.Machine.Server))
	var found []int32
	add := func(i int32) {
		if !later[i] {
			later[i], n, found = true, n+1, append(found, i)
		}
	}
	var buf [MaxWay]int32
	way := func(i int32) []int32 { // inside its sender's server
		o := &x.DAG.Ops[i]
		from, to := int(o.Rank), int(o.Peer)
		if r := x.Machine.Rail; !x.Local(from, to) {
			if r[from] == r[to] || r[from] == AnyRail || r[to] == AnyRail {
				return nil
			}
			to = x.Machine.OnRail(from, to)
		}
		if from == to {
			return nil
		}
		return x.Way(from, to, buf[:])
	}
	for i := range x.DAG.Ops {
		if o := &x.DAG.Ops[i]; !o.Compute() && !x.Local(int(o.Rank), int(o.Peer)) {
			add(int32(i))
		}
	}
	for len(found) > 0 {
		for len(found) > 0 {
			i := found[len(found)-1]
			found = found[:len(found)-1]
			for _, s := range x.DAG.After(i) {
				add(s)
			}
			if o := &x.DAG.Ops[i]; o.Copies() {
				copies[o.Rank] = true
			} else if !o.Compute() {
				for _, pipe := range way(i) {
					used[pipe] = true
				}
			}
		}
		for i := range x.DAG.Ops {
			o := &x.DAG.Ops[i]
			if o.Copies() && copies[o.Rank] {
				add(int32(i))
			}
			if later[i] || o.Compute() {
				continue
			}
			for _, pipe := range way(int32(i)) {
				if used[pipe] {
					add(int32(i))
					break
				}
			}
		}
	}
	return later, n
}

// divide builds the mix of the remaining operations. Operations that ended are listed in the order of their ends.
// The last operation is also in the rest, as the computation that ends it. Bounds marks operations of Whole that
// ended and are in Rest.
func (a *Ahead) divide(later []bool, ended []int32) (bounds []bool) {
	d := a.Whole.DAG
	bounds = make([]bool, len(d.Ops))
	for _, i := range ended {
		bounds[i] = slices.ContainsFunc(d.After(i), func(s int32) bool { return later[s] })
	}
	if len(ended) > 0 {
		bounds[ended[len(ended)-1]] = true
	}
	a.at = slices.Repeat([]int32{-1}, len(d.Ops))
	rest := &workload.DAG{Ranks: d.Ranks, Colls: d.Colls}
	a.Rest = &workload.Mix{DAG: rest, Jobs: slices.Clone(a.Whole.Jobs)}
	for j := range a.Rest.Jobs {
		part := &a.Rest.Jobs[j]
		first, last := part.Ops[0], part.Ops[1]
		part.Ops[0] = int32(len(a.of))
		for _, i := range ended {
			if first <= i && i < last && bounds[i] {
				a.at[i], a.of = int32(len(a.of)), append(a.of, i)
			}
		}
		for i := first; i < last; i++ {
			if later[i] {
				a.at[i], a.of = int32(len(a.of)), append(a.of, i)
			}
		}
		part.Ops[1] = int32(len(a.of))
	}
	rest.Ops, rest.First = make([]workload.Op, len(a.of)), make([]int32, 1, len(a.of)+1)
	for k, i := range a.of {
		o := d.Ops[i]
		if !later[i] {
			o = workload.Op{Dur: a.End[i] - a.Whole.Jobs[a.Whole.Of(i)].Start, Rank: o.Rank, Peer: -1, Coll: o.Coll,
				Class: o.Class}
		}
		rest.Ops[k] = o
		for _, s := range d.After(i) {
			if later[s] {
				rest.Succ = append(rest.Succ, a.at[s])
			}
		}
		rest.First = append(rest.First, int32(len(rest.Succ)))
	}
	for i := range a.at {
		if !later[i] {
			a.at[i] = -1
		}
	}
	return bounds
}

// Of returns the operation of Whole for one of Rest.
func (a *Ahead) Of(op int32) int32 {
	if a.of == nil {
		return op
	}
	return a.of[op]
}

// In returns the operation of Rest for one of Whole, and -1 for an executed one.
func (a *Ahead) In(op int32) int32 {
	if a.of == nil {
		return op
	}
	return a.at[op]
}
