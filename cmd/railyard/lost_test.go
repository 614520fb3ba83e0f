package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/internal/study/interference"
)

const lostRail = `name: rail-lost
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
transport: {timeout: 8}
workload: {traffic: {alltoall: {bytes: 16MB}}}
events: [{link: 'rail-1:Eth1', at: 100us, up: false}]
`

const lostJob = `name: rail-lost
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
transport: {timeout: 8}
jobs:
  cut: {gpus: 4, traffic: {alltoall: {bytes: 16MB}}}
  whole: {gpus: 4, traffic: {incast: {fan_in: 2, bytes: 1MB}}}
events: [{link: 'rail-1:Eth1', at: 100us, up: false}]
`

// Interference with a job that loses a rank reports the other jobs, and that this one lost a rank. The exit code is
// that of run. check names a job with more GPUs than its work is for.
func TestInterferenceOfALostRank(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte(lostJob), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, "plan", "interference", "s.yaml", "--json")
	x := interference.Result{}
	if err := json.Unmarshal([]byte(out), &x); err != nil || code != exitLost || len(x.Jobs) != 2 {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	if cut := x.Jobs[0]; !cut.Lost.Alone || !cut.Lost.Together || cut.Slowdown != 0 || x.Outcome == nil {
		t.Errorf("%+v", cut)
	}
	if whole := x.Jobs[1]; whole.Lost.Any() || whole.Slowdown < 0.99 || whole.Messages.Count != 1 {
		t.Errorf("%+v", whole)
	}
	if code, out, errs := call(t, "plan", "interference", "s.yaml"); code != exitLost ||
		!strings.Contains(out, "rank lost") {
		t.Errorf("exit %d, %s %s", code, out, errs)
	}
	_, out, errs = call(t, "check", "s.yaml")
	if said := strings.Join(strings.Fields(out+errs), " "); !strings.Contains(said,
		"job whole has 4 GPUs, and its work is for 3 of them") {
		t.Error(said)
	}
}

// A run that loses a rank has its own exit code, and its directory is complete: it is replaced only with --force.
func TestExitOfALostRank(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte(lostRail), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, "run", "s.yaml", "--out", "r", "--json")
	s := result.Summary{}
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != exitLost {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	if s.Complete || s.Outcome == nil || len(s.Outcome.CutOff) != 2 {
		t.Errorf("%+v", s.Outcome)
	}
	if code, out, _ := call(t, "report", "r"); code != 0 || !strings.Contains(out, "job fails at 8.48 ms: 2 GPUs isolated") {
		t.Errorf("report: exit %d, %s", code, out)
	}
	if b, _ := os.ReadFile("r/run.json"); !strings.Contains(string(b), `"complete": true`) {
		t.Error("run.json calls the run incomplete")
	}
	if code, _, errs := call(t, "run", "s.yaml", "--out", "r"); code != exitInput {
		t.Errorf("exit %d, %s", code, errs)
	}
	code, out, _ = call(t, "compare", "s.yaml")
	if code != exitFailed || !strings.Contains(out, "lost a rank") {
		t.Errorf("compare: exit %d, %s", code, out)
	}
}
