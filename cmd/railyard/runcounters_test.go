package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestRunCountersOfADevice: SONiC lists every port of its device by name and front-panel label, which neighbours
// receive. Ports without a cable are down and count nothing. diagnose finds the far ends by their aliases.
func TestRunCountersOfADevice(t *testing.T) {
	smallFile(t)
	code, _, errs := call(t, "run", "small.yaml", "--out", "r", "--counters", "sonic", "--hwsku",
		"ACS-SN5600")
	if code != 0 {
		t.Fatal(errs)
	}
	all, heard := 0, 0
	files, _ := filepath.Glob("r-counters/after/*.txt")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		read, _, err := counters.Read(f, b)
		if err != nil {
			t.Fatal(err)
		}
		joined, _ := counters.Join(read)
		if joined[0].Kind == counters.Host {
			continue
		}
		all++
		free := 0
		for i := range joined[0].Ports {
			p := &joined[0].Ports[i]
			if p.Alias != fmt.Sprintf("etp%d", i+1) || p.Name != fmt.Sprintf("Ethernet%d", 8*i) ||
				p.Lanes == "" {
				t.Fatalf("%s: port %d: %+v", f, i, p)
			}
			if p.Peer.ID != "" {
				heard++
			}
			if !p.Peer.Is() && p.Up.Is && !p.Up.V && p.Enabled.Is && !p.Enabled.V && p.RxPackets.Is &&
				p.TxPackets.V == 0 && p.Queues[3].TxBytes.Is {
				free++
			}
		}
		if len(joined[0].Ports) != 64 || free == 0 || free == 64 {
			t.Errorf("%s: %d ports, %d of them free", f, len(joined[0].Ports), free)
		}
	}
	if all == 0 || heard == 0 {
		t.Errorf("%d switches, of whose ports %d hear an alias", all, heard)
	}
	if code, out, errs := call(t, "diagnose", "r-counters"); code != 0 || strings.Contains(out+errs, "etp") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
}

// TestRunCounters: each device has a session before the run and one after it, whose difference is the run's counts.
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
