package trace

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/coll"
	"railyard/internal/workload"
	"railyard/unit"
)

// op is the kind of an act.
type op uint8

const (
	opCompute op = iota
	opAllReduce
	opAllGather
	opReduceScatter
	opAllToAll
	opBroadcast
	opReduce
	opGather
	opScatter
	opSend
	opRecv
	opNothing // replaces an omitted call: its dependencies remain
)

var opNames = [...]string{"computing", "all-reduce", "all-gather", "reduce-scatter", "all-to-all",
	"broadcast", "reduce", "gather", "scatter", "send", "receive", "nothing"}

func (o op) String() string { return opNames[o] }

// opsByName are NCCL's and PyTorch's names, in lower case without marks (plain).
var opsByName = map[string]op{
	"allreduce": opAllReduce, "allreducesparse": opAllReduce, "allreducecoalesced": opAllReduce,
	"barrier": opAllReduce, "allreducebarrier": opAllReduce,
	"allgather": opAllGather, "allgatherbase": opAllGather, "allgatherv": opAllGather,
	"allgatherintotensor": opAllGather, "allgatherintotensorcoalesced": opAllGather,
	"allgathercoalesced": opAllGather, "allgathertensorcoalesced": opAllGather,
	"reducescatter": opReduceScatter, "reducescatterbase": opReduceScatter,
	"reducescattertensor": opReduceScatter, "reducescattertensorcoalesced": opReduceScatter,
	"alltoall": opAllToAll, "alltoallv": opAllToAll, "alltoallbase": opAllToAll,
	"broadcast": opBroadcast, "bcast": opBroadcast, "broadcastoop": opBroadcast, "reduce": opReduce,
	"reduceoop": opReduce,
	"gather":    opGather, "scatter": opScatter, "send": opSend, "recv": opRecv, "receive": opRecv,
}

// plain is a collective's name without the prefixes and suffixes of libraries: _reduce_scatter_base,
// nccl:all_reduce.
func plain(name string) string {
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	name, _, _ = strings.Cut(name, " ") // nccl:send 0->1
	return strings.ReplaceAll(strings.ToLower(name), "_", "")
}

// act is one action of a rank: a computation, or its part in a call.
type act struct {
	bytes unit.Bytes // bytes of calls, as nccl-tests count them: the larger buffer of the two
	dur   unit.Time  // duration of the computation; for a call, the delay after its dependencies
	seq   int64      // number of a call in the group; below 0: in order of occurrence
	first int32      // start of its dependencies in its member's list
	group int32
	peer  int32 // place in the group: destination of a send, source of a receive, or the root
	line  int32
	what  op
	by    how
}

// how holds the algorithm, protocol and channels that a trace has for a collective; zero: none.
type how struct {
	algorithm, protocol uint8 // places in algorithms, protocols
	named               bool  // whether the kernel's name sets them
}

// algorithms and protocols are the values in traces, by NCCL's names.
var (
	algorithms = []string{"", coll.ByRing, coll.ByTree, coll.ByNVLS, coll.ByNVLSTree, "collnet-direct",
		"collnet-chain", "pat"}
	protocols = []string{"", coll.LL, coll.LL128, coll.Simple}
	ncclNames = map[string]uint8{"RING": 1, "TREE": 2, "NVLS": 3, "NVLS_TREE": 4,
		"COLLNET_DIRECT": 5, "COLLNET_CHAIN": 6, "PAT": 7}
	ncclProtos = map[string]uint8{"LL": 1, "LL128": 2, "SIMPLE": 3}
)

// member is the acts of one rank, in topological order.
type member struct {
	rank  int
	file  string
	acts  []act
	after []int32 // dependencies of acts; those of act i extend from its first up to the next act's
	of    []int32 // groups by the number in acts, if the rank was copied from another; nil: unchanged
}

// add appends an act and returns its index.
func (m *member) add(a act, after ...int32) int32 {
	a.first = int32(len(m.after))
	m.after = append(m.after, after...)
	m.acts = append(m.acts, a)
	return int32(len(m.acts) - 1)
}

// waits are the acts that act i waits for.
func (m *member) waits(i int32) []int32 {
	end := int32(len(m.after))
	if int(i)+1 < len(m.acts) {
		end = m.acts[i+1].first
	}
	return m.after[m.acts[i].first:end]
}

// group are ranks that communicate.
type group struct {
	name  string // name in the source
	ranks []int
	class workload.Class
	rings [][]int // positions in ranks in the order of each ring; nil: unknown
	even  bool    // whether ranks have equal distances
}

// calls is the acts of all ranks, before calls of different ranks are matched.
type calls struct {
	file    string
	ranks   int // of the world
	per     int // GPUs of a server; 0: not known
	groups  []group
	members []member
	byKey   map[string]int32
	report  Report
	fit     fitter
}

// maxActs is the maximum number of acts in files, which take 60 bytes each in memory.
const maxActs = 4 << 20

