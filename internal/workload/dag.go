package workload

import (
	"errors"
	"fmt"
	"slices"

	"railyard/internal/coll"
	"railyard/unit"
)

// Class is the purpose of an operation.
type Class uint8

// Classes.
const (
	Other Class = iota
	Forward
	Backward
	Optimizer
	TensorParallel
	PipelineParallel
	DataParallel
	ContextParallel
	ExpertParallel
	DataLoading // a batch, from storage
	Saving      // a model's states, to storage
	Computing   // purpose unknown, as in imported traces
	OnHost      // the host launches kernels and reads data, in parallel with the GPU
	nClasses
)

var classNames = [nClasses]string{"other", "forward", "backward", "optimizer", "tensor-parallel",
	"pipeline-parallel", "data-parallel", "context-parallel", "expert-parallel",
	"data-loading", "checkpoint", "compute", "host"}

func (c Class) String() string { return classNames[c] }

// Stored reports whether operations of the class read from, or write to, servers that store data.
func (c Class) Stored() bool { return c == DataLoading || c == Saving }

// Op is one operation: a compute op on Rank for Dur, or a transfer of Bytes
// from Rank to Peer.
type Op struct {
	Dur   unit.Time
	Bytes unit.Bytes
	Rank  int32
	Peer  int32 // -1 for compute, copies for a copy
	Coll  int32 // its collective, -1 for none
	Deps  int32 // number of operations that it depends on
	Class Class
}

// Compute reports whether the op computes.
func (o *Op) Compute() bool { return o.Peer < 0 }

// copies is the peer of copies.
const copies = -2

// Copies reports whether the op computes by copying the bytes of the transfer after it. A rank copies the bytes of
// one transfer after another, each for Dur, while its transfer carries them.
func (o *Op) Copies() bool { return o.Peer == copies }

// Collective is one instance of a collective.
type Collective struct {
	Name  string // "dp all-reduce", the same for all instances
	Kind  coll.Kind
	Class Class
	Bytes unit.Bytes
	Ranks []int
	By    string // algorithm: ring, tree, direct, as Algorithms names them; "" for plain transfers
	Run   int    // place among the runs of a repeated collective; 0: the first, or not repeated
}

// DAG is a sealed graph. Successors of op i are Succ[First[i]:First[i+1]].
type DAG struct {
	Ranks int
	Ops   []Op
	Colls []Collective
	First []int32
	Succ  []int32
	Names map[int32]string // explicit operations only
}

// MaxOps bounds a workload.
const MaxOps = 20_000_000

// Builder collects operations.
type Builder struct {
	ranks  int
	ops    blocks[Op]
	colls  []Collective
	from   blocks[int32] // dependencies of each operation, Op.Deps of them
	class  Class
	coll   int32
	names  map[int32]string
	tooBig bool
	sums   *sums // nil: operations are kept
}

// blocks is a list that grows without copying its elements.
type blocks[T any] struct {
	n    int
	full [][]T
	last []T
}

// blockSize is the number of elements of a block.
const blockSize = 1 << 15

func (l *blocks[T]) add(x T) {
	if len(l.last) == cap(l.last) && len(l.last) >= blockSize {
		l.full, l.last = append(l.full, l.last), make([]T, 0, blockSize)
	}
	l.last, l.n = append(l.last, x), l.n+1
}

// at is an element.
func (l *blocks[T]) at(i int) T {
	for _, b := range l.full {
		if i < len(b) {
			return b[i]
		}
		i -= len(b)
	}
	return l.last[i]
}

// all returns the elements in one piece.
func (l *blocks[T]) all() []T { return slices.Concat(append(l.full, l.last)...) }

// NewBuilder starts a graph over ranks ranks.
func NewBuilder(ranks int) *Builder { return &Builder{ranks: ranks, coll: -1} }

