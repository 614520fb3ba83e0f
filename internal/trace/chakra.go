package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/unit"
)

// Chakra's execution traces (mlcommons/chakra; docs/references.md, formats): one file per rank, name.RANK.et. Its
// nodes compute, send, receive or take part in a collective, and depend on one another within the rank. Three
// notations are supported: protobuf (chakraproto.go), the same as JSON, node by node, as printed by Chakra's
// jsonizer, and the feeder's "workload_graph" (chakrajson.go). Process groups are in nodes of the trace, or in a
// separate file: {"1": [0, 1]}.

// chakraKind is a node's type in the current schema; chakraOp is its collective.
type chakraKind uint8

const (
	chakraInvalid chakraKind = iota
	chakraMetadata
	chakraLoad
	chakraStore
	chakraCompute
	chakraSend
	chakraRecv
	chakraCollective
)

var chakraKinds = []string{"INVALID_NODE", "METADATA_NODE", "MEM_LOAD_NODE", "MEM_STORE_NODE", "COMP_NODE",
	"COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"}

// The collectives of the schema of today.
const (
	chakraAllReduce = iota
	chakraReduce
	chakraAllGather
	chakraGather
	chakraScatter
	chakraBroadcast
	chakraAllToAll
	chakraReduceScatter
	chakraReduceScatterBlock
	chakraBarrier
	chakraUnknown = -1
)

var chakraOps = []string{"all-reduce", "reduce", "all-gather", "gather", "scatter", "broadcast", "all-to-all",
	"reduce-scatter", "reduce-scatter", "barrier"}

// chakraNode is one node, in any notation.
type chakraNode struct {
	id         uint64
	dur        unit.Time
	data, ctrl []uint64
	bytes      int64 // -1: unset
	src, dst   int64 // -1: unset
	tag        int64
	group      string
	op         int16
	kind       chakraKind
	cpu        bool
	some       bool // whether its collective covers some of the network's dimensions only
}

// chakraText is the part of a node that is needed only during reading: its name, and the inputs of a node that
// describes process groups.
type chakraText struct{ name, values string }

// saidNode is a node as in a file.
type saidNode struct {
	chakraNode
	chakraText
}

func newChakraNode() saidNode {
	return saidNode{chakraNode: chakraNode{op: chakraUnknown, bytes: -1, src: -1, dst: -1}}
}

// maxChakra is the maximum number of nodes of all ranks together; it stops a file that declares 10^9.
const maxChakra = 2_000_000

// chakra is a trace while it is read.
type chakra struct {
	files  []string // by rank
	ranks  [][]chakraNode
	own    []map[string][]int // by rank: process groups described by its nodes
	shared map[string][]int   // process groups from a separate file
	nodes  int
	report Report
	fit    fitter
}

var chakraRank = regexp.MustCompile(`\.(\d{1,7})\.(et|json)(\.gz)?$`)

// chakraGroups matches the beginning of a file of process groups.
var chakraGroups = regexp.MustCompile(`^\s*\{\s*"[^"]*"\s*:\s*\[\s*\d+\s*[,\]]`)

func isChakra(name string, head []byte) bool {
	text := bytes.TrimSpace(head)
	if len(text) > 0 && text[0] == '{' {
		return isChakraJSON(text) || chakraGroups.Match(text)
	}
	return isChakraProto(name, head)
}

