package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
	"railyard/unit"
)

// TestWhy checks the account of a run, and that a tried remedy saves what a run with its settings saves. It also
// checks the errors of folders without an account.
func TestWhy(t *testing.T) {
	call := func(args ...string) (string, string, int) {
		code, out, errs := call(t, args...)
		return out, errs, code
	}
	dir := filepath.Join(t.TempDir(), "run")
	sets := []string{"--set", "cc.algorithm=dcqcn", "--set", "cc.dcqcn.profile=paper", "--confirm", "never"}
	if _, errs, code := call(append([]string{"run", "../../scenarios/three-flows.yaml", "--out", dir}, sets...)...); code != 0 {
		t.Fatal(errs)
	}
	out, errs, code := call("why", dir, "--try", "1", "--json")
	var why struct {
		Step     int64 `json:"step_ps"`
		Remedies []struct {
			Cause    string   `json:"cause"`
			Set      []string `json:"set"`
			Tried    bool     `json:"tried"`
			Step     int64    `json:"step_ps"`
			Saved    int64    `json:"saved_ps"`
			Expected int64    `json:"expected_ps"`
		} `json:"remedies"`
	}
	if err := json.Unmarshal([]byte(out), &why); code != 0 || err != nil || len(why.Remedies) < 2 {
		t.Fatalf("%d, %v, %s: %s", code, err, errs, out)
	}
	r := why.Remedies[0]
	if !r.Tried || why.Remedies[1].Tried || r.Cause != "rate_not_given_back" || r.Step+r.Saved != why.Step || r.Saved <= 0 {
		t.Errorf("%+v of a step of %d", r, why.Step)
	}
	args := []string{"run", "../../scenarios/three-flows.yaml", "--out", dir + "-cured"}
	for _, s := range append([]string{sets[1], sets[3]}, r.Set...) {
		if s != "cc.dcqcn.profile=paper" && s != "cc.algorithm=dcqcn" {
			args = append(args, "--set", s)
		}
	}
	if _, errs, code := call(args...); code != 0 {
		t.Fatal(errs)
	}
	b, err := os.ReadFile(filepath.Join(dir+"-cured", "summary.json"))
	var cured struct {
		Step int64 `json:"step_time_ps"`
	}
	if err != nil || json.Unmarshal(b, &cured) != nil || cured.Step != r.Step {
		t.Errorf("%v: the remedy was said to take %d, its run takes %d", err, r.Step, cured.Step)
	}
	if out, _, code := call("why", dir); code != 0 || !strings.Contains(out, "at best: step time without the cause") {
		t.Errorf("%d: %s", code, out)
	}
	done := dir + "-confirmed"
	if _, errs, code := call("run", "../../scenarios/three-flows.yaml", "--out", done); code != 0 {
		t.Fatal(errs)
	}
	told, err := result.ReadSummary(done)
	if err != nil || len(told.Simulated) == 0 {
		t.Fatalf("%v: no cause of %d packet-hops is confirmed", err, told.PacketHops)
	}
	rows, err := result.ReadTable[result.CauseRow](done, "causes.parquet")
	for _, row := range rows {
		if c, ok := cause.Find(row.Cause); err != nil || !ok || row.Scope == result.OfCriticalPath &&
			row.Saving != told.Chain.Saving[c.ID] {
			t.Errorf("%v: %+v, %d in summary.json", err, row, told.Chain.Saving[c.ID])
		}
	}
	jobs := dir + "-jobs"
	if _, errs, code := call("run", "../../scenarios/two-jobs.yaml", "--out", jobs, "--confirm", "never"); code != 0 {
		t.Fatal(errs)
	}
	out, _, _ = call("why", jobs, "--try", "2", "--json")
	if err := json.Unmarshal([]byte(out), &why); err != nil {
		t.Fatal(err)
	}
	tried := map[string]int{}
	for _, r := range why.Remedies {
		if r.Tried {
			tried[r.Cause]++
		}
	}
	if len(tried) != 2 || !why.Remedies[0].Tried { // the first remedy of each cause first
		t.Errorf("tried %v", tried)
	}
	if out, _, code := call("why", dir, "--try", "2"); code != 0 || !strings.Contains(out, "simulated   change  Remedy") {
		t.Errorf("%d: %s", code, out)
	}
	flows := filepath.Join(dir, "flows.parquet")
	for _, damage := range []string{"found 100 bytes", "found no file"} { // tables are no part of the account
		err := os.Truncate(flows, 100)
		if damage == "found no file" {
			err = os.Remove(flows)
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, errs, code := call("why", dir); code != 0 || out == "" || !strings.Contains(errs, damage) {
			t.Errorf("%s: %d, %s", damage, code, errs)
		}
	}
}

// TestSavingsAgree checks that summary.json, why and why --json have equal upper limits of remedies' savings, and
// that the busiest NIC's payload limits them. The page lists those of summary.json.
func TestSavingsAgree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errs := call(t, "run", "../../scenarios/pfc-cascade.yaml", "--out", dir); code != 0 {
		t.Fatal(errs)
	}
	s, err := result.ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := s.Busiest
	if n == nil || n.Time != 80_000_000 || n.Show() != "host-3/nic-1 receives 4 MB, which takes 80 µs at 400 Gbit/s" {
		t.Fatalf("busiest NIC %+v", n)
	}
	_, out, _ := call(t, "why", dir, "--json")
	var why struct {
		Remedies []result.Remedy `json:"remedies"`
	}
	if err := json.Unmarshal([]byte(out), &why); err != nil || len(why.Remedies) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	_, text, _ := call(t, "why", dir)
	limited := 0
	for _, x := range why.Remedies {
		if !slices.ContainsFunc(s.Remedies, func(o result.Remedy) bool { return reflect.DeepEqual(o, x) }) {
			t.Errorf("why --json has %+v, summary.json %+v", x, s.Remedies)
		}
		if best := unit.Time(s.StepTime - x.Expected).Show(); !strings.Contains(text, best) {
			t.Errorf("%s: no %q in\n%s", x.Says, best, text)
		}
		if x.Limit == n.Show() && x.Expected == s.StepTime-n.Time {
			limited++
		}
	}
	if flat := strings.Join(strings.Fields(text), " "); limited == 0 || !strings.Contains(flat, n.Show()) {
		t.Errorf("%d limited by %s:\n%s", limited, n.Show(), text)
	}
}

