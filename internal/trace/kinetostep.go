package trace

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"railyard/unit"
)

// sizes of data types, by PyTorch's names, and C++'s without c10::.
var typeSizes = map[string]int64{"float": 4, "float32": 4, "half": 2, "float16": 2, "bfloat16": 2,
	"double": 8, "float64": 8, "int": 4, "int32": 4, "long": 8, "int64": 8, "short": 2, "int16": 2,
	"char": 1, "int8": 1, "long int": 8, "short int": 2, "signed char": 1, "unsigned char": 1,
	"byte": 1, "uint8": 1, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8e4m3fn": 1,
	"float8e5m2": 1, "complexfloat": 8, "complexdouble": 16, "complexhalf": 4, "uint16": 2, "uint32": 4,
	"uint64": 8, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1}

// slack is the time, in ns, that a stream may idle without having waited for another.
const slack = 2000

// mark is a time at which a rank's computation is split.
type mark struct {
	at   int64
	what uint8 // endsCompute, communicates, waits: in this order at one time
	call int32 // place among the kernels that communicate
	busy int64 // waits: when computing had ended
}

const (
	endsCompute uint8 = iota
	communicates
	waits
)

// member makes acts of a step's kernels. Computation is one chain, split where a call depends on it and where it
// depends on a call. A call depends on the last computation launched before it, as in PyTorch, and on the previous
// call of its stream. Computation depends on a call that ends while nothing else runs.
func (k *kineto) member(c *calls, rank int) error {
	if rank >= maxRanks || k.info.World > maxRanks {
		return at(k.Name, 0, "is of rank %d of %d, at most %d are read", rank, k.info.World, maxRanks)
	}
	c.ranks = max(c.ranks, k.info.World)
	if len(c.members) > 0 && len(k.kernels) > maxActs/4 {
		return at(k.Name, 0, "has %d kernels in the step, too many compared with other ranks", len(k.kernels))
	}
	m := member{rank: rank, file: k.Name}
	var computing, talking []kernel
	var acts []act
	for _, x := range k.kernels {
		if x.call >= 0 {
			if a, ok := k.act(c, rank, &k.calls[x.call]); ok {
				talking, acts = append(talking, x), append(acts, a)
				continue
			}
		}
		computing = append(computing, x)
	}
	b := &builder{m: &m, talking: talking, acts: acts, placed: make([]int32, len(talking)),
		on: make([]int32, len(talking)), since: make([]int64, len(talking)), from: k.kernels[0].from}
	for i := range b.on {
		b.on[i] = -1
	}
	b.run(b.marks(computing), computing)
	for range b.gaps {
		note(&k.report.Guessed, "waits of computation for a call, taken from gaps on the GPU", k.Name, 0)
	}
	c.members = append(c.members, m)
	return nil
}

// builder turns marks into acts.
type builder struct {
	m       *member
	talking []kernel
	acts    []act
	placed  []int32 // by call: its index in the member
	on      []int32 // by call: the act on which it depends
	since   []int64 // end of that operation; 0: none
	from    int64   // start of the current computation
	chain   []int32 // operation that each is blocked on
	gaps    int
}

