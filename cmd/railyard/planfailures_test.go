package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"railyard/internal/study"
	"railyard/internal/study/failures"
)

const failuresText = `name: failures
fabric:
  kind: rail-only
  hosts: 3
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
server: {gpus: 2, nics: 2}
lb: spray
transport: {timeout: 6, recovery: selective, write: only}
workload: {traffic: {alltoall: {bytes: 6MB}}}
`

// failuresOf runs the command and parses its JSON.
func failuresOf(t *testing.T, args ...string) []failures.Variant {
	t.Helper()
	code, out, errs := call(t, append([]string{"plan", "failures", "s.yaml", "--json"}, args...)...)
	var all []failures.Variant
	if err := json.Unmarshal([]byte(out), &all); err != nil || code != 0 {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	return all
}

// Rails without spines depend on each of their switches, and pairs of switches avoid that: cost and benefit of
// redundancy in one table. With any number of parallel simulations the result is equal.
func TestPlanFailures(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte(failuresText), 0o600); err != nil {
		t.Fatal(err)
	}
	all := failuresOf(t)
	only := all[0]
	if got := strings.Join(only.Weak, " "); got != "rail-1 rail-2 host-1 host-2 host-3 host-1/nic-1 "+
		"host-1/nic-2 host-2/nic-1 host-2/nic-2 host-3/nic-1 host-3/nic-2" {
		t.Errorf("single points: %s", got)
	}
	if only.Rows[0].Isolated != 3 || only.Rows[0].Alike != 2 || only.Sums.Elements != 11 || only.Base <= 0 {
		t.Errorf("%+v", only)
	}
	dual := failuresOf(t, "--set", "fabric.kind=dual-rail", "--set", "server.nic_ports=2", "--pairs",
		"3")[0]
	got := strings.Join(dual.Weak, " ")
	if strings.Contains(got, "rail") || !strings.Contains(got, "host-2") {
		t.Errorf("single points of pairs of switches: %s", got)
	}
	if len(dual.Pairs) != 3 || dual.Rows[len(dual.Rows)-1].Slower < 1 {
		t.Errorf("%+v", dual.Rows)
	}
	one, _ := json.Marshal(failuresOf(t, "--jobs", "1", "--kinds", "switch,nic", "--per-class", "2"))
	four, _ := json.Marshal(failuresOf(t, "--jobs", "4", "--kinds", "switch,nic", "--per-class", "2"))
	if !bytes.Equal(one, four) {
		t.Errorf("one at a time: %s\nfour: %s", one, four)
	}
}

// The table names weak points, and plots are images of both formats.
func TestPlanFailuresPrinted(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte(failuresText), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"f.png", "f.svg"} {
		code, out, errs := call(t, "plan", "failures", "s.yaml", "--kinds", "switch", "--plot", file)
		const weak = "2 of 2 elements are single points of failure: rail-1, rail-2"
		if code != 0 || !strings.Contains(out, weak) {
			t.Errorf("exit %d, %s, %s", code, out, errs)
		}
		b, _ := os.ReadFile(file)
		magic := map[string]string{"f.png": "\x89PNG", "f.svg": "<?xml"}[file]
		if !strings.HasPrefix(string(b), magic) {
			t.Errorf("%s: %d bytes", file, len(b))
		}
	}
	if err := os.WriteFile("dual.yaml", []byte(strings.NewReplacer("rail-only", "dual-rail", "nics: 2",
		"nics: 2, nic_ports: 2").Replace(failuresText)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ := call(t, "plan", "failures", "s.yaml", "dual.yaml", "--kinds", "switch")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	side := fmt.Sprint(strings.Fields(lines[1]))
	if code != 0 || !strings.Contains(out, "no single point of failure among 2 elements") ||
		side != "[s 329 µs – – 2 of 2 3]" {
		t.Errorf("exit %d, side by side %s: %s", code, side, out)
	}
	for want, args := range map[string][]string{
		"--plot: writes .png or .svg":         {"--plot", "f.pdf"},
		"card needs --card-ports":             {"--kinds", "card"},
		`unknown value "fan"; accepted: link`: {"--kinds", "fan"},
		"4 simulations of s would be needed":  {"--kinds", "switch,nic", "--pairs", "2", "--runs", "3"},
		"--at: soon: expected a time":         {"--at", "soon", "--kinds", "switch"},
		"fabric.hosts":                        {"--set", "fabric.hosts=0,2"},
		"--set gives":                         {"--set", "seed=" + strings.Repeat("1,", study.MaxVariants) + "1"},
	} {
		code, _, errs := call(t, append([]string{"plan", "failures", "s.yaml"}, args...)...)
		if code != exitInput || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
}
