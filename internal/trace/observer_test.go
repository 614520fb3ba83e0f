package trace

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"railyard/internal/story"
)

// execution is a rank's execution trace as PyTorch's ExecutionTraceObserver writes it, built from a short text.
// Lines are
//
//	groups NAME SIZE RANKS ...                          the list of process groups; RANKS 0,1 or - for all
//	call ID SEQ GROUP PLACE NAME DTYPE IN OUT SIZE      record_param_comms; GROUP - for none
//	old ID SEQ PLACE NAME ELEMENTS BYTES                 as schema 1.0.1 has it: no group, no attributes
//	wait ID SEQ
//	async ID SEQ GROUP PLACE NAME DTYPE IN OUT SIZE     a call that says so
//	step ID N                                           ProfilerStep, which stands behind its nodes
//	op ID                                               any other
func execution(text string) []byte {
	type object = map[string]any
	attr := func(name, kind string, value any) object { return object{"name": name, "type": kind, "value": value} }
	var nodes []object
	add := func(id int, name string, values []any, more ...object) {
		nodes = append(nodes, object{"id": id, "name": name, "ctrl_deps": 1,
			"inputs":  object{"values": values, "shapes": []any{}, "types": []any{}},
			"outputs": object{"values": []any{}, "shapes": []any{}, "types": []any{}},
			"attrs":   append([]object{attr("rf_id", "uint64", id), attr("tid", "uint64", 1)}, more...)})
	}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		w := strings.Fields(line)
		num := func(i int) (n int) {
			fmt.Sscan(w[i], &n)
			return n
		}
		switch w[0] {
		case "groups":
			var all []object
			for w = w[1:]; len(w) >= 3; w = w[3:] {
				ranks := []int{}
				for _, r := range strings.Split(strings.Trim(w[2], "-"), ",") {
					var n int
					if _, err := fmt.Sscan(r, &n); err == nil {
						ranks = append(ranks, n)
					}
				}
				all = append(all, object{"pg_name": w[0], "pg_desc": "undefined", "backend_config": "cuda:nccl",
					"ranks": ranks, "group_size": num(1), "group_count": 1})
			}
			b, _ := json.Marshal(all)
			add(3, "## process_group:init ##", []any{string(b)})
		case "call", "async":
			group := strings.Trim(w[3], "-")
			tensor := []any{9, 10, 0, num(7), 4, "cuda:0"}
			more := []object{attr("collective_name", "string", w[5]), attr("dtype", "string", w[6]),
				attr("in_msg_nelems", "uint64", num(7)), attr("out_msg_nelems", "uint64", num(8)),
				attr("pg_name", "string", group), attr("pg_size", "uint64", num(9))}
			if w[0] == "async" {
				more = append(more, attr("is_asynchronized_op", "bool", true))
			}
			add(num(1), "record_param_comms", []any{[]any{tensor}, num(2), []any{group, ""}, num(4), w[5], []any{},
				[]any{}, 0, 1, num(9)}, more...)
		case "old":
			add(num(1), "record_param_comms", []any{[]any{[]any{9, 10, 0, num(5), num(6), "cuda:0"}}, num(2), 941, num(3),
				w[4], []any{}, []any{}})
		case "wait":
			add(num(1), "record_param_comms", []any{num(2), []any{"", ""}, 0, "wait", []any{}, []any{}, -1, -1, 1},
				attr("collective_name", "string", "wait"), attr("dtype", "string", "Byte"),
				attr("in_msg_nelems", "uint64", 0), attr("out_msg_nelems", "uint64", 0))
		case "step":
			add(num(1), fmt.Sprintf("ProfilerStep#%d", num(2)), []any{})
		case "op":
			add(num(1), "aten::mm", []any{[]any{7, 8, 0, 4096, 2, "cuda:0"}})
		}
	}
	b, err := json.MarshalIndent(nodes, " ", " ")
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, "{\n \"schema\": \"1.1.0-chakra.0.0.4\", \"pid\": 7, \"start_ts\": 1,\n \"nodes\": %s,\n "+
		"\"finish_ts\": 2\n}\n", b)
}

