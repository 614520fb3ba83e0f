package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/stream"
)

// PyTorch's execution traces (ExecutionTraceObserver; schema 1.0.1 to 1.1.x) are one file per rank. They list
// operators with their inputs, before Chakra's linker combines them with a profile. A call of NCCL is a node
// record_param_comms. Nodes have no durations. Operators are numbered when they begin and written when they end, so
// the numbers determine the order of calls.

// etBegins matches the beginning of a file: ExecutionTraceObserver writes the schema first.
var etBegins = regexp.MustCompile(`^\s*\{\s*"schema"\s*:\s*"\d+\.\d+\.\d+`)

// isET recognizes an execution trace by its schema, or by attributes of its nodes if its keys were sorted.
func isET(_ string, head []byte) bool {
	return etBegins.Match(head) && !bytes.Contains(head, []byte(`"workload_graph"`)) ||
		bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && bytes.Contains(head, []byte(`"nodes"`)) &&
			bytes.Contains(head, []byte(`"rf_id"`))
}

// observed is the execution trace of one rank.
type observed struct {
	*kineto  // the file, its rank, groups and steps; a step's span is a range of node numbers
	nodes    int
	sorted   bool // whether nodes are in the order of their numbers, as in rewritten files
	calls    []etCall
	marks    []etMark
	backends map[string]string // names of groups by backend_id, before schema 1.0.3
}

// etMark is a ProfilerStep: its number, the number of its node, and the number of calls before it in the file.
type etMark struct {
	step   int
	id     int64
	before int
}

// etCall is a node record_param_comms.
type etCall struct {
	args        kinetoArgs
	id, seq     int64 // id of the node; sequence number of the call in its group
	place       int64 // place in the group of the rank, the root or the peer; -1: not recorded
	bytes       int64
	line        int32
	p2p, async  bool
	named, wait bool // async is recorded; the call is a wait
}

// etOperator contains the used fields of a node.
type etOperator struct {
	ID      number          `json:"id"`
	Name    string          `json:"name"`
	Inputs  json.RawMessage `json:"inputs"`
	Outputs json.RawMessage `json:"outputs"`
	Attrs   []struct {
		Name  string `json:"name"`
		Value any    `json:"value"`
	} `json:"attrs"`
}

// etComms is the name of a node that records a call; etGroups is part of the name of a node that lists groups.
const (
	etComms  = "record_param_comms"
	etGroups = "process_group:init"
	etStep   = "ProfilerStep#"
)

// readET reads the execution traces of ranks: their calls in the order in which the host made them.
func readET(o *Options, files []File) (*Trace, error) {
	c := &calls{file: files[0].Name, fit: fitter{on: o.On}}
	var all []*observed
	var steps []*kineto
	for i, f := range files {
		e := &observed{kineto: &kineto{File: f, o: o, report: &c.report, steps: map[int]span{}}, sorted: true,
			backends: map[string]string{}}
		if err := e.read(); err != nil {
			return nil, err
		}
		if err := e.identify(i, len(files)); err != nil {
			return nil, err
		}
		if e.info.World > 0 && all != nil && all[0].info.World > 0 && e.info.World != all[0].info.World {
			return nil, at(f.Name, 0, "is of a job of %d ranks (group_size of the group of all), and %s of one of %d; accepted: files of one job", e.info.World, all[0].Name, all[0].info.World)
		}
		all, steps = append(all, e), append(steps, e.kineto)
	}
	step, err := chosen(steps, o.Step, &c.report)
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		if e.info.World == 0 && len(all) > 1 {
			e.info.World = len(all)
			note(&c.report.Guessed, "groups without a list of ranks, assumed to contain all ranks with a file", e.Name, 0)
		}
		c.ranks = max(c.ranks, e.info.World)
		c.members = append(c.members, e.member(c, e.placed(i, len(all)), step))
	}
	note(&c.report.Guessed, "computation between calls, without time: execution traces have no durations (profiles of the same step do: import those, alone or with the traces)", c.file, 0)
	return c.trace()
}

// withProfiles omits execution traces of ranks with a profile, which has the same calls, and times.
func withProfiles(format string, files []File) (string, []File, *File) {
	if format != "kineto" && format != "pytorch-et" {
		return format, files, nil
	}
	var profiles []File
	var beside *File
	for i, f := range files {
		switch is, ok := Detect(f); {
		case ok && is.Name == "kineto":
			profiles = append(profiles, f)
		case ok && is.Name == "pytorch-et" && beside == nil:
			beside = &files[i]
		}
	}
	if len(profiles) == 0 || beside == nil {
		return format, files, nil
	}
	return "kineto", profiles, beside
}

