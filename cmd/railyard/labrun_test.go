package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Actions that a lab does not support are rejected before anything is built.
func TestLabRunRefuses(t *testing.T) {
	s := filepath.Join(scenarios(t), "lab-planes.yaml")
	for args, want := range map[string]string{
		"--set transport=roce":            "lab run loads the fabric by MRC",
		"--set transport.forwarding=srv6": "this host's kernel hashes; accepted: hash",
		"--set lb=structured":             "structured, and this host's kernel hashes",
		"--set fabric.ip=6":               "labs give hosts IPv4 addresses",
		"--duration 1ms":                  "is out of range 1s–1m0s",
		"--at 10s":                        "--at: 10s is out of range 300ms–500ms before",
		"--plot x.svg":                    "--plot: writes .png",
		"--force":                         "--force: has no effect",
		"--rate 5":                        "--rate: ",
	} {
		code, _, errs := call(t, append([]string{"lab", "run", s}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d: %s", args, code, errs)
		}
	}
	for _, event := range []string{"{switch: spine-1-1, at: 0s, up: false}",
		"{link: 'spine-1-1:Eth2', at: 0s, rate: 1Gbps}"} {
		code, _, errs := call(t, "lab", "run", planesWith(t, event))
		if code != 2 || !strings.Contains(errs, "events[0]: a lab does to a link up: false or "+
			"bit_error_rate") {
			t.Errorf("%s: exit %d: %s", event, code, errs)
		}
	}
}

// planesWith is the shipped scenario with an event.
func planesWith(t *testing.T, event string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(scenarios(t), "lab-planes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "planes.yaml")
	if err := os.WriteFile(file, append(b, "events: ["+event+"]\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