// What the calls of execution traces become.
func TestObserverStories(t *testing.T) {
	story.Cases(t, "observer", func(input string) string {
		var files []File
		for i, text := range strings.Split(input, "and\n") {
			files = append(files, File{fmt.Sprintf("et_%d.json", i), execution(text)})
		}
		x, err := Read("", files...)
		if err != nil {
			return err.Error()
		}
		return graph(x.DAG) + reported(x.Report)
	})
}

// twoSteps are two steps of one of two ranks, and nodes after the steps.
const twoSteps = `groups 0 2 -
call 12 1 0 0 allreduce Float 100 100 2
step 11 4
call 22 2 0 0 allreduce Float 200 200 2
step 21 5
call 32 3 0 0 allreduce Float 300 300 2`

// Steps are chosen by number; without a number it is the last complete one. Nodes after it are omitted. A file that
// was sorted by number since has the same steps.
func TestObserverSteps(t *testing.T) {
	sorted := strings.Join([]string{"groups 0 2 -", "step 11 4", "call 12 1 0 0 allreduce Float 100 100 2", "step 21 5",
		"call 22 2 0 0 allreduce Float 200 200 2"}, "\n")
	for _, c := range []struct {
		text string
		step int
		want string
	}{{twoSteps, 4, "400B"}, {twoSteps, 5, "800B"}, {twoSteps, 0, "800B"}, {sorted, 4, "400B"}, {sorted, 0, "800B"},
		{twoSteps, 6, "et.json: step 6 is missing in some files; common steps: 4, 5"}} {
		x, err := Options{Step: c.step}.Read(File{"et.json", execution(c.text)})
		found := ""
		if err != nil {
			found = err.Error()
		} else {
			found = fmt.Sprint(x.DAG.Colls[0].Bytes)
			if len(x.DAG.Colls) != 1 || x.Format != "pytorch-et" || x.Ranks != 2 {
				t.Errorf("step %d: %d collectives, %s of %d ranks", c.step, len(x.DAG.Colls), x.Format, x.Ranks)
			}
		}
		if strings.ReplaceAll(found, " ", "") != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("step %d: expected %q, found %q", c.step, c.want, found)
		}
	}
}

