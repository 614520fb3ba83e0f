package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestRunCounters: each device has a session before the run and after it, whose difference
// is the run's.
func TestRunCounters(t *testing.T) {
	smallFile(t)
	code, _, errs := call(t, "run", "small.yaml", "--out", "r", "--counters", "eos")
	if code != 0 || !strings.Contains(errs, "r-counters") {
		t.Fatal(code, errs)
	}
	read := func(name string) counters.Snapshot {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all, unknown, err := counters.Read(name, b)
		if err != nil || len(unknown) > 0 {
			t.Fatal(unknown, err)
		}
		joined, _ := counters.Join(all)
		return joined[0]
	}
	files, _ := filepath.Glob("r-counters/after/*.txt")
	sent := uint64(0)
	for _, f := range files {
		d, err := counters.Delta(read(strings.Replace(f, "after", "before", 1)), read(f))
		if err != nil || len(d.Notes) > 0 || !d.Took.Is {
			t.Fatal(f, err, d.Notes)
		}
		for i := range d.Ports {
			if d.Kind == counters.Host {
				sent += d.Ports[i].Queues[3].TxBytes.V
			}
		}
	}
	if len(files) != 11 || sent < 6_000_000 {
		t.Errorf("%d devices, hosts sent %d bytes in class 3, at least 6 MB", len(files), sent)
	}
	for _, c := range []struct{ args, want string }{
		{"--counters junos", "nxos, eos, sonic"},
		{"--counters eos --counters-dir r-counters", "holds files already"},
		{"--counters-dir x", "--counters"},
	} {
		code, _, errs := call(t, append([]string{"run", "small.yaml", "--out", "s"},
			strings.Fields(c.args)...)...)
		if code == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d, %s", c.args, code, errs)
		}
	}
}
