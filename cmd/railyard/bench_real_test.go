package main

import (
	"encoding/json"
	"strings"
	"testing"

	"railyard/internal/speed"
)

// bench measures this program in a separate process, and rejects an unknown name before any measurement.
func TestRealBench(t *testing.T) {
	code, out, errs := call(t, "bench", "--only", "RoCE permutation, 128", "--json")
	var got struct {
		Version string
		Cores   int
		Rows    []speed.Row
	}
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Rows) != 1 {
		t.Fatalf("%d, %v: %s%s", code, err, out, errs)
	}
	if r := got.Rows[0]; got.Version == "" || got.Cores < 1 || r.Fidelity != "packet" || r.Wall <= 0 || r.CPU <= 0 ||
		r.Memory < 1e7 || r.Hops < 300_000 || r.Rate <= 0 || len(r.Peers) == 0 {
		t.Errorf("%+v", got)
	}
	code, out, errs = call(t, "bench", "--only", "16,000")
	if code != 2 || out != "" || !strings.Contains(errs, `--only: no run has "16,000" in its name`) {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}
