package main

import (
	"encoding/json"
	"strings"
	"testing"

	"railyard/internal/validate"
)

// Published runs of uet-htsim are selected by number and seed, and the table and JSON have the simulator's
// difference.
func TestValidatePublishedRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"validate", "uet", "--random", "1", "--seed", "8"}
	code, out, errs := call(t, args...)
	if code != 0 || !strings.Contains(out, "1 published run of uet-htsim") || !strings.Contains(out, "Farthest off:") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = call(t, append(args, "--json")...)
	var got struct {
		Seed    uint64               `json:"seed"`
		Classes []validate.UETSpread `json:"classes"`
		Runs    []validate.UETRun    `json:"runs"`
	}
	err := json.Unmarshal([]byte(out), &got)
	if code != 0 || err != nil || len(got.Runs) != 1 || len(got.Classes) != 1 {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	if u, c := got.Runs[0], got.Classes[0]; u.Ours == 0 || u.Off != u.Ours/u.Expected-1 || c.Class != u.Class ||
		c.Runs != 1 || c.Worst != u.Off || !c.OK {
		t.Errorf("%+v, %+v", u, c)
	}
	for want, args := range map[string][]string{
		"--random: draws for one group, blame or uet": {"headroom", "--random", "3"},
		"--number: is of the group blame alone":       {"uet", "--random", "1", "--number", "0"},
		"--out: is of the group blame alone":          {"uet", "--random", "1", "--out", "x"},
		"--markdown: is written of all groups":        {"uet", "--random", "1", "--markdown", "x.md"},
	} {
		if code, _, errs := call(t, append([]string{"validate"}, args...)...); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}
