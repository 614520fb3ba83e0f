package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"railyard/unit"
)

// etValues is the list of a node's inputs or outputs; before schema 1.0.2 the list has no shapes and types.
func etValues(raw json.RawMessage) (all []json.RawMessage) {
	raw = bytes.TrimSpace(raw)
	if bytes.HasPrefix(raw, []byte("{")) {
		var in struct {
			Values []json.RawMessage `json:"values"`
		}
		json.Unmarshal(raw, &in) // otherwise there are no inputs
		return in.Values
	}
	json.Unmarshal(raw, &all)
	return all
}

// etBytes returns the total bytes of tensors: lists [id, storage, offset, elements, bytes of one, device], alone or
// in lists of any depth.
func etBytes(v any, depth int) int64 {
	list, ok := v.([]any)
	if !ok || depth > 4 {
		return 0
	}
	if len(list) >= 5 {
		n, ok1 := list[3].(float64)
		size, ok2 := list[4].(float64)
		if _, ok := list[0].(float64); ok && ok1 && ok2 {
			if n < 0 || size < 0 || n > 1<<50 || size > 16 {
				return 0
			}
			return int64(n) * int64(size)
		}
	}
	total := int64(0)
	for _, x := range list {
		total = min(total+etBytes(x, depth+1), 1<<51)
	}
	return total
}

// etSeq reads the number of a call in its group: a number, or since PyTorch 2.6 [number, of a message].
func etSeq(raw json.RawMessage) (seq int64, p2p, ok bool) {
	var pair []any
	if json.Unmarshal(raw, &seq) == nil {
		return seq, false, true
	}
	if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 {
		return 0, false, false
	}
	n, ok1 := pair[0].(float64)
	p2p, ok2 := pair[1].(bool)
	return int64(n), p2p, ok1 && ok2
}

// call reads a node record_param_comms. Its inputs are [tensors,] number, group, position, name of the collective,
// splits in, splits out [, first rank, stride] [, size of the group]. Attributes repeat them since schema 1.0.3.
func (e *observed) call(n *etOperator, id int64, line int) {
	x := etCall{id: id, line: int32(min(line, 1<<31-1)), place: -1, seq: -1}
	in := etValues(n.Inputs)
	var tensors any
	if len(in) > 0 {
		if _, _, ok := etSeq(in[0]); !ok {
			json.Unmarshal(in[0], &tensors)
			in = in[1:]
		}
	}
	if len(in) < 4 {
		note(&e.report.Left, "calls with fewer inputs than PyTorch records (number, group, rank, name)", e.Name, line)
		return
	}
	a := &x.args
	var isSeq bool
	x.seq, x.p2p, isSeq = etSeq(in[0])
	if json.Unmarshal(in[3], &a.Coll) != nil || !isSeq || json.Unmarshal(in[2], &x.place) != nil {
		note(&e.report.Left, "calls whose number, rank or name cannot be read", e.Name, line)
		return
	}
	var pair []string
	var backend int64
	if json.Unmarshal(in[1], &pair) == nil && len(pair) == 2 {
		a.Group, a.Desc = pair[0], pair[1]
	} else if json.Unmarshal(in[1], &backend) == nil {
		a.Group = e.backends[strconv.FormatInt(backend, 10)]
	}
	if len(in) >= 9 {
		a.Start, a.Stride = number(in[6]), number(in[7])
	}
	if len(in) >= 7 {
		a.Size = number(in[len(in)-1])
	}
	e.attributes(n, &x)
	size, known := typeSizes[strings.ToLower(a.Type)]
	from, err1 := a.In.Int64()
	to, err2 := a.Out.Int64()
	if most := max(from, to); known && err1 == nil && err2 == nil && min(from, to) >= 0 && most <= 1<<50/size {
		x.bytes = most * size
	} else {
		var out []any
		for _, v := range etValues(n.Outputs) {
			var o any
			json.Unmarshal(v, &o)
			out = append(out, o)
		}
		x.bytes = max(etBytes(tensors, 0), etBytes(out, 0))
		if what := plain(a.Coll); x.bytes == 0 && what != "wait" && what != "barrier" && what != "init" {
			x.bytes = -1
		}
	}
	if plain(a.Coll) == "wait" {
		x.wait = true
	}
	e.uneven(in, &x)
	e.calls = append(e.calls, x)
}