// marks finds where computing is cut.
func (b *builder) marks(computing []kernel) (all []mark) {
	launched := slices.Clone(computing)
	slices.SortStableFunc(launched, func(x, y kernel) int { return cmp.Compare(x.launch, y.launch) })
	for i, t := range b.talking {
		// the last computation launched before, among the computations that had ended when the call began
		n, _ := slices.BinarySearchFunc(launched, t, func(x, t kernel) int {
			if t.launch == 0 || x.launch < t.launch {
				return -1
			}
			return 1
		})
		for n--; n >= 0 && launched[n].to > t.from+slack/2; n-- {
		}
		if n >= 0 {
			b.since[i] = min(launched[n].to, t.from)
			all = append(all, mark{at: b.since[i], what: endsCompute, call: int32(i)})
		}
		all = append(all, mark{at: t.from, what: communicates, call: int32(i)})
	}
	ended := make([]int32, len(b.talking)) // calls in the order of their ends
	for i := range ended {
		ended[i] = int32(i)
	}
	slices.SortStableFunc(ended, func(x, y int32) int { return cmp.Compare(b.talking[x].to, b.talking[y].to) })
	busy, next := b.from, 0
	for _, x := range computing {
		last := int32(-1)
		for next < len(ended) && b.talking[ended[next]].to <= x.from {
			last = ended[next]
			next++
		}
		if last >= 0 && b.talking[last].to > busy+slack {
			all = append(all, mark{at: x.from, what: waits, call: last, busy: busy})
			b.gaps++
		}
		busy = max(busy, x.to)
	}
	slices.SortStableFunc(all, func(x, y mark) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.what, y.what))
	})
	return all
}

// run processes them.
func (b *builder) run(all []mark, computing []kernel) {
	streams := map[int64]int{} // the last call on each, 1 more than its place
	for _, x := range all {
		switch x.what {
		case endsCompute:
			b.cut(x.at)
			if len(b.chain) > 0 {
				b.on[x.call] = b.chain[0]
			}
		case communicates:
			t, a := b.talking[x.call], b.acts[x.call]
			since, after := b.since[x.call], []int32(nil)
			if b.on[x.call] >= 0 {
				after = append(after, b.on[x.call])
			}
			if n := streams[t.stream]; n > 0 {
				after = append(after, b.placed[n-1])
				since = max(since, b.talking[n-1].to)
			}
			streams[t.stream] = int(x.call) + 1
			if since == 0 {
				since = min(b.talking[0].from, b.from)
			}
			a.dur = unit.Time(max(0, t.from-since)) * unit.Nanosecond
			b.placed[x.call] = b.m.add(a, after...)
		case waits:
			b.cut(x.busy)
			b.chain = append(b.chain, b.placed[x.call])
			b.from = b.talking[x.call].to
		}
	}
	end := b.from
	for _, x := range computing {
		end = max(end, x.to)
	}
	b.cut(end)
}

// cut ends the current computation.
func (b *builder) cut(at int64) {
	if at <= b.from {
		if len(b.chain) > 1 { // the chain already has a dependency here
			b.chain = []int32{b.m.add(act{what: opCompute}, b.chain...)}
		}
		return
	}
	b.chain = []int32{b.m.add(act{what: opCompute, dur: unit.Time(at-b.from) * unit.Nanosecond}, b.chain...)}
	b.from = at
}

// unsized is a kernel of a profile that has neither its collective nor its size, as those of 2023.
const unsized = "a kernel of NCCL of unknown size"

// act builds a call from a kernel's arguments; false: the kernel stays a computation of its duration.
func (k *kineto) act(c *calls, rank int, x *kinetoArgs) (a act, ok bool) {
	keep := func(why string) (act, bool) {
		note(&k.report.Guessed, why+", kept as computing of its length", k.Name, int(x.line))
		return act{}, false
	}
	if x.Coll == "" {
		return keep(unsized)
	}
	what, known := opsByName[plain(x.Coll)]
	if !known {
		return keep("a kernel of NCCL of the unknown collective " + strconv.Quote(clip(x.Coll)))
	}
	size, known := typeSizes[strings.ToLower(x.Type)]
	in, noIn := x.In.count()
	out, noOut := x.Out.count()
	ranks, name := k.groupOf(x, rank)
	n := max(in, out)
	if x.titled && (what == opAllGather || what == opGather || what == opScatter) {
		n *= int64(max(1, len(ranks))) // the annotation has one rank's part
	}
	if !known || noIn != nil || noOut != nil || min(in, out) < 0 || n > 1<<50/max(1, size) {
		return keep("a kernel of NCCL of unknown or impossible size")
	}
	if ranks == nil {
		return keep("a kernel of NCCL of a group of unknown ranks")
	}
	if x.titled {
		note(&k.report.Guessed, "calls without a group in the profile, assumed to be of all ranks", k.Name, int(x.line))
	}
	if k.info.World > 0 && slices.Max(ranks) >= k.info.World {
		return keep("a kernel of NCCL of a group with ranks beyond the file's world_size")
	}
	a = act{what: what, bytes: unit.Bytes(n * size), seq: -1, line: x.line, group: c.grouped(name, ranks),
		by: ofKernel(what, x.kernel)}
	if what == opSend || what == opRecv {
		if a.peer = peerOf(x, ranks, rank, what); a.peer < 0 {
			return keep("a send or receive without a peer")
		}
	}
	return a, true
}

