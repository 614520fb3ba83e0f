package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"railyard/internal/result"
	"railyard/internal/study/interference"
)

// Messages are compared with the same ones of the job alone, for any order of the tables. A message that did not
// end in both runs counts in neither.
func TestSlowerBy(t *testing.T) {
	row := func(msg int64, from string, posted, took int64) result.FlowRow {
		return result.FlowRow{Message: msg, From: from, To: "z", Bytes: 1, Posted: posted,
			Done: posted + took}
	}
	alone := []result.FlowRow{row(1, "a", 0, 10), row(2, "a", 5, 100), row(3, "b", 0, 10),
		row(4, "c", 0, 10)}
	alone[3].Done = -1
	together := []result.FlowRow{row(7, "b", 0, 30), row(8, "a", 0, 10), row(9, "a", 5, 200),
		row(10, "c", 0, 9)}
	m := interference.Compare(together, alone)
	if m != (interference.Messages{Count: 3, Mean: 2, Median: 2, P99: 3}) {
		t.Errorf("%+v", m)
	}
	if m := interference.Compare(together[:3], alone); m.Count != 0 {
		t.Errorf("tables of different lengths: %+v", m)
	}
}

// Background traffic next to a job on the same cable: the last message ends at its usual time, and the others show
// the job's cost.
func TestInterferenceOfBackground(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte(`name: background
fabric: {kind: rail, hosts: 2, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
jobs:
  noise: {on: [host-1/gpu-1, host-3/gpu-1], traffic: {background: {load: 20, for: 2ms, sizes: 64KB}}}
  bulk: {on: [host-2/gpu-1, host-4/gpu-1], traffic: {permutation: {bytes: 8MB}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, "plan", "interference", "s.yaml", "--json")
	x := interference.Result{}
	if err := json.Unmarshal([]byte(out), &x); err != nil || code != 0 {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	for _, j := range x.Jobs {
		if j.Open != (j.Job == "noise") {
			t.Errorf("%+v", j)
		}
		if m := j.Messages; j.Open && (m.Count < 50 || m.P99 < 1.5 || m.Median < 1) {
			t.Errorf("%+v", j)
		}
	}
	for fidelity, want := range map[string]bool{"flow": true, "packet": false} {
		_, out, errs := call(t, "plan", "interference", "s.yaml", "--set", "fidelity="+fidelity)
		if strings.Contains(strings.Join(strings.Fields(out), " "), "(flow fidelity, error ") != want {
			t.Errorf("%s: %s%s", fidelity, out, errs)
		}
	}
}

// With several seeds each seed's jobs equal those of a separate run with that seed. The first one's equal those of
// a single seed, and the table has the range.
func TestInterferenceOfSeeds(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("s.yaml", []byte(`name: shared
fabric: {kind: rail, hosts: 2, segments: 2, spines: 2, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 2, nics: 2}
placement: spread
jobs:
  left: {gpus: 4, traffic: {alltoall: {bytes: 1MB}}}
  right: {gpus: 4, traffic: {alltoall: {bytes: 1MB}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(args ...string) (x interference.Result) {
		code, out, errs := call(t, append([]string{"plan", "interference", "s.yaml", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &x); err != nil || code != 0 {
			t.Fatalf("exit %d, %v, %s", code, err, errs)
		}
		return x
	}
	several := read("--seeds", "3")
	if len(several.Seeds) != 3 {
		t.Fatalf("%d seeds", len(several.Seeds))
	}
	for i, jobs := range several.Seeds {
		one := read("--set", fmt.Sprint("seed=", 1+i))
		if len(one.Seeds) != 0 || !reflect.DeepEqual(one.Jobs, jobs) {
			t.Errorf("seed %d: %+v, alone %+v", 1+i, jobs, one.Jobs)
		}
	}
	least, median, most, n := several.Range(0)
	if n != 3 || least > median || median > most || least == most {
		t.Errorf("%v, %v, %v of %d", least, median, most, n)
	}
	if _, out, _ := call(t, "plan", "interference", "s.yaml", "--seeds", "3"); !strings.Contains(out, "of 3 seeds (") {
		t.Error(out)
	}
}