// TestUnaccounted checks that a run without an account of lost time gives the reason in its report and names no
// cause. why returns the same text, and explain recommends why only for runs with an account.
func TestUnaccounted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	for _, fidelity := range []string{"packet", "flow"} {
		for _, causes := range []bool{true, false} {
			code, out, errs := call(t, "run", "../../scenarios/three-flows.yaml", "--set", "fidelity="+fidelity,
				"--set", fmt.Sprint("output.causes=", causes), "--force", "--out", dir)
			if code != 0 {
				t.Fatal(errs)
			}
			_, shown, _ := call(t, "explain", dir)
			_, file, _ := call(t, "explain", filepath.Join(dir, "summary.json"))
			code, _, errs = call(t, "why", dir)
			text := "causes of lost time were not computed: output.causes is false"
			for i, output := range []string{out, errs, shown, file} {
				words := strings.Join(strings.Fields(output), " ")
				if strings.Contains(words, text) == causes || !causes && strings.Contains(words, "at line rate") {
					t.Errorf("%s, causes %v, output %d: %s", fidelity, causes, i, output)
				}
			}
			if (code == 0) != causes || strings.Contains(shown, "railyard why") != causes ||
				strings.Contains(file, "railyard why") != causes {
				t.Errorf("%s, causes %v: why returns %d: %s%s%s", fidelity, causes, code, errs, shown, file)
			}
		}
	}
}

// TestRefuted checks that why --try lists remedies that its simulation refutes separately.
func TestRefuted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errs := call(t, "run", "../../scenarios/victim.yaml", "--out", dir); code != 0 {
		t.Fatal(errs)
	}
	_, out, _ := call(t, "why", dir, "--try", "4")
	first, second, ok := strings.Cut(out, "Simulated, no remedy")
	if !ok || strings.Contains(first, "a PFC threshold twice as high") || !strings.Contains(second, "a PFC threshold") {
		t.Error(out)
	}
}
