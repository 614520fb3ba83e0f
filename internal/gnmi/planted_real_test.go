package gnmi_test

import (
	"context"
	"testing"
	"time"

	"railyard/internal/counters"
	"railyard/internal/counters/planted"
	"railyard/internal/diagnose"
	"railyard/internal/gnmi"
	"railyard/internal/gnmi/gnmitest"

	pb "github.com/openconfig/gnmi/proto/gnmi"
)

// TestRealSimulatedSwitches serves what the switches of simulated faults counted, asks for it
// twice, and finds who it is without a word from any host.
func TestRealSimulatedSwitches(t *testing.T) {
	for _, name := range []string{"slow-receiver-rail-host-9", "storm-rail-host-7", "flapping-rail-uplink"} {
		f := fault(t, name)
		seen, err := f.Simulate("eos")
		if err != nil {
			t.Fatal(err)
		}
		var all []counters.Snapshot
		for i := range seen.Before {
			if seen.Before[i].Kind == counters.Switch {
				all = append(all, twice(t, seen.Before[i], seen.After[i])...)
			}
		}
		r, err := diagnose.Diagnose(diagnose.Input{After: all})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) == 0 {
			t.Errorf("%s: nothing found", name)
			continue
		}
		x, ok := &r.Findings[0], false
		for _, c := range seen.Culprits {
			ok = ok || c.Device == x.Device && (c.Port == "" || c.Port == x.Port)
		}
		if !ok || x.Cause != f.Cause {
			t.Errorf("%s: found %s of %s %s: %s", name, x.Cause, x.Device, x.Port, x.Says)
		}
	}
}

func fault(t *testing.T, name string) *planted.Fault {
	t.Helper()
	for i := range planted.Faults {
		if planted.Faults[i].Name == name {
			return &planted.Faults[i]
		}
	}
	t.Fatalf("%s is not planted any more", name)
	return nil
}

// twice asks a switch at both moments.
func twice(t *testing.T, moments ...counters.Snapshot) (all []counters.Snapshot) {
	t.Helper()
	s := &gnmitest.Server{Snapshots: moments, Encoding: pb.Encoding_JSON_IETF}
	addr, stop, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c, err := gnmi.Dial(addr, gnmi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range moments {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		got, _, err := c.Snapshot(ctx)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *got)
	}
	return all
}
