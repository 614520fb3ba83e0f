package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/study/load"
)

// Minimal routing carries little of the worst load, and UGAL with global queues nearly half. A load balancing is
// not measured beyond its saturation.
func TestPlanLoad(t *testing.T) {
	file := filepath.Join(scenarios(t), "dragonfly-load.yaml")
	t.Chdir(t.TempDir())
	args := []string{"plan", "load", file, "--set", "fabric.k=2", "--loads", "5,20,40,45", "--lb",
		"minimal,ugal-g", "--set", "workload.traffic.background.to=next-group"}
	code, out, errs := call(t, append(args, "--json", "--plot", "x.svg")...)
	var curves []load.Curve
	if err := json.Unmarshal([]byte(out), &curves); err != nil || code != 0 || len(curves) != 2 {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	direct, adaptive := curves[0], curves[1]
	if n := len(direct.Points); n != 2 || !direct.Points[1].Saturated || direct.Most > 0.13 {
		t.Errorf("minimal: %+v", direct)
	}
	if n := len(adaptive.Points); n != 4 || adaptive.Points[3].Saturated || adaptive.Most < 0.42 {
		t.Errorf("ugal-g: %+v", adaptive)
	}
	if b, err := os.ReadFile("x.svg"); err != nil || !strings.Contains(string(b), "ugal-g") {
		t.Error(err)
	}
	if code, out, _ := call(t, append(args, "--loads", "20", "--lb", "minimal")...); code != 0 || !strings.Contains(out, "saturated") {
		t.Errorf("exit %d, %s", code, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{file, "--loads", "10,5"}, "--loads: found \"5\", expected rising percents"},
		{[]string{file, "--loads", "x"}, "found \"x\", expected rising percents between 0.1 and 200"},
		{[]string{file, "--plot", "x.pdf"}, "writes .png or .svg"},
		{[]string{file, "--lb", "nope"}, "--set lb=nope: unknown value \"nope\"; accepted: ecmp"},
		{[]string{filepath.Join(filepath.Dir(file), "two-jobs.yaml")}, "offered by traffic.background"},
		{[]string{file, "--set", "fabric.kind=fat-tree", "--set", "fabric.k=4", "--set", "lb=ecmp", "--set",
			"workload.traffic.background.to=next-group"}, "next-group needs groups of switches"},
	} {
		code, _, errs := call(t, append([]string{"plan", "load"}, c.args...)...)
		if code != exitInput || !strings.Contains(strings.Join(strings.Fields(errs), " "), c.want) {
			t.Errorf("%v: exit %d, %s", c.args, code, errs)
		}
	}
}
