package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"railyard/internal/result"
)

const lostRail = `name: rail-lost
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
transport: {timeout: 8}
workload: {traffic: {alltoall: {bytes: 16MB}}}
events: [{link: 'rail-1:Eth1', at: 100us, up: false}]
`

// A run that loses a rank has an exit code of its own, and its directory is whole: nothing replaces it
// without --force.
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
	if code, out, _ := call(t, "report", "r"); code != 0 || !strings.Contains(out, "RANK LOST at") {
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