// classes are parallelisms by words in the names of groups, as in Megatron and DeviceMesh.
var classes = []struct {
	words []string
	class workload.Class
}{
	{[]string{"data", "dp", "fsdp", "ddp", "zero", "replicate", "shard"}, workload.DataParallel},
	{[]string{"expert", "ep", "moe"}, workload.ExpertParallel},
	{[]string{"tensor", "tp", "mp"}, workload.TensorParallel},
	{[]string{"pipeline", "pp"}, workload.PipelineParallel},
	{[]string{"context", "cp", "sequence", "sp"}, workload.ContextParallel},
}

// classOf derives a group's purpose from its name.
func classOf(name string) workload.Class {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	for _, c := range classes {
		for _, w := range c.words {
			if slices.Contains(words, w) {
				return c.class
			}
		}
	}
	return workload.Other
}

// grouped returns the number of a group, which is identified by its name and its ranks.
func (c *calls) grouped(name string, ranks []int) int32 {
	key := fmt.Sprint(name, ranks)
	if n, ok := c.byKey[key]; ok {
		return n
	}
	if c.byKey == nil {
		c.byKey = map[string]int32{}
	}
	n := int32(len(c.groups))
	c.byKey[key] = n
	even := true
	for i := 2; i < len(ranks); i++ {
		even = even && ranks[i]-ranks[i-1] == ranks[1]-ranks[0]
	}
	c.groups = append(c.groups, group{name: name, ranks: slices.Clone(ranks), class: classOf(name), even: even})
	return n
}

// group returns the group of a member's act.
func (c *calls) group(m *member, a *act) *group {
	if m.of != nil {
		return &c.groups[m.of[a.group]]
	}
	return &c.groups[a.group]
}

// id is the number of that group.
func (m *member) id(a *act) int32 {
	if m.of != nil {
		return m.of[a.group]
	}
	return a.group
}

// trace makes the graph of all ranks.
func (c *calls) trace() (*Trace, error) {
	slices.SortStableFunc(c.members, func(a, b member) int { return a.rank - b.rank })
	for i := 1; i < len(c.members); i++ {
		if c.members[i].rank == c.members[i-1].rank {
			return nil, at(c.members[i].file, 0, "is of rank %d, and so is %s", c.members[i].rank,
				c.members[i-1].file)
		}
	}
	if !slices.ContainsFunc(c.members, func(m member) bool { return len(m.acts) > 0 }) {
		why := "no rank does anything"
		left := slices.SortedStableFunc(slices.Values(c.report.Left), func(a, b Count) int { return b.N - a.N })
		for i, x := range left[:min(3, len(left))] {
			why += [...]string{" that is known; left out: ", "; "}[min(i, 1)] + x.Words()
		}
		return nil, at(c.file, 0, "%s", why)
	}
	for _, g := range c.groups {
		for _, r := range g.ranks {
			c.ranks = max(c.ranks, r+1)
		}
	}
	c.ranks = max(c.ranks, c.members[len(c.members)-1].rank+1)
	if c.ranks > maxRanks {
		return nil, at(c.file, 0, "has %d ranks, at most %d are read", c.ranks, maxRanks)
	}
	if err := c.fill(); err != nil {
		return nil, err
	}
	b, err := c.join()
	if err != nil {
		return nil, err
	}
	d, err := b.build()
	if err != nil {
		return nil, err
	}
	return &Trace{Ranks: c.ranks, DAG: d, Report: c.report, Runs: c.fit.runs}, nil
}

// kind returns the kind of a call; false: transfers between two ranks each.
func (o op) kind() (coll.Kind, bool) {
	switch o {
	case opAllReduce:
		return coll.AllReduce, true
	case opAllGather:
		return coll.AllGather, true
	case opReduceScatter:
		return coll.ReduceScatter, true
	case opAllToAll:
		return coll.ToAll, true
	case opBroadcast, opReduce:
		return coll.Bcast, true
	}
	return coll.SendRecv, false
}

// rooted are the calls that one rank is the root of, written for the first.
var rooted = map[op]coll.Algorithm{opBroadcast: coll.Chain, opReduce: reduceChain, opGather: gather,
	opScatter: scatter}

// ncclSettings are NCCL's variables with a corresponding scenario key, with their accepted values.
var ncclSettings = map[string]struct {
	block, key string
	min, max   int
}{
	"NCCL_IB_QPS_PER_CONNECTION": {"transport", "qps", 1, 128},
	"NCCL_IB_TIMEOUT":            {"transport", "timeout", 1, 31},
	"NCCL_IB_RETRY_CNT":          {"transport", "retries", 0, 7},
}

// settings converts the log's settings to those of a scenario; others are noted.
func (x *ncclLog) settings(report *Report) (all []Setting) {
	for _, name := range slices.Sorted(maps.Keys(x.env)) {
		s, known := ncclSettings[name]
		n, err := strconv.Atoi(x.env[name])
		said := clip(name) + "=" + clip(x.env[name])
		if !known || err != nil || n < s.min || n > s.max {
			note(&report.Left, "setting "+said, x.file, 0)
			continue
		}
		all = append(all, Setting{s.block, s.key, strconv.Itoa(n), said})
		note(&report.Mapped, "setting "+said+", as "+s.block+"."+s.key, x.file, 0)
	}
	return all
}
