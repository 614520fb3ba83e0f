package trace

import (
	"strings"
	"testing"

	"railyard/internal/published"
	"railyard/internal/workload"
	"railyard/unit"
)

// For any content of a file, reading it returns a graph or an error that names the file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(twoRanks))
	f.Add([]byte("1\n0 1 3 100 4096 0.5\n"))
	x := &schedule{ranks: 2, steps: []step{{kind: send, rank: 0, peer: 1, bytes: 9}, {kind: recv,
		rank: 1, peer: 0,
		bytes: 9}, {kind: calc, rank: 1, peer: anybody, dur: unit.Microsecond}}, edges: []edge{{1, 2, false}}}
	f.Add(packed(x))
	f.Add(et(chakraStep()...)[0].Text)
	f.Add(et([]etNode{{id: 1, kind: 4, dur: 9}, {id: 2, kind: 4, dur: 9, data: []int{1}}})[0].Text)
	f.Add([]byte(mscclRing(3)))
	f.Add([]byte(`{"workload_graph": [{"Id": 1, "NodeType": 4, "runtime": 5, "is_cpu_op": true}]}`))
	f.Add([]byte("Nodes 2\nConnections 1\n0->1 id 1 start 0 size 9 recv_done_trigger 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		for _, format := range append(Names(), "auto") {
			y, err := Read(format, File{"fuzz", b})
			if err != nil {
				if !strings.HasPrefix(err.Error(), "fuzz") {
					t.Errorf("%s: %v", format, err)
				}
				continue
			}
			ends(t, y.DAG, unit.Nanosecond)
		}
	})
}

// Formats are set by name or detected, as for the tools' own files.
func TestFormats(t *testing.T) {
	if _, err := Read("gaol", File{"x", nil}); err == nil || !strings.Contains(err.Error(),
		`unknown format "gaol" (did you mean "goal"?)`) {
		t.Error(err)
	}
	if _, err := Read("", File{"x.txt", []byte("hello\n")}); err == nil || !strings.Contains(err.Error(),
		"x.txt: is not a trace that is known: "+strings.Join(Names(), ", ")) {
		t.Error(err)
	}
	if _, err := Read("goal", File{"a", []byte(twoRanks)}, File{"b", nil}); err == nil ||
		!strings.Contains(err.Error(), "b: a GOAL schedule is one file with all ranks; found 2") {
		t.Error(err)
	}
	for path, want := range map[string]struct {
		format       string
		ranks, parts int
	}{"goal/binary_tree_32.goal": {"goal", 32, 31}, "hpcc/flow.txt": {"hpcc-flows", 4, 2}} {
		b := published.Read(t, path)
		x, err := Read("", File{path, b})
		if err != nil || x.Format != want.format || x.Ranks != want.ranks ||
			x.Report.Mapped[0].N != want.parts {
			t.Errorf("%s: %v %+v", path, err, x)
		}
	}
}

// TestComputingHasItsClass checks that a trace's computations have the class Computing, and waits do not.
func TestComputingHasItsClass(t *testing.T) {
	for name, files := range map[string][]File{"goal": {{"a.goal", []byte("num_ranks 1\nrank 0 {\nl1: calc 5\n}\n")}},
		"chakra": et([]etNode{{id: 1, kind: 4, dur: 9}, {id: 2, kind: 4, dur: 9, data: []int{1}}})} {
		x, err := Read(name, files...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.DAG.Ops {
			if o := &x.DAG.Ops[i]; o.Compute() && (o.Dur > 0) != (o.Class == workload.Computing) {
				t.Errorf("%s: %v of class %v", name, o.Dur, o.Class)
			}
		}
	}
}