// Rejected files: the error names the place and what is accepted.
func TestObserverFaults(t *testing.T) {
	whole := string(execution(twoSteps))
	swap := func(was, is string) []byte { return []byte(strings.Replace(whole, was, is, 1)) }
	for want, text := range map[string][]byte{
		"ends within the nodes, after 4 of them: the file is truncated; accepted: a file that the observer has closed " +
			"(unregister_callback writes finish_ts at its end)": []byte(whole[:strings.LastIndex(whole, `"ProfilerStep#5"`)]),
		"has no list of nodes; accepted: what PyTorch's ExecutionTraceObserver writes": []byte(
			`{"schema": "1.1.0-chakra.0.0.4", "pid": 7}`),
		"has 2 nodes, and none is a call of NCCL (record_param_comms); accepted: a trace of a distributed job": execution(
			"op 4\nop 5"),
		": node 22 is of rank 1, and node 12 (line ": execution(strings.Replace(twoSteps, "call 22 2 0 0", "call 22 2 0 1", 1)),
		"the rank has the place 5 in the group \"0\", which has 2; accepted: 0 to 1": execution(strings.ReplaceAll(twoSteps,
			"0 0 all", "0 5 all")),
		"left out: calls of unknown or impossible size (dtype, in_msg_nelems, out_msg_nelems)": execution(
			"call 12 1 0 0 allreduce - 0 0 2"),
		"left out: calls of groups whose ranks are not recorded (process_group:init, pg_size), as by one of several ranks: " +
			"2 (first et.json:": []byte(`{"schema": "1.0.1", "nodes": [{"name": "record_param_comms", "id": 5, "inputs":
			[9, 0, 0, "wait", [], []]},` + "\n" + strings.Repeat(`{"name": "record_param_comms", "id": 6, "inputs":
			[[7, 8, 0, 6, 4, "cuda:0"], 1, 94, 0, "all_to_all", [], []], "outputs": [[7, 8, 0, 6, 4, "cuda:0"]]},`, 2) +
			`{"name": "x", "id": 8, "inputs": [], "outputs": []}]}`),
		`left out: calls of the unknown collective "gossip"`: execution("call 12 1 0 0 gossip Float 9 9 2"),
		"expected \",\": this is not JSON":                   swap("},\n  {", "};\n  {"),
	} {
		_, err := Read("pytorch-et", File{"et.json", text})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "et.json:") {
			t.Errorf("expected %q, found %v", want, err)
		}
	}
	var keys map[string]any
	if json.Unmarshal([]byte(whole), &keys) != nil {
		t.Fatal("no JSON")
	}
	again, _ := json.Marshal(keys) // in alphabetical order
	if x, err := Read("", File{"et.json", again}); err != nil || x.Format != "pytorch-et" {
		t.Error(x, err)
	}
	a, b := execution(twoSteps), execution(strings.ReplaceAll(twoSteps, "0 2 -", "0 3 -"))
	for want, files := range map[string][]File{
		"b.json: is of rank 0, and so is a.json": {{"a.json", a}, {"b.json", a}},
		"b.json: is of a job of 3 ranks (group_size of the group of all), and a.json of one of 2; accepted: files of one job": {
			{"a.json", a}, {"b.json", b}},
	} {
		if _, err := Read("", files...); err == nil || err.Error() != want {
			t.Errorf("expected %q, found %v", want, err)
		}
	}
	if _, err := Read("chakra", File{"a.json", a}); err == nil || !strings.Contains(err.Error(),
		"--format pytorch-et reads its collectives") {
		t.Error(err)
	}
}

// With the profile of the same step, which has times, the profile is used.
func TestObserverBesideProfile(t *testing.T) {
	p := File{"p.json", profile("rank 0 of 2\nstep 3 0 500\nrun gemm 10 110 7 5")}
	for _, files := range [][]File{{p, {"et.json", execution(twoSteps)}}, {{"et.json", execution(twoSteps)}, p}} {
		x, err := Read("", files...)
		if err != nil || x.Format != "kineto" || !strings.Contains(reported(x.Report), "of ranks with profiles") {
			t.Error(x, err)
		}
	}
	p = File{"p.json", profile("rank 0 of 2\nstep 3 0 500\nrun ncclKernel_AllReduce_RING_LL_Sum_float 10 110 7 5")}
	x, err := Read("", p, File{"et.json", execution(twoSteps)})
	if err != nil || !strings.Contains(reported(x.Report), "the traces alone have them") {
		t.Error(x, err)
	}
}

// For any content of an execution trace, reading it returns a graph or an error.
func FuzzObserver(f *testing.F) {
	f.Add(execution(twoSteps))
	f.Add(execution("groups 0 4 - 3 2 0,2\ncall 5 1 3 1 send Half 9 9 2\nwait 6 1\ncall 7 1 - 0 broadcast Long 4 4 4"))
	f.Add([]byte(`{"schema": "1.0.1", "nodes": [{"name": "record_param_comms", "id": 6, "inputs": [[[7, 8, 0, 6, 4, "cuda:0"]],
		1, 94, 0, "all_to_allv", [1, 5], [3, 3]], "outputs": [[[7, 8, 0, 6, 4, "cuda:0"]]]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if x, err := Read("pytorch-et", File{"f", text}); err == nil && (x.DAG == nil || x.DAG.Critical() < 0) {
			t.Error("no graph")
		}
	})
}
