package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/long"
)

// Killed before any change to a file, a study continues from its directory, to equal bytes. RAILYARD_LONG=1 tries
// all changes, otherwise every 48th.
func TestKilledSweep(t *testing.T) {
	smallFile(t)
	study := []string{"sweep", "small.yaml", "--grid", "lb=ecmp,spray", "--seeds", "4", "--jobs", "2", "--keep", "best:1",
		"--out", "killed"}
	read := func() (all []byte) {
		for _, name := range []string{"results.csv", "results.parquet"} {
			b, err := os.ReadFile("killed/" + name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	changes := len(killedAt(t, 0, railyard(study...)))
	want := read()
	if changes < 40 {
		t.Fatalf("%d changes to files", changes)
	}
	moments := 0
	for n := 1; n <= changes; n++ {
		if !long.On() && n%48 != 17 {
			continue
		}
		if err := os.RemoveAll("killed"); err != nil {
			t.Fatal(err)
		}
		killedAt(t, n, railyard(study...))
		code, out, errs := call(t, study...)
		if code != 0 || !bytes.Equal(read(), want) {
			t.Fatalf("killed before change %d of %d: exit %d, %s%s", n, changes, code, out, errs)
		}
		left := hidden(".", "killed", "killed/runs")
		if more, _ := filepath.Glob("killed/.*"); len(left)+len(more) > 0 {
			t.Errorf("killed before change %d: left behind: %v, %v", n, left, more)
		}
		moments++
	}
	t.Logf("killed at %d of %d moments", moments, changes)
}

// A trial that cannot be simulated is set aside. The others complete, output and exit status report it, and the
// same command with more memory simulates it alone.
func TestSweepSetsAside(t *testing.T) {
	smallFile(t)
	study := []string{"sweep", "small.yaml", "--set", "switch.buffer=1GB", "--grid", "fabric.hosts=4,2000", "--out", "aside"}
	code, out, errs := call(t, append(study, "--memory", "90MB")...)
	if code != exitFailed || !strings.Contains(out, "3 trials: 2 done, 1 open.") ||
		!strings.Contains(errs, "error: 1 trial not simulated: ") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = call(t, append(study, "--memory", "1GB")...)
	if code != 0 || !strings.Contains(out, "3 trials: 3 done.") || errs != "note: 2 trials in aside kept\n" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