func (b *Builder) add(o Op, after []int32) int32 {
	if b.sums != nil {
		if !o.Compute() {
			b.sums.add(o)
		}
		return 0
	}
	if b.ops.n >= MaxOps {
		b.tooBig = true
		return 0
	}
	o.Deps = int32(len(after))
	b.ops.add(o)
	for _, d := range after {
		b.from.add(d)
	}
	return int32(b.ops.n - 1)
}

// Compute adds a computation.
func (b *Builder) Compute(rank int, d unit.Time, c Class, after ...int32) int32 {
	return b.add(Op{Dur: d, Rank: int32(rank), Peer: -1, Coll: -1, Class: c}, after)
}

// Copy adds the copying of bytes that takes d; its only dependent is their transfer.
func (b *Builder) Copy(rank int, d unit.Time, after ...int32) int32 {
	return b.add(Op{Dur: d, Rank: int32(rank), Peer: copies, Coll: -1}, after)
}

// Transfer adds a transfer to the current collective; it makes Builder a
// coll.Sink.
func (b *Builder) Transfer(src, dst int, bytes unit.Bytes, after ...int32) int32 {
	return b.add(Op{Bytes: bytes, Rank: int32(src), Peer: int32(dst), Coll: b.coll, Class: b.class}, after)
}

// latest returns, of deliveries to a rank, the last from each sender, because messages of a sender arrive in order.
// It omits those that were known before.
func (b *Builder) latest(ids, before []int32) (last []int32) {
	if b.sums != nil || b.tooBig {
		return ids[:1]
	}
	at := map[int32]int{}
	for _, id := range ids {
		if slices.Contains(before, id) {
			continue
		}
		from := b.ops.at(int(id)).Rank
		if k, ok := at[from]; ok {
			last[k] = max(last[k], id)
			continue
		}
		at[from] = len(last)
		last = append(last, id)
	}
	return last
}

// Collective runs build with a new collective as the current one. Where transfers are summed, build runs once for
// equal collectives.
func (b *Builder) Collective(c Collective, build func()) {
	if b.sums != nil {
		b.class = c.Class
		b.sums.collective(c, build)
		b.class = Other
		return
	}
	b.colls = append(b.colls, c)
	b.coll, b.class = int32(len(b.colls)-1), c.Class
	build()
	b.coll, b.class = -1, Other
}

// ErrEmpty is the error of a graph without operations.
var ErrEmpty = errors.New("the workload is empty")

// Seal checks the graph and builds its indices. A cycle is an error that names it.
func (b *Builder) Seal() (*DAG, error) {
	if b.tooBig {
		return nil, fmt.Errorf("the workload has more than %d operations; use larger microbatches or buckets", MaxOps)
	}
	if b.ops.n == 0 {
		return nil, ErrEmpty
	}
	d := &DAG{Ranks: b.ranks, Ops: b.ops.all(), Colls: b.colls, Names: b.names}
	from := b.from.all()
	b.ops, b.from = blocks[Op]{}, blocks[int32]{}
	d.First = make([]int32, len(d.Ops)+1)
	for _, f := range from {
		d.First[f+1]++
	}
	for i := range d.Ops {
		d.First[i+1] += d.First[i]
	}
	d.Succ = make([]int32, len(from))
	at, next, forward := slices.Clone(d.First), 0, true
	for i := range d.Ops {
		for range d.Ops[i].Deps {
			f := from[next]
			forward = forward && f < int32(i)
			d.Succ[at[f]] = int32(i)
			at[f]++
			next++
		}
	}
	if forward { // a cycle contains an operation that waits for a later one
		return d, nil
	}
	return d, d.checkAcyclic()
}

// Ordered visits the operations, each after all of its dependencies.
func (d *DAG) Ordered(visit func(i int32)) { d.ordered(visit) }

