package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/perftest"
	"railyard/internal/perftest/bench"
)

// --explain prints real values: its PSNs and keys are those of the packets that follow.
func TestRealExplainTellsTheExchange(t *testing.T) {
	t.Parallel()
	_, to := serving(t)
	dir := t.TempDir()
	capture := filepath.Join(dir, "write.pcapng")
	code, out, errs := call(t, "rdma", "perf", "write", "--to", to, "--iters", "10", "--qps", "2", "--explain",
		"--json",
		"--pcap", capture)
	var got struct {
		Setup   perftest.Setup
		Results []perftest.Result
	}
	if code != 0 || json.Unmarshal([]byte(out), &got) != nil || len(got.Results) != 1 {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	var calls []string
	for _, s := range got.Setup.Steps {
		calls = append(calls, s.Call)
	}
	want := []string{"ibv_alloc_pd", "ibv_create_cq", "ibv_reg_mr", "ibv_create_qp", "exchange by TCP",
		"ibv_modify_qp INIT", "ibv_modify_qp RTR", "ibv_modify_qp RTS"}
	if !slices.Equal(calls, want) || len(got.Setup.Here) != 2 || len(got.Setup.There) != 2 {
		t.Errorf("steps %q, %d and %d ends", calls, len(got.Setup.Here), len(got.Setup.There))
	}
	code, story, errs := call(t, "pcap", capture, "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, i := range got.Setup.There {
		if !strings.Contains(story, json0(t, i.QPN)) {
			t.Errorf("the capture has no packet to queue pair %#x", i.QPN)
		}
	}
}

func json0(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// As text it fits the screen, lists eight pairs at most, and counts the others.
func TestRealExplainFits(t *testing.T) {
	t.Parallel()
	_, to := serving(t)
	code, out, errs := call(t, "rdma", "perf", "lat", "--to", to, "--iters", "10", "--explain")
	if code != 0 || !strings.Contains(out, "rkey") || !strings.Contains(out, "UDP port 4791") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for line := range strings.Lines(out) {
		if len([]rune(line)) > 101 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	code, out, _ = call(t, "rdma", "perf", "write", "--to", to, "--iters", "10", "--qps", "10", "--explain")
	if code != 0 || !strings.Contains(out, "2 pairs more") || strings.Count(out, "   there  0x") > 8 {
		t.Errorf("exit %d: %s", code, out)
	}
}

// The bench measures everything it names, and draws it.
func TestRealBenchMeasures(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bench.svg")
	code, out, errs := call(t, "rdma", "bench", "--rounds", "1", "--duration", "100ms", "--json",
		"--plot", file)
	var got struct {
		Rows   []bench.Row
		Ratios map[string]float64
	}
	if code != 0 || json.Unmarshal([]byte(out), &got) != nil || len(got.Rows) != 9 {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for i, r := range got.Rows {
		if r.Median <= 0 && i != bench.UDP && i != bench.TCP { // iperf3 may not be installed
			t.Errorf("%s: %v", r.Name, r)
		}
	}
	if k := got.Rows[bench.TCPCPU].Kernel; k <= 0 || k > 1 {
		t.Errorf("the kernel takes %v of TCP's time", k)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "<svg") {
		t.Errorf("%v, %d bytes", err, len(b))
	}
	if code, _, errs := call(t, "rdma", "bench", "--plot", file); code != 2 || !strings.Contains(errs,
		"--force") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