// attributes reads the attributes of a call; missing ones have the inputs' values.
func (e *observed) attributes(n *etOperator, x *etCall) {
	a := &x.args
	for _, at := range n.Attrs {
		text, isText := at.Value.(string)
		num := number("")
		if f, ok := at.Value.(float64); ok {
			num = number(strconv.FormatFloat(f, 'f', -1, 64))
		} else if isText {
			num = number(text)
		}
		switch at.Name {
		case "collective_name":
			if text != "" {
				a.Coll = text
			}
		case "dtype":
			a.Type = text
		case "in_msg_nelems":
			a.In = num
		case "out_msg_nelems":
			a.Out = num
		case "pg_name":
			if text != "" {
				a.Group = text
			}
		case "pg_desc":
			a.Desc = text
		case "pg_size":
			a.Size = num
		case "global_rank_start":
			a.Start = num
		case "global_rank_stride":
			a.Stride = num
		case "is_asynchronized_op":
			switch v := at.Value.(type) {
			case bool:
				x.async, x.named = v, true
			case string:
				x.async, x.named = strings.EqualFold(v, "true"), true
			}
		}
	}
}

// uneven notes an all-to-all whose ranks exchange shares of different sizes. Equal shares are simulated.
func (e *observed) uneven(in []json.RawMessage, x *etCall) {
	for _, raw := range in[min(4, len(in)):min(6, len(in))] {
		var split []int64
		if json.Unmarshal(raw, &split) == nil && len(split) > 1 && slices.Min(split) != slices.Max(split) {
			note(&e.report.Guessed, "all-to-alls with unequal shares, simulated with equal ones", e.Name,
				int(x.line))
			return
		}
	}
}

// own reports whether the position in a call is the rank's own, rather than a root's or a peer's.
func (x *etCall) own() bool {
	switch opsByName[plain(x.args.Coll)] {
	case opAllReduce, opAllGather, opReduceScatter, opAllToAll:
		return true
	}
	return false
}

// identify finds the rank of a file from the rank's positions in the groups of its calls.
func (e *observed) identify(place, of int) error {
	var first *etCall
	for i := range e.calls {
		x := &e.calls[i]
		if !x.own() || x.place < 0 {
			continue
		}
		ranks, name := e.groupOf(&x.args, -1)
		if ranks == nil {
			continue
		}
		if x.place >= int64(len(ranks)) {
			return at(e.Name, int(x.line), "node %d: the rank has the place %d in the group %s, which has %d; accepted: 0 to %d", x.id, x.place, strconv.Quote(name), len(ranks), len(ranks)-1)
		}
		rank := ranks[x.place]
		switch {
		case first == nil:
			first, e.info.Rank = x, &rank
		case *e.info.Rank != rank:
			return at(e.Name, int(x.line), "node %d is of rank %d, and node %d (line %d) of rank %d; accepted: a file for each rank", x.id, rank, first.id, first.line, *e.info.Rank)
		}
	}
	if e.info.Rank == nil && of == 1 && numbered.FindStringSubmatch(e.Name) == nil {
		note(&e.report.Guessed, fmt.Sprintf("rank %d: no call contains the rank of the file", place), e.Name, 0)
	}
	return nil
}

// placed returns the rank of a file: from its calls, else the number at the end of its name, else its index.
func (e *observed) placed(i, of int) int {
	name := e.Name[strings.LastIndexByte(e.Name, '/')+1:]
	m := rankOf.FindStringSubmatch(name)
	if e.info.Rank == nil && m != nil && numbered.FindStringSubmatch(name) == nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n < of {
			note(&e.report.Guessed, "ranks taken from the file name", e.Name, 0)
			return n
		}
	}
	return e.rank(i, of)
}

// within reports whether a call belongs to a step; a negative step contains all. The last step ends at its node,
// which is written after the step.
func (e *observed) within(i, step int) bool {
	if step < 0 {
		return true
	}
	s, id := e.steps[step], e.calls[i].id
	if id < s.from || id >= s.to {
		return false
	}
	if s.to < 1<<62 || e.sorted {
		return true
	}
	for _, m := range e.marks {
		if m.id == s.from {
			return i < m.before
		}
	}
	return true
}