// read stores the relevant nodes of a file.
func (e *observed) read() error {
	e.o.kept(e.Name, `{"schema": "1.1.1-chakra.0.0.4", "nodes": [`+"\n{}")
	defer e.o.kept(e.Name, "\n]}\n")
	last, inside := int64(-1), false
	err := e.o.stream(e.File, func(s *stream.Source) error {
		return s.Under("nodes", func(raw []byte, at int) error {
			inside = true
			if raw == nil {
				note(&e.report.Left, "nodes above the size limit", e.Name, at)
				return nil
			}
			return e.node(raw, at, &last)
		}, func(key string, _ []byte) error {
			inside = inside || key == "nodes"
			return nil
		})
	})
	var cut *stream.CutError
	switch {
	case errors.As(err, &cut):
		return at(e.Name, cut.At.Line, "ends within the nodes, after %d of them: the file is truncated; accepted: a file that the observer has closed (unregister_callback writes finish_ts at its end)", e.nodes)
	case err != nil:
		return err
	case !inside:
		return at(e.Name, 0, "has no list of nodes; accepted: what PyTorch's ExecutionTraceObserver writes, "+
			`{"schema": "1.1.1-chakra.0.0.4", "nodes": [...]}`)
	case len(e.calls) == 0:
		return at(e.Name, 0, "has %d nodes, and none is a call of NCCL (%s); accepted: a trace of a distributed job whose observer ran for a whole step", e.nodes, etComms)
	}
	slices.SortStableFunc(e.marks, func(a, b etMark) int { return cmp.Compare(a.id, b.id) })
	for i, m := range e.marks {
		to := int64(1 << 62)
		if i+1 < len(e.marks) {
			to = e.marks[i+1].id
		}
		e.steps[m.step] = span{m.id, to}
	}
	return nil
}

// node reads one node.
func (e *observed) node(raw []byte, line int, last *int64) error {
	e.nodes++
	comms, groups, step := bytes.Contains(raw, []byte(etComms)), bytes.Contains(raw, []byte(etGroups)),
		bytes.Contains(raw, []byte(etStep))
	if e.sorted {
		var n struct {
			ID number `json:"id"`
		}
		if json.Unmarshal(raw, &n) == nil && n.ID != "" {
			id, _ := n.ID.Int64()
			e.sorted, *last = id > *last, id
		}
	}
	if !comms && !groups && !step {
		return nil
	}
	var n etOperator
	if json.Unmarshal(raw, &n) != nil {
		note(&e.report.Left, "nodes not in the format of ExecutionTraceObserver", e.Name, line)
		return nil
	}
	id, err := n.ID.Int64()
	switch {
	case err != nil || id < 0 || id > 1<<60:
		note(&e.report.Left, "nodes without a number (id)", e.Name, line)
		return nil
	case n.Name == etComms:
		if len(e.calls) >= maxActs/4 {
			return at(e.Name, line, "has more than the %d calls that are read", maxActs/4)
		}
		e.call(&n, id, line)
	case strings.Contains(n.Name, etGroups):
		e.groups(&n, line)
	case strings.HasPrefix(n.Name, etStep):
		k, err := strconv.Atoi(n.Name[len(etStep):])
		if err != nil || k < 0 || k > 1_000_000_000 || len(e.marks) >= 1<<16 {
			return nil
		}
		e.marks = append(e.marks, etMark{k, id, len(e.calls)})
	default:
		return nil
	}
	e.o.kept(e.Name, ",\n", string(raw))
	return nil
}

// groups reads the process groups in a node, as a string within JSON; no ranks: all.
func (e *observed) groups(n *etOperator, line int) {
	var text string
	values := etValues(n.Inputs)
	var all []struct {
		Name    any    `json:"pg_name"`
		Desc    string `json:"pg_desc"`
		Ranks   []int  `json:"ranks"`
		Size    int    `json:"group_size"`
		Backend number `json:"backend_id"`
		UID     number `json:"uid"`
	}
	if len(values) == 0 || json.Unmarshal(values[0], &text) != nil || json.Unmarshal([]byte(text), &all) != nil {
		note(&e.report.Left, "unreadable lists of process groups: longer than what PyTorch records", e.Name, line)
		return
	}
	for _, g := range all {
		name, _ := g.Name.(string)
		if len(g.Ranks) == 0 && g.Size > 0 && g.Size <= maxRanks {
			g.Ranks = seqOf(g.Size)
			e.info.World = max(e.info.World, g.Size)
		}
		for _, id := range []number{g.Backend, g.UID} {
			if id != "" {
				e.backends[string(id)] = name
			}
		}
		if name == "" || len(g.Ranks) == 0 || slices.Min(g.Ranks) < 0 || slices.Max(g.Ranks) >= maxRanks {
			continue
		}
		e.info.Names = append(e.info.Names, struct {
			Name  string `json:"pg_name"`
			Desc  string `json:"pg_desc,omitempty"`
			Ranks []int  `json:"ranks"`
		}{name, g.Desc, g.Ranks})
	}
}
