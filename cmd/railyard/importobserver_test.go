package main

import (
	"os"
	"strings"
	"testing"

	"railyard/internal/importing"
)

// observedOf is an execution trace of the same rank as profileOf, before Chakra's linker: a call, and no times.
const observedOf = `{
  "schema": "1.1.1-chakra.0.0.4", "pid": 7, "start_ts": 1,
  "nodes": [
    {"id": 3, "name": "## process_group:init ##", "ctrl_deps": 2, "inputs": {"values": ["[{\"pg_name\": \"0\",
      \"pg_desc\": \"default_pg\", \"ranks\": [], \"group_size\": 2}]"]}, "outputs": {"values": []}, "attrs": []},
    {"id": 12, "name": "record_param_comms", "ctrl_deps": 11, "inputs": {"values": [[[9, 10, 0, 8000000, 2, "cuda:0"]],
      1, ["0", "default_pg"], 0, "allreduce", [], [], 0, 1, 2]}, "outputs": {"values": []}, "attrs": [
      {"name": "collective_name", "type": "string", "value": "allreduce"},
      {"name": "dtype", "type": "string", "value": "BFloat16"},
      {"name": "in_msg_nelems", "type": "uint64", "value": 8000000},
      {"name": "out_msg_nelems", "type": "uint64", "value": 8000000},
      {"name": "pg_name", "type": "string", "value": "0"}]},
    {"id": 11, "name": "ProfilerStep#3", "ctrl_deps": 2, "inputs": {"values": []}, "attrs": []}
  ],
  "finish_ts": 2
}
`

// An execution trace becomes a scenario that runs, whole and as a stream. In a folder with its rank's profile, the
// profile is read.
func TestImportExecutionTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	text := strings.Replace(observedOf, "\",\n      \\\"pg_desc", "\", \\\"pg_desc", 1) // a text has no line break
	if err := os.Mkdir("both", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"et_0.json": text, "both/et_0.json": text, "both/rank0.json": profileOf} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was := importing.LargeTrace
	defer func() { importing.LargeTrace = was }()
	for _, c := range []struct {
		large     int64
		from, out string
		says, has string
	}{
		{was, "et_0.json", "whole.yaml", "without time: execution traces have no durations", `"et_0.json"`},
		{100, "et_0.json", "small.yaml", "pytorch-et: 2 ranks", `"small-0.json.gz"`},
		{was, "both", "both.yaml", "execution traces of ranks with profiles", "format: kineto"},
		{100, "both", "less.yaml", "execution traces of ranks with profiles", `"less-1.json.gz"`},
	} {
		importing.LargeTrace = c.large
		code, out, errs := call(t, "import", c.from, "--out", c.out)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), c.says) {
			t.Errorf("%s: %d %s%s", c.out, code, out, errs)
		}
		if yaml, _ := os.ReadFile(c.out); !strings.Contains(string(yaml), c.has) {
			t.Errorf("%s lacks %s:\n%s", c.out, c.has, yaml)
		}
		if code, out, errs := call(t, "run", c.out, "--out", "run-"+c.out); code != 0 || !strings.Contains(out,
			"all-re") {
			t.Errorf("%s: %d %s%s", c.out, code, out, errs)
		}
	}
	if _, err := os.Stat("less-0.json.gz"); err == nil {
		t.Error("an empty file was left")
	}
}