// member converts the calls of a step to acts. A call depends on the previous one in its group, and on all
// operations for which the host has waited by then.
func (e *observed) member(c *calls, rank, step int) member {
	m := member{rank: rank, file: e.Name}
	var order []int
	waited := map[[2]int64]bool{}
	for i := range e.calls {
		if x := &e.calls[i]; !e.within(i, step) {
			continue
		} else if order = append(order, i); x.wait {
			waited[x.key()] = true
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(e.calls[a].id, e.calls[b].id) })
	var gate []int32                  // dependencies of the host
	last := map[int32]int32{}         // by group: its last collective
	made := map[[2]int64][]etPlaced{} // by number: calls without a wait
	for _, i := range order {
		x := &e.calls[i]
		if x.wait {
			name, _ := x.args.Group.(string)
			if at, ok := taken(made, x.key(), name); ok && !slices.Contains(gate, at) {
				gate = append(gate, at)
			} else if !ok {
				note(&c.report.Left, "depends on calls outside the step", e.Name, int(x.line))
			}
			continue
		}
		a, why := e.act(c, x, rank)
		if why != "" {
			note(&c.report.Left, why, e.Name, int(x.line))
			continue
		}
		after := slices.Clone(gate)
		if prev, ok := last[a.group]; ok && !slices.Contains(after, prev) {
			after = append(after, prev)
		}
		at := m.add(a, after...)
		name, _ := x.args.Group.(string)
		made[x.key()] = append(made[x.key()], etPlaced{name, at})
		if a.what == opSend || a.what == opRecv {
			continue
		}
		last[a.group] = at
		switch {
		case x.named && !x.async:
			gate = []int32{at}
		case !x.named && !waited[x.key()]:
			note(&c.report.Guessed, "collectives without a wait in the file, assumed synchronous, as in PARAM's replay: later operations wait for them", e.Name, int(x.line))
			gate = []int32{at}
		}
	}
	return m
}

// etPlaced is an act, with the name of its group.
type etPlaced struct {
	group string
	at    int32
}

// key returns the key that a wait and its call share.
func (x *etCall) key() [2]int64 {
	if x.p2p {
		return [2]int64{x.seq, 1}
	}
	return [2]int64{x.seq, 0}
}

// taken finds the last call of a number, in the wait's group if it has one.
func taken(made map[[2]int64][]etPlaced, key [2]int64, group string) (int32, bool) {
	all := made[key]
	for i := len(all) - 1; i >= 0; i-- {
		if group == "" || all[i].group == "" || all[i].group == group {
			at := all[i].at
			made[key] = slices.Delete(all, i, i+1)
			return at, true
		}
	}
	return 0, false
}

// act converts a call to an act, or returns why the call is omitted.
func (e *observed) act(c *calls, x *etCall, rank int) (a act, why string) {
	what, known := opsByName[plain(x.args.Coll)]
	switch {
	case plain(x.args.Coll) == "init":
		return a, "creations of process groups"
	case !known:
		return a, "calls of the unknown collective " + strconv.Quote(clip(x.args.Coll))
	case x.bytes < 0:
		return a, "calls of unknown or impossible size (dtype, in_msg_nelems, out_msg_nelems)"
	}
	ranks, name := e.groupOf(&x.args, rank)
	if group, _ := x.args.Group.(string); ranks == nil && group == "" && e.info.World > 0 {
		ranks, name = seqOf(e.info.World), "world"
	}
	if ranks == nil {
		return a, "calls of groups whose ranks are not recorded (process_group:init, pg_size), as by one of several ranks"
	}
	a = act{what: what, bytes: unit.Bytes(x.bytes), seq: -1, line: x.line, group: c.grouped(name, ranks)}
	if !x.own() {
		if x.place < 0 || x.place >= int64(len(ranks)) {
			return a, "calls whose root or peer is not in the group"
		}
		a.peer = int32(x.place)
	}
	return a, ""
}