// ofKernel reads the name of an all-reduce's kernel: ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...),
// before NCCL 2.19 ncclKernel_AllReduce_RING_LL_Sum_half(...). The protocol in it is LL's for all.
func ofKernel(what op, kernel string) how {
	name, _, _ := strings.Cut(strings.ToUpper(kernel), "(")
	for i, w := range strings.Split(name, "_") {
		n := ncclNames[w]
		if n == 0 || i == 0 || what != opAllReduce {
			continue
		}
		if strings.Contains(name, "_NVLS_TREE") {
			n = ncclNames["NVLS_TREE"]
		}
		return how{algorithm: n, named: true}
	}
	return how{}
}

// peerOf returns the destination of a send or the source of a receive, as a position in the group; -1: unknown.
func peerOf(x *kinetoArgs, ranks []int, rank int, what op) int32 {
	said := x.Dst
	if what == opRecv {
		said = x.Src
	}
	if n, err := said.Int64(); err == nil {
		if i := slices.Index(ranks, int(n)); i >= 0 {
			return int32(i)
		}
	}
	if len(ranks) == 2 && slices.Contains(ranks, rank) {
		return int32(1 - slices.Index(ranks, rank))
	}
	return -1
}

// groupOf returns the ranks and the name of a call's group; nil: unknown. Long lists are abbreviated in a kernel's
// arguments, but not in the file's description of groups.
func (k *kineto) groupOf(x *kinetoArgs, rank int) ([]int, string) {
	name, _ := x.Group.(string)
	desc := x.Desc
	size64, _ := x.Size.Int64()
	size := int(min(max(size64, 0), maxRanks))
	for _, g := range k.info.Names {
		if g.Name == name && name != "" && len(g.Ranks) > 0 && len(g.Ranks) <= maxRanks {
			if desc == "" {
				desc = g.Desc
			}
			return g.Ranks, groupName(desc, name)
		}
	}
	var ranks []int
	for _, w := range strings.FieldsFunc(x.Ranks, func(r rune) bool {
		return r == '[' || r == ']' || r == ',' || r == ' '
	}) {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n >= maxRanks {
			ranks = nil // [0, 1, ..., 63]
			break
		}
		ranks = append(ranks, n)
	}
	if len(ranks) > 0 && (size == 0 || len(ranks) == size) {
		return ranks, groupName(desc, name)
	}
	start, err1 := x.Start.Int64()
	stride, err2 := x.Stride.Int64()
	switch {
	case size < 1:
		return nil, ""
	case err1 == nil && err2 == nil && start >= 0 && stride > 0 && start+stride*int64(size-1) < maxRanks:
	case size == k.info.World:
		start, stride = 0, 1
	default:
		return nil, ""
	}
	ranks = make([]int, size)
	for i := range ranks {
		ranks[i] = int(start + stride*int64(i))
	}
	return ranks, groupName(desc, name)
}

// groupName returns the description, or the name if the description is empty.
func groupName(desc, name string) string {
	if desc == "" || desc == "undefined" {
		return clip(name)
	}
	return clip(desc)
}

// clip keeps a name short.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60]
	}
	return s
}