// ordered is Kahn's algorithm. It returns the number of unmet dependencies of each operation, which is non-zero for
// cycles.
func (d *DAG) ordered(visit func(i int32)) (waits []int32) {
	waits = make([]int32, len(d.Ops))
	var ready []int32
	for i := range d.Ops {
		if waits[i] = d.Ops[i].Deps; waits[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		visit(i)
		for _, s := range d.After(i) {
			if waits[s]--; waits[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	return waits
}

// After returns the operations that depend on one.
func (d *DAG) After(i int32) []int32 { return d.Succ[d.First[i]:d.First[i+1]] }

// checkAcyclic finds a cycle in what never becomes ready.
func (d *DAG) checkAcyclic() error {
	done := 0
	if waits := d.ordered(func(int32) { done++ }); done < len(d.Ops) {
		return &CycleError{Ops: d.ring(waits), name: d.name}
	}
	return nil
}

// CycleError reports a graph whose operations wait for one another in a cycle.
type CycleError struct {
	Ops  []int32 // each depends on the next, and the last on the first
	name func(int32) string
}

func (e *CycleError) Error() string {
	return fmt.Sprintf("the workload is cyclic: %s waits, directly or not, for itself", e.name(e.Ops[0]))
}

// ring finds a cycle among the operations with unmet dependencies. Operations that only depend on a cycle are not
// part of it.
func (d *DAG) ring(deps []int32) (ring []int32) {
	before := make([]int32, len(d.Ops)) // an unfinished dependency of each operation
	last := int32(-1)
	for i := range d.Ops {
		if deps[i] == 0 {
			continue
		}
		last = int32(i)
		for _, s := range d.Succ[d.First[i]:d.First[i+1]] {
			before[s] = int32(i)
		}
	}
	seen := make([]bool, len(d.Ops))
	for ; !seen[last]; last = before[last] {
		seen[last] = true
	}
	for ring = append(ring, last); before[ring[len(ring)-1]] != last; {
		ring = append(ring, before[ring[len(ring)-1]])
	}
	first := slices.Index(ring, slices.Min(ring))
	return slices.Concat(ring[first:], ring[:first])
}

// Used lists the ranks that operations are on, in order.
func (d *DAG) Used() (all []int32) {
	is := make([]bool, d.Ranks)
	for i := range d.Ops {
		is[d.Ops[i].Rank] = true
		if peer := d.Ops[i].Peer; peer >= 0 {
			is[peer] = true
		}
	}
	for rank, used := range is {
		if used {
			all = append(all, int32(rank))
		}
	}
	return all
}

// Renumber gives ranks consecutive numbers from 0, one for every rank in use.
func (d *DAG) Renumber(to map[int32]int32) {
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Rank = to[o.Rank]; o.Peer >= 0 {
			o.Peer = to[o.Peer]
		}
	}
	for i := range d.Colls {
		ranks := d.Colls[i].Ranks[:0:0]
		for _, r := range d.Colls[i].Ranks {
			if n, ok := to[int32(r)]; ok {
				ranks = append(ranks, int(n))
			}
		}
		slices.Sort(ranks)
		d.Colls[i].Ranks = ranks
	}
	d.Ranks = len(to)
}

// Critical returns the longest chain of computations: the time the work would take
// if transfers took none.
func (d *DAG) Critical() (end unit.Time) {
	at := make([]unit.Time, len(d.Ops))
	d.Ordered(func(i int32) {
		done := at[i] + d.Ops[i].Dur
		end = max(end, done)
		for _, s := range d.After(i) {
			at[s] = max(at[s], done)
		}
	})
	return end
}

func (d *DAG) name(i int32) string {
	if n, ok := d.Names[i]; ok {
		return n
	}
	return fmt.Sprintf("operation %d", i)
}

// Computing returns the length of the longest chain of computations, in picoseconds. If the sum over all operations
// is below enough it returns that, because it takes no search.
func (d *DAG) Computing(enough float64) float64 {
	sum := 0.0
	for i := range d.Ops {
		sum += float64(d.Ops[i].Dur)
	}
	if sum < enough {
		return sum
	}
	ends, longest := make([]float64, len(d.Ops)), 0.0
	d.Ordered(func(i int32) {
		ends[i] += float64(d.Ops[i].Dur)
		longest = max(longest, ends[i])
		for _, s := range d.After(i) {
			ends[s] = max(ends[s], ends[i])
		}
	})
	return longest
}
