package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
)

// What stands behind a name and has a value is its own; other words are the next.
func TestListOfControls(t *testing.T) {
	for text, want := range map[string]string{
		"dcqcn":                              "dcqcn",
		"dcqcn,swift,nscc":                   "dcqcn|swift|nscc",
		"dcqcn:nic,swift,base_target=2ms":    "dcqcn:nic|swift,base_target=2ms",
		"swift,ai=2,beta=0.5,swift":          "swift,ai=2,beta=0.5|swift",
		"":                                   "! there is no congestion control \"\"",
		"dcqcn,,swift":                       "! there is no congestion control \"\"",
		"ai=2":                               "! there is no congestion control \"ai=2\"",
		"dcqcn,ai=2":                         "! ai of dcqcn: \"2\" is not a rate",
		"swift,swift":                        "! swift stands twice",
		"hpcc":                               "! hpcc needs switches that write into packets",
		"swift,fs_max=0.05":                  "! fs_max of swift",
		"dcqcn,bbr":                          "! there is no congestion control \"bbr\"",
		"swift:nowhere":                      "! swift has no profile",
		"swift,base_target=2 parsecs,dcqcn ": "! base_target of swift",
	} {
		list, err := listOfControls(text)
		got := strings.Join(list, "|")
		if err != nil {
			got = "! " + err.Error()
		}
		if got != want && (!strings.HasPrefix(want, "!") || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	all, err := listOfControls("all")
	if err != nil || !slices.Contains(all, "nscc") || slices.Contains(all, "hpcc") ||
		slices.Contains(all, "ndp") {
		t.Errorf("all: %v %v", all, err)
	}
}

// Commands that could not write their plot say so before anything runs; a lab is not needed to hear it.
func TestLabCompareBadInput(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.png")
	if err := os.WriteFile(taken, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--cc bbr":                          "--cc: there is no congestion control",
		"--rate-plot x.svg":                 "writes .png",
		"--rate-plot " + taken:              "--force replaces",
		"--rate-plot " + dir + "/no/cc.png": "no such folder",
		"--bytes 3":                         "--bytes: \"3\" is not a size",
		"--force":                           "means nothing without a file",
	} {
		code, _, errs := call(t, append([]string{"lab", "compare", "--name", "nolab"},
			strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}

// Steps of a log become means over equal parts of the time: 10 for a quarter of it, 30 for the rest.
func TestRatesOfALog(t *testing.T) {
	all, err := readRates(strings.NewReader("seconds,qp,gbps\n0.000000,0x11,10.0\n0.010000,0x12,7\n" +
		"0.025000,0x11,30.0\n0.100000,0x11,30.0\n"))
	if err != nil || len(all) != 2 || len(all[1]) != 1 {
		t.Fatal(all, err)
	}
	want := plotter.XYs{{X: 0, Y: 10}, {X: 25, Y: 10}, {X: 25, Y: 30}, {X: 100, Y: 30}, {X: 100, Y: 30}}
	if !slices.Equal(all[0], want) {
		t.Errorf("steps %v", all[0])
	}
	means, sum := averaged(all[0], 100), 0.0
	for _, p := range means {
		if sum += p.Y; p.Y < 10-1e-9 || p.Y > 30+1e-9 {
			t.Errorf("a mean of %v at %v", p.Y, p.X)
		}
	}
	if mean := sum / float64(len(means)); math.Abs(mean-25) > 1e-6 {
		t.Errorf("mean of means %v, want 25", mean)
	}
	late := averaged(plotter.XYs{{X: 90, Y: 4}, {X: 95, Y: 4}}, 100)
	if len(late) != 15 || late[0].X < 90 || late[0].Y != 4 {
		t.Errorf("from 90 on: %v", late)
	}
	for _, bad := range []string{"seconds,qp,gbps\n1,0x1\n", "a,b,c\nx,0x1,2\n", "a,b,c\n1,0x1,\n"} {
		if _, err := readRates(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
