package trace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"railyard/unit"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

// pb writes fields of protobuf in a row.
type pb []byte

func (p pb) num(field protowire.Number, x uint64) pb {
	return protowire.AppendVarint(protowire.AppendTag(p, field, protowire.VarintType), x)
}

func (p pb) bytes(field protowire.Number, b []byte) pb {
	return protowire.AppendBytes(protowire.AppendTag(p, field, protowire.BytesType), b)
}

func (p pb) str(field protowire.Number, s string) pb { return p.bytes(field, []byte(s)) }

// etNode is a node as fields, and the text after it in its file.
type etNode struct {
	id, kind, dur int
	data, ctrl    []int
	attrs         map[string]any // int64, or a string
	inputs        string
}

func (n etNode) proto() []byte {
	p := pb(nil)
	if n.id != 0 {
		p = p.num(1, uint64(n.id))
	}
	p = p.str(2, fmt.Sprint("node ", n.id)).num(3, uint64(n.kind))
	for _, d := range n.ctrl {
		p = p.num(4, uint64(d))
	}
	packed := []byte{}
	for _, d := range n.data {
		packed = protowire.AppendVarint(packed, uint64(d))
	}
	p = p.bytes(5, packed).num(7, uint64(n.dur))
	if n.inputs != "" {
		p = p.bytes(8, pb(nil).str(1, n.inputs))
	}
	for _, name := range []string{"is_cpu_op", "comm_type", "comm_size", "comm_src", "comm_dst", "comm_tag",
		"pg_name"} {
		switch v := n.attrs[name].(type) {
		case int:
			p = p.bytes(10, pb(nil).str(1, name).num(9, uint64(v)))
		case string:
			p = p.bytes(10, pb(nil).str(1, name).str(29, v))
		}
	}
	return p
}

func (n etNode) json() string {
	list := func(all []int) string { return strings.ReplaceAll(fmt.Sprint(all), " ", ", ") }
	var attrs []string
	for name, v := range n.attrs {
		if s, ok := v.(string); ok {
			attrs = append(attrs, fmt.Sprintf(`{"name": %q, "stringVal": %q}`, name, s))
		} else {
			attrs = append(attrs, fmt.Sprintf(`{"name": %q, "int64Val": "%d"}`, name, v))
		}
	}
	return fmt.Sprintf("{\n \"id\": \"%d\",\n \"type\": %q,\n \"dataDeps\": %s, \"ctrlDeps\": %s,\n"+
		" \"durationMicros\": \"%d\", \"inputs\": {\"values\": %q},\n \"attr\": [%s]\n}", n.id,
		chakraKinds[n.kind], list(n.data), list(n.ctrl), n.dur, n.inputs, strings.Join(attrs, ", "))
}

// et writes a file of each rank.
func et(ranks ...[]etNode) (files []File) {
	for r, nodes := range ranks {
		var b []byte
		b = protowire.AppendBytes(b, pb(nil).str(1, "0.0.4"))
		for _, n := range nodes {
			b = protowire.AppendBytes(b, n.proto())
		}
		files = append(files, File{fmt.Sprintf("step.%d.et", r), b})
	}
	return files
}

// chakraStep returns the step of two ranks: compute, exchange a message, all-reduce, compute.
func chakraStep() [][]etNode {
	step := func(r int) []etNode {
		nodes := []etNode{{id: 0, kind: 4, dur: 10 * (r + 1)},
			{id: 1, kind: 5, data: []int{0},
				attrs: map[string]any{"comm_size": 64, "comm_dst": 1 - r, "comm_tag": 3}},
			{id: 2, kind: 6, attrs: map[string]any{"comm_size": 64, "comm_src": 1 - r, "comm_tag": 3}},
			{id: 3, kind: 7, data: []int{0, 2}, ctrl: []int{1},
				attrs: map[string]any{"comm_size": 1000, "comm_type": 0}},
			{id: 4, kind: 4, dur: 5, data: []int{3}}, {id: 5, kind: 4, dur: 5, data: []int{3}},
			{id: 6, kind: 4, dur: 7, data: []int{3}, attrs: map[string]any{"is_cpu_op": 1}}}
		return nodes
	}
	return [][]etNode{step(0), step(1)}
}

