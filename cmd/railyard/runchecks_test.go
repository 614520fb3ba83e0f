package main

import (
	"os"
	"strings"
	"testing"
)

// TestExpectMissing checks that an expectation of a figure that the run does not have is an error after its report.
func TestExpectMissing(t *testing.T) {
	smallFile(t)
	code, out, errs := call(t, "run", "small.yaml", "--expect", "mfu<30%", "--junit", "a.xml")
	if _, err := os.Stat("a.xml"); code != exitInput || strings.Contains(out, "found") || err == nil ||
		!strings.Contains(errs, "--expect: the run has no mfu\n") {
		t.Errorf("exit %d, %v, %s%s", code, err, out, errs)
	}
}

// TestExpect runs a scenario with expectations that are met, and some that are not. Invalid ones are rejected
// before the simulation.
func TestExpect(t *testing.T) {
	smallFile(t)
	for _, c := range []struct {
		args, want, report string
		code               int
	}{
		{"--expect drops=0 --junit a.xml", "1 expectation, 1 met\n  met      drops=0  found 0\n", `failures="0"`, exitOK},
		{"--expect step_time<1ns --expect drops=0 --junit b.xml",
			"2 expectations, 1 met\n  not met  step_time<1ns  found ", `<failure message="expected step_time&lt;1ns, found `, exitUnmet},
		{"--expect step_time<1 --junit c.xml", "--expect: step_time is a time: write for example", "", exitInput},
		{"--expect links.max_utilization<50 --junit c.xml", "is a share of 1: write 50% or 0.5, found", "", exitInput},
		{"--expect drops=0 --junit a.xml", "a.xml exists; --force replaces it", "", exitInput},
		{"--junit d.xml", "--junit: has no effect without --expect", "", exitInput},
		{"--expect gpus=3 --json", "1 expectation, 0 met", "", exitUnmet},
	} {
		args := strings.Fields(c.args)
		code, out, errs := call(t, append([]string{"run", "small.yaml"}, args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit %d, %s%s", c.args, code, out, errs)
		}
		if c.code == exitInput && out != "" || strings.Contains(c.args, "--json") && strings.Contains(out, "expectation") {
			t.Errorf("%s prints %s", c.args, out)
		}
		file := args[len(args)-1]
		b, err := os.ReadFile(file)
		if !strings.Contains(string(b), c.report) || c.code == exitInput && file != "a.xml" && err == nil {
			t.Errorf("%s: %s", c.args, b)
		}
	}
}
