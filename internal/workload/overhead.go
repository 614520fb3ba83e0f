package workload

import (
	"fmt"

	"railyard/internal/coll"
	"railyard/unit"
)

// Overhead is the time of a collective library that a graph of transfers lacks: the launch of its kernel and, at
// each transfer, a rank's work before the next piece.
type Overhead struct {
	Launch unit.Time // delay before a rank's first transfer of a collective
	Local  unit.Time // delay before each transfer inside a server
	Remote unit.Time // delay before each transfer between servers
}

// Delayed returns a graph whose transfers of collectives are delayed by computations of class Other before them.
// local reports whether two ranks share a server. Flows outside collectives, and graphs without overhead, are not
// changed.
func (d *DAG) Delayed(o Overhead, local func(a, b int) bool) (*DAG, error) {
	if o == (Overhead{}) {
		return d, nil
	}
	follows := d.follows()
	waits := make([]unit.Time, len(d.Ops))
	total := len(d.Ops)
	for i := range d.Ops {
		if waits[i] = d.waits(int32(i), o, follows[i], local); waits[i] > 0 {
			total++
		}
	}
	if total > MaxOps {
		return nil, fmt.Errorf("with their overheads the workload has %d operations, at most %d are taken",
			total, MaxOps)
	}
	return d.insert(waits, total), nil
}

// follows marks operations that wait for one of their own collective, also through a wait of its protocol.
func (d *DAG) follows() []bool {
	out, through := make([]bool, len(d.Ops)), make(map[int32]int32)
	for i := range d.Ops {
		c, waits := through[int32(i)]
		if !waits {
			c = d.Ops[i].Coll
		}
		if c < 0 {
			continue
		}
		for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
			switch o := &d.Ops[s]; {
			case o.Coll == c:
				out[s] = true
			case o.Compute() && o.Class == Other:
				through[s] = c
			}
		}
	}
	return out
}

// waits returns the time that an operation waits besides its inputs.
func (d *DAG) waits(i int32, o Overhead, follows bool, local func(a, b int) bool) unit.Time {
	x := &d.Ops[i]
	if x.Compute() || x.Coll < 0 {
		return 0
	}
	if c := &d.Colls[x.Coll]; c.Kind == coll.SendRecv && c.Class == Other {
		return 0
	}
	t := o.Remote
	if local(int(x.Rank), int(x.Peer)) {
		t = o.Local
	}
	if !follows {
		t += o.Launch
	}
	return t
}

// insert adds a computation before each operation that has to wait. The computation gets the operation's
// dependencies.
func (d *DAG) insert(waits []unit.Time, total int) *DAG {
	n := &DAG{Ranks: d.Ranks, Colls: d.Colls, Ops: make([]Op, 0, total), First: make([]int32, 1, total+1),
		Succ: make([]int32, 0, len(d.Succ)+total-len(d.Ops))}
	entry := make([]int32, len(d.Ops)) // destination of an operation's inputs
	for i, at := 0, int32(0); i < len(d.Ops); i++ {
		entry[i] = at
		if at++; waits[i] > 0 {
			at++
		}
	}
	if d.Names != nil {
		n.Names = make(map[int32]string, len(d.Names))
	}
	for i := range d.Ops {
		x := d.Ops[i]
		if waits[i] > 0 {
			n.Ops = append(n.Ops, Op{Dur: waits[i], Rank: x.Rank, Peer: -1, Coll: -1, Deps: x.Deps})
			n.Succ = append(n.Succ, int32(len(n.Ops)))
			n.First = append(n.First, int32(len(n.Succ)))
			x.Deps = 1
		}
		if name, ok := d.Names[int32(i)]; ok {
			n.Names[int32(len(n.Ops))] = name
		}
		n.Ops = append(n.Ops, x)
		for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
			n.Succ = append(n.Succ, entry[s])
		}
		n.First = append(n.First, int32(len(n.Succ)))
	}
	return n
}