// A rank's GPU computes one operation at a time, in parallel with its CPU. A receive waits for its message, and a
// collective for all its ranks.
func TestChakra(t *testing.T) {
	x, err := Read("", et(chakraStep()...)...)
	if err != nil {
		t.Fatal(err)
	}
	last, _ := ends(t, x.DAG, unit.Microsecond)
	// 20 us, a message, two rounds of a ring, 5 us twice on the GPU
	if last != 33*unit.Microsecond || x.Format != "chakra" || x.Ranks != 2 {
		t.Errorf("%v, %s of %d ranks", last, x.Format, x.Ranks)
	}
	want := "mapped [computations: 8 (first in step.0.et) sends with their receives, as transfers: 2 " +
		"(first in " +
		"step.0.et) all-reduces, as rings: 1 (first in step.0.et)], guessed [], left out []"
	if got := words(x.Report); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The same trace in JSON, as written by the jsonizer and by the feeder, and gzipped, gives an equal graph.
func TestChakraForms(t *testing.T) {
	want, err := Read("chakra", et(chakraStep()...)...)
	if err != nil {
		t.Fatal(err)
	}
	var jsonized, graph, zipped []File
	for r, nodes := range chakraStep() {
		all := []string{"{\n \"version\": \"0.0.4\"\n}"}
		for _, n := range nodes {
			all = append(all, n.json())
		}
		jsonized = append(jsonized, File{fmt.Sprintf("step.%d.json", r), []byte(strings.Join(all, ""))})
		graph = append(graph, File{fmt.Sprintf("step.%d.json", r), []byte(`{"workload_graph": [` +
			strings.Join(all[1:], ",\n") + "]}")})
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(et(nodes)[0].Text)
		w.Close()
		zipped = append(zipped, File{fmt.Sprintf("step.%d.et", r), b.Bytes()})
	}
	for name, files := range map[string][]File{"jsonizer": jsonized, "graph": graph, "gzip": zipped} {
		got, err := Read("", files...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(got.DAG, want.DAG) {
			t.Errorf("%s: another graph", name)
		}
	}
}

// The first schema had nanoseconds, parents, and collectives in another order; and no metadata.
func TestChakraOldSchema(t *testing.T) {
	var files []File
	for r := range 3 {
		b := protowire.AppendBytes(nil, pb(nil).num(1, 1).str(2, "c").num(3, 4).num(7, 500))
		b = protowire.AppendBytes(b, pb(nil).num(1, 2).str(2, "a").num(3, 7).num(4, 1).num(13, 3).num(14, 1).
			num(18, 9))
		files = append(files, File{fmt.Sprintf("old.%d.et", r), b})
	}
	x, err := Read("", files...)
	if err != nil {
		t.Fatal(err)
	}
	last, _ := ends(t, x.DAG, unit.Microsecond)
	if last != 2500*unit.Nanosecond || x.DAG.Colls[0].Kind.String() != "all-gather" ||
		x.DAG.Colls[0].Bytes != 27 {
		t.Error(last, x.DAG.Colls)
	}
}

// Process groups come from a rank's own metadata, from a file, or from the ranks that use their names, and each
// group has its own collectives.
func TestChakraGroups(t *testing.T) {
	coll := func(name string) etNode {
		return etNode{id: 9, kind: 7, attrs: map[string]any{"comm_size": 8, "comm_type": 6, "pg_name": name}}
	}
	told := func(ranks string) etNode {
		return etNode{id: 1, kind: 1,
			inputs: `['[{"pg_name": "tp", "ranks": [` + ranks + `], "group_size": 2}]']`}
	}
	own := et([]etNode{told("0, 2"), coll("tp")}, []etNode{told("1, 3"), coll("tp")},
		[]etNode{told("0, 2"), coll("tp")}, []etNode{told("1, 3"), coll("tp")})
	named := et([]etNode{coll("a")}, []etNode{coll("b")}, []etNode{coll("a")}, []etNode{coll("b")})
	file := File{"groups.json", []byte("{\n \"a\": [0, 2], \"b\": [1, 3]}\n")}
	for name, c := range map[string]struct {
		files []File
		guess int
	}{"own": {own, 0}, "file": {append([]File{file}, named...), 0}, "named": {named, 4}} {
		x, err := Read("", c.files...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		guessed := 0
		for _, g := range x.Report.Guessed {
			guessed += g.N
		}
		got := fmt.Sprint(x.DAG.Colls[0].Ranks, x.DAG.Colls[1].Ranks, len(x.DAG.Colls))
		if got != "[0 2] [1 3] 2" || guessed != c.guess {
			t.Errorf("%s: groups %s, %d guessed", name, got, guessed)
		}
	}
}

// PyTorch's control dependencies record callers. If they contradict the data dependencies, the data dependencies
// apply.
func TestChakraControl(t *testing.T) {
	nodes := []etNode{{id: 1, kind: 4, dur: 3, data: []int{2}}, {id: 2, kind: 4, dur: 4, ctrl: []int{1, 77}}}
	x, err := Read("", et(nodes)...)
	if err != nil {
		t.Fatal(err)
	}
	if last, _ := ends(t, x.DAG, 0); last != 7*unit.Microsecond || len(x.Report.Left) != 1 ||
		x.Report.Left[0].N != 1 {
		t.Error(last, x.Report.Left)
	}
}

func TestBadChakra(t *testing.T) {
	one := func(n ...etNode) []File { return et(n) }
	send := func(dst int) etNode { return etNode{id: 1, kind: 5, attrs: map[string]any{"comm_dst": dst}} }
	coll := func(id, op int, deps ...int) etNode {
		return etNode{id: id, kind: 7, data: deps, attrs: map[string]any{"comm_size": 8, "comm_type": op}}
	}
	text := func(s string) []File { return []File{{"c.json", []byte(s)}} }
	whole := et(chakraStep()...)
	cut := []File{{"step.0.et", whole[0].Text[:len(whole[0].Text)-3]}, whole[1]}
	for want, files := range map[string][]File{
		"step.0.et: ends within message 7, which begins at byte": cut,
		"step.1.et: is one of 2 files for ranks 0 to 3: 0, 2 are missing": {
			whole[1], {"step.3.et", whole[1].Text}},
		"e.et: has no node, and no other file has one":                                                   {{"e.et", nil}},
		"step.0.et: has no computation with a duration and no transfer between ranks (1 node of 1 rank)": one(coll(1, 0)),
		"step.0.et: node 1 is repeated: the 1. and the 2. of the file":                                   one(send(0), send(0)),
		"rank 0's node 1 exchanges bytes with its own rank":                                              one(send(0)),
		"rank 0's node 1 exchanges bytes with rank 5, which has no file":                                 one(send(5)),
		"node 1, at byte 8, sends to no rank (comm_dst)":                                                 one(send(-1)),
		"node 1, at byte 8, has comm_type 99, expected 0 to 9":                                           one(coll(1, 99)),
		"step.0.et: node 1, at byte 8, lasts less than nothing or longer than time can be": one(
			etNode{id: 1, dur: -4}),
		"step.0.et: node 1, at byte 8, is of type 99, expected 0 to 7": one(etNode{id: 1, kind: 99}),
		"rank 0's node 1 sends to rank 1 with tag 0, and no rank receives it": et(
			[]etNode{send(1)}, []etNode{{id: 3}}),
		"rank 1 does not take part in the all-reduce of ranks 0 to 1 that rank 0's node 1 is": et(
			[]etNode{coll(1, 0)}, []etNode{coll(1, 2)}),
		"nodes wait for one another: rank 0's node 2, which is blocked on rank 0's node 1, which is blocked on " +
			"rank 0's " +
			"node 2": one(etNode{id: 1, kind: 4, data: []int{2}}, etNode{id: 2, kind: 4, data: []int{1}}),
		"nodes wait for one another: rank 1's node 2, which is blocked on rank 0's node 2, which is blocked on " +
			"rank 0's " +
			"node 1, which is blocked on rank 1's node 1, which is blocked on rank 1's node 2": et(
			[]etNode{coll(1, 0), coll(2, 2, 1)}, []etNode{coll(1, 0, 2), coll(2, 2)}),
		"c.json:1:1: is an execution trace of PyTorch, " +
			"which has no durations": text(`{"schema": "1.0.2-chakra.0.0.4"}`),
		"c.json:3:1: ends early": text("{\"workload_graph\": [\n{\"id\": 1, " +
			"\"type\": 4},\n{\"id\""),
		"c.json:2:1: type: found": text("{\"workload_graph\": [\n{\"id\": 1, " +
			"\"type\": \"COMP\"}]}"),
		"c.json:2:1: id: found -1, expected 0 or more": text("{\"workload_graph\": [\n{\"id\": -1}]}"),
		"c.json:1:1: node 1 lasts less than nothing": text(
			`{"id": 1, "type": "COMP_NODE", "durationMicros": "-5"}`),
		"z.0.et: ends early, or gzip did not pack it": {
			{"z.0.et", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff")}},
	} {
		if _, err := Read("chakra", files...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// Files with more nodes than the bound are rejected, however short a node is.
func TestChakraBounds(t *testing.T) {
	b := protowire.AppendBytes(nil, pb(nil).str(1, "0.0.4"))
	for i := range maxChakra + 2 {
		b = append(b, 2, 1<<3, byte(i&127))
	}
	if _, err := Read("chakra", File{"many.0.et", b}); err == nil || !strings.Contains(err.Error(),
		"with this file there are more than 2000000 nodes") {
		t.Error(err)
	}
}

// Equal ranks run, for any dependencies of their nodes and any number of shared groups.
func TestAnyChakraRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 6).Draw(t, "ranks")
		n := rapid.IntRange(1, 20).Draw(t, "nodes")
		all := make([][]etNode, ranks)
		for i := range n {
			kind := rapid.SampledFrom([]int{4, 4, 5, 7}).Draw(t, "kind")
			op := rapid.IntRange(0, 9).Draw(t, "op")
			var deps []int
			for d := range i {
				if rapid.IntRange(0, 3).Draw(t, "dep") == 0 {
					deps = append(deps, 2*d, 2*d+1)
				}
			}
			for r := range ranks {
				node := etNode{id: 2 * i, kind: kind, dur: i, data: deps}
				other := etNode{id: 2*i + 1, kind: 4, data: deps}
				switch {
				case kind == 7:
					node.attrs = map[string]any{"comm_size": 100, "comm_type": op}
				case kind == 5 && ranks > 1:
					node.attrs = map[string]any{"comm_size": 100, "comm_dst": (r + 1) % ranks}
					other.kind = 6
					other.attrs = map[string]any{"comm_src": (r + ranks - 1) % ranks, "comm_size": 100}
				case kind == 5:
					node.kind = 4
				}
				all[r] = append(all[r], node, other)
			}
		}
		x, err := Read("chakra", et(all...)...)
		if err != nil {
			if strings.Contains(err.Error(), "and no transfer between ranks") {
				return
			}
			t.Fatal(err)
		}
		if last, _ := ends(t, x.DAG, unit.Nanosecond); last < 0 {
			t.Fatal(last)
		}
	})
}
