package main

import (
	"os"
	"strings"
	"testing"

	"railyard/internal/importing"
	"railyard/internal/scenariofile"
)

// profileOf is a step of one of two ranks: computation, an all-reduce, and computation that waits for it. The step
// before exists only to be omitted.
const profileOf = `{"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 2}, "traceEvents": [
{"cat": "user_annotation", "name": "ProfilerStep#2", "ts": 100.0, "dur": 900.0},
{"cat": "user_annotation", "name": "ProfilerStep#3", "ts": 1000.0, "dur": 900.0},
{"cat": "cpu_op", "name": "aten::mm", "ts": 1005.0, "dur": 50.0},
{"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 150.0, "dur": 5.0, "args": {"correlation": 8}},
{"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1010.0, "dur": 5.0, "args": {"correlation": 1}},
{"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1020.0, "dur": 5.0, "args": {"correlation": 2}},
{"cat": "kernel", "name": "gemm", "ts": 190.0, "dur": 500.0, "args": {"stream": 7, "correlation": 8}},
{"cat": "kernel", "name": "gemm", "ts": 1050.0, "dur": 100.0, "args": {"stream": 7, "correlation": 1}},
{"cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ts": 1150.0, "dur": 400.0, "args": {
 "stream": 9, "correlation": 2, "Collective name": "allreduce", "In msg nelems": 8000000,
 "dtype": "BFloat16", "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}}
]}`

// A profile that is too large for a scenario's files is read as a stream, and its relevant part is written next to
// the scenario, which runs.
func TestImportLarge(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rank0.json", []byte(profileOf), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "import", "rank0.json", "--out", "whole.yaml"); code != 0 {
		t.Fatal(errs)
	}
	was := importing.LargeTrace
	importing.LargeTrace = 100
	defer func() { importing.LargeTrace = was }()
	if code, _, errs := call(t, "import", "rank0.json"); code != 2 || !strings.Contains(errs,
		"with --out, the part in use is written next to the scenario") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, errs := call(t, "import", "rank0.json", "--out", "small.yaml"); code != 0 {
		t.Fatal(errs)
	}
	text, err := os.ReadFile("small.yaml")
	if err != nil || !strings.Contains(string(text), `- "small-0.json.gz"`) {
		t.Fatal(string(text), err)
	}
	if kept, err := os.ReadFile("small-0.json.gz"); err != nil || !strings.HasPrefix(string(kept),
		"\x1f\x8b") {
		t.Errorf("what is kept is not packed: %.20q, %v", kept, err)
	}
	for _, s := range []string{"whole.yaml", "small.yaml"} {
		plan, err := scenariofile.Plan(s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		// computation, the start of Simple (8.4us) and twice what its latency exceeds LL's by (14us and 2.7us; NCCL's
		// baseLat and hwLat); the profile has 500us
		d := plan.Jobs[0].DAG
		if len(d.Ops) == 0 || d.Critical().String() != "131us" {
			t.Errorf("%s: %d operations, %v", s, len(d.Ops), d.Critical())
		}
	}
	if code, out, errs := call(t, "run", "small.yaml", "--out", "run"); code != 0 {
		t.Error(out, errs)
	}
	if code, _, errs := call(t, "import", "rank0.json", "--out", "small.yaml"); code != 2 ||
		!strings.Contains(errs, "exists; --force replaces it") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, errs := call(t, "import", "rank0.json", "--step", "9", "--out", "none.yaml"); code != 2 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if left, _ := os.ReadDir("."); len(left) != 5 {
		t.Errorf("left behind: %v", left)
	}
}

// For formats that cannot be reduced that is reported, and no empty file is left.
func TestImportTooLarge(t *testing.T) {
	t.Chdir(t.TempDir())
	const head = `{"header":{"id":"0x7","comm_name":"unknown","rank":0,"n_ranks":2,"nnodes":2},` +
		`"metadata":{"hostname":"a","pid":7},"coll_perf":{"coll":"AllReduce","coll_sn":1,` +
		`"coll_msg_size_bytes":4096,"coll_exec_time_us":90}}` + "\n"
	if err := os.WriteFile("pid-1.log", []byte(head), 0o644); err != nil {
		t.Fatal(err)
	}
	was := importing.LargeTrace
	importing.LargeTrace = 100
	defer func() { importing.LargeTrace = was }()
	code, _, errs := call(t, "import", "pid-1.log", "--out", "s.yaml")
	if code != 2 || !strings.Contains(errs, "of inspector no smaller file can be made") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if left, _ := os.ReadDir("."); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