func readChakra(o *Options, files []File) (*Trace, error) {
	c := &chakra{shared: map[string][]int{}, fit: fitter{on: o.On}}
	traces, err := c.named(files)
	if err != nil {
		return nil, err
	}
	c.ranks, c.own = make([][]chakraNode, len(traces)), make([]map[string][]int, len(traces))
	for rank, f := range traces {
		text, err := inflated(f)
		if err != nil {
			return nil, err
		}
		c.own[rank] = map[string][]int{}
		add := func(n saidNode) error { return c.keep(rank, n) }
		if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
			err = c.readJSON(f.Name, trimmed, add)
		} else {
			err = c.readProto(f.Name, text, add)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.nodes == 0 {
		return nil, at(traces[0].Name, 0, "has no node, and no other file has one")
	}
	return c.trace()
}

// keep stores a rank's node: its groups and its numbers.
func (c *chakra) keep(rank int, n saidNode) error {
	if c.nodes++; c.nodes > maxChakra {
		return at(c.files[rank], 0, "with this file there are more than %d nodes", maxChakra)
	}
	switch {
	case n.kind == chakraMetadata:
		n.tellsOfGroups(c.own[rank])
	case n.kind == chakraCollective && !n.cpu && n.op == chakraUnknown && n.bytes >= 0:
		if n.op = int16(chakraOpOf(n.name)); n.op != chakraUnknown {
			note(&c.report.Guessed, "collectives whose kind is taken from their name", c.files[rank], 0)
		}
	}
	c.ranks[rank] = append(c.ranks[rank], n.chakraNode)
	return nil
}

// named finds the rank of every file by its name, and reads files of process groups.
func (c *chakra) named(files []File) ([]File, error) {
	var traces []File
	for _, f := range files {
		if text := bytes.TrimSpace(f.Text[:min(len(f.Text), head)]); chakraGroups.Match(text) {
			if err := json.Unmarshal(f.Text, &c.shared); err != nil {
				return nil, at(f.Name, 0, "is not a list of process groups, as {\"1\": [0, 1]}: %v", err)
			}
			note(&c.report.Mapped, "files of process groups", f.Name, 0)
			continue
		}
		traces = append(traces, f)
	}
	if len(traces) == 0 {
		return nil, at(files[0].Name, 0, "names process groups, and no file contains operations of ranks")
	}
	byRank, most := map[int]File{}, 0
	for i, f := range traces {
		rank := i
		if m := chakraRank.FindStringSubmatch(f.Name); m != nil && len(traces) > 1 {
			rank, _ = strconv.Atoi(m[1]) // digits
		} else if m == nil && len(traces) > 1 {
			note(&c.report.Guessed, "files without a rank in their names (name.0.et), in their order", f.Name, 0)
		}
		if twice, has := byRank[rank]; has {
			return nil, at(f.Name, 0, "is rank %d, as %s is", rank, twice.Name)
		}
		if rank >= maxRanks {
			return nil, at(f.Name, 0, "is rank %d, expected 0 to %d", rank, maxRanks-1)
		}
		byRank[rank], most = f, max(most, rank)
	}
	if missing := missingRanks(byRank, most+1); missing != "" {
		return nil, at(files[0].Name, 0, "is one of %d files for ranks 0 to %d: %s missing", len(byRank),
			most,
			missing)
	}
	out := make([]File, most+1)
	for rank, f := range byRank {
		out[rank] = f
		c.files = append(c.files, "")
	}
	for rank := range out {
		c.files[rank] = out[rank].Name
	}
	return out, nil
}

// missingRanks lists which of n ranks have no file, "" for none.
func missingRanks[T any](have map[int]T, n int) string {
	var spans []string
	missing := 0
	for r := 0; r < n; r++ {
		if _, has := have[r]; has {
			continue
		}
		from := r
		for r+1 < n {
			if _, has := have[r+1]; has {
				break
			}
			r++
		}
		missing += r - from + 1
		switch {
		case len(spans) == 4:
			spans = append(spans, "and more")
		case len(spans) < 4 && from == r:
			spans = append(spans, strconv.Itoa(r))
		case len(spans) < 4:
			spans = append(spans, fmt.Sprintf("%d to %d", from, r))
		}
	}
	if missing == 0 {
		return ""
	}
	verb := " is"
	if missing > 1 {
		verb = " are"
	}
	return strings.Join(spans, ", ") + verb
}

// put stores an attribute; kinds of numbers are not distinguished.
func (n *saidNode) put(name string, v chakraValue) {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
	case "iscpuop":
		n.cpu = v.num != 0
	case "commtype":
		n.op = int16(min(max(v.num, chakraUnknown), 1000))
		if v.text != "" {
			n.op = int16(chakraOpOf(v.text))
		}
	case "commsize":
		n.bytes = v.num
	case "commsrc", "root", "rootrank":
		n.src = v.num
	case "commdst":
		n.dst = v.num
	case "commtag":
		n.tag = v.num
	case "pgname", "commgroup":
		if n.group = v.text; v.text == "" {
			n.group = strconv.FormatInt(v.num, 10)
		}
	case "involveddim":
		n.some = slices.Contains(v.bools, false)
	}
}

// chakraValue is the value of an attribute.
type chakraValue struct {
	num   int64
	text  string
	bools []bool
}

// chakraOpOf finds a collective in a word, as in a kernel's name; chakraUnknown: none.
func chakraOpOf(word string) int {
	w := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(word))
	for _, x := range []struct {
		part string
		op   int
	}{{"allreduce", chakraAllReduce}, {"reducescatter", chakraReduceScatter}, {"allgather", chakraAllGather},
		{"alltoall", chakraAllToAll}, {"broadcast", chakraBroadcast}, {"barrier", chakraBarrier},
		{"scatter", chakraScatter}, {"gather", chakraGather}, {"reduce", chakraReduce}} {
		if strings.Contains(w, x.part) {
			return x.op
		}
	}
	return chakraUnknown
}

// tellsOfGroups reads the process groups in a node: a list of objects within its inputs.
func (n *chakraText) tellsOfGroups(into map[string][]int) {
	from, to := strings.Index(n.values, "[{"), strings.LastIndex(n.values, "}]")
	if from < 0 || to < from {
		return
	}
	text := strings.ReplaceAll(n.values[from:to+2], `\"`, `"`)
	var groups []struct {
		Name  any   `json:"pg_name"`
		Ranks []int `json:"ranks"`
	}
	if json.Unmarshal([]byte(text), &groups) != nil {
		return
	}
	for _, g := range groups {
		if name := fmt.Sprint(g.Name); len(g.Ranks) > 0 { // none: the group of all ranks
			into[name] = g.Ranks
		}
	}
}
