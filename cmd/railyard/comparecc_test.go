package main

import (
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/cc"
	"railyard/internal/report"
	"railyard/internal/result"
)

// Every fitting algorithm has a row, and the others their reason; together they are all algorithms.
func TestCompareAllAlgorithms(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	t.Chdir(t.TempDir())
	args := []string{"compare", s, "--set", "cc.algorithm=all",
		"--set", "workload.traffic.flows[0].bytes=256KiB"}
	code, out, errs := call(t, append(args, "--png", "plots")...)
	if code != 0 {
		t.Fatal(errs)
	}
	for _, name := range cc.Names() {
		fits := strings.Contains(out, "\n"+name+" ")
		if without := strings.Contains(out, "infeasible: "+name+": "); fits == without {
			t.Errorf("%s has a line: %v, a reason: %v", name, fits, without)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, name := range []string{"completion", "queues", "rates"} {
		f, err := os.Open(filepath.Join("plots", name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		if err != nil || img.Bounds().Dx() < 800 {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
	}
	code, _, errs = call(t, "compare", s, "--set", "lb=ecmp,spray", "--seeds", "2", "--png", "two",
		"--set", "workload.traffic.flows[0].bytes=64KiB")
	if code != 0 || !strings.Contains(errs, "note: curves are those of the first of 2 seeds") {
		t.Error(code, errs)
	}
	for _, to := range [][2]string{{"plots", "--force"}, {"plots/rates.png", "not a folder"}} {
		code, out, errs = call(t, append(args, "--png", to[0])...)
		if code != 2 || !strings.Contains(errs, to[1]) || out != "" {
			t.Errorf("plots into %s: exit %d, %s, after simulating: %q", to[0], code, errs, out)
		}
	}
	code, out, errs = call(t, append(args, "--json")...)
	var all map[string][]map[string]any
	if err := json.Unmarshal([]byte(out), &all); code != 0 || err != nil || len(all) != len(cc.Names()) {
		t.Errorf("exit %d, %d of %d algorithms, %v, %s", code, len(all), len(cc.Names()), err, errs)
	}
}

// An error that occurs without any algorithm is not attributed to an algorithm.
func TestCompareAllOfNothing(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	code, out, errs := call(t, "compare", s, "--set", "cc.algorithm=all", "--set", "transport.mtu=77")
	if code != 2 || out != "" || !strings.Contains(errs, "transport.mtu") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	var b strings.Builder
	report.Algorithms(&b, "none", nil, []result.Unfit{{Label: "eqds", Why: "eqds needs trimming"}})
	if !strings.Contains(b.String(), "infeasible: eqds: eqds needs trimming") {
		t.Error(b.String())
	}
}

// TestCompareNeeds: the table of needs has the form of telemetry that is set, and what NICs choose under NICs.
func TestCompareNeeds(t *testing.T) {
	s := filepath.Join(scenarios(t), "three-flows.yaml")
	for _, c := range []struct{ sets, want string }{
		{"cc.algorithm=hpcc,dcqcn cc.hpcc.ifa=true", "IFA window, IFA sent back"},
		{"cc.algorithm=hpcc,dcqcn cc.hpcc.csig=8", "wide CSIG window, wide CSIG sent back"},
		{"cc.algorithm=hpcc,dcqcn", "INT window, INT sent back"},
		{"lb=ecmp,reps", "ECMP source ports recycled"},
	} {
		args := []string{"compare", s, "--set", "workload.traffic.flows[0].bytes=256KiB"}
		for _, set := range strings.Fields(c.sets) {
			args = append(args, "--set", set)
		}
		code, out, errs := call(t, args...)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), c.want) {
			t.Errorf("%s: exit %d, no %q in %s%s", c.sets, code, c.want, out, errs)
		}
	}
}
