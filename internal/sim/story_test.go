package sim

import (
	"reflect"
	"strings"
	"testing"

	"railyard/scenarios"
	"railyard/unit"
)

// output.steps changes nothing in a run except the printed steps.
func TestTellingChangesNothing(t *testing.T) {
	for _, name := range []string{"pfc-cascade.yaml", "dcqcn-sequence.yaml"} {
		text := scenarios.Texts()[name]
		_, told, tables := runAll(t, text)
		_, quiet, others := runAll(t, text, "output.steps=0")
		if len(told.Story) == 0 || len(quiet.Story) > 0 {
			t.Fatalf("%s: %d steps, and %d without", name, len(told.Story), len(quiet.Story))
		}
		told.Story, told.WallSeconds, quiet.WallSeconds = nil, 0, 0
		told.SimSeconds, quiet.SimSeconds = 0, 0
		if !reflect.DeepEqual(told, quiet) || !reflect.DeepEqual(tables.Pauses, others.Pauses) ||
			!reflect.DeepEqual(tables.Flows, others.Flows) {
			t.Errorf("%s: another run", name)
		}
	}
}

// Steps are in order, each once, as often as in the tables of pauses, and only of the requested kinds.
func TestStepsInOrder(t *testing.T) {
	_, s, tables := runAll(t, scenarios.Texts()["pfc-cascade.yaml"])
	pauses := int64(0)
	for _, p := range tables.Pauses {
		if p.What == "pause" {
			pauses++
		}
	}
	seen, counted := map[string]bool{}, int64(0)
	for i, h := range s.Story {
		if seen[h.What] || i > 0 && h.At < s.Story[i-1].At || h.Last < h.At || h.Times < 1 {
			t.Errorf("step %d: %+v", i+1, h)
		}
		seen[h.What] = true
		if strings.Contains(h.What, "stops sending") {
			counted += h.Times
		}
	}
	if counted != pauses || s.Story[len(s.Story)-1].At != s.StepTime {
		t.Errorf("%d pauses are told of, there are %d; the last step is at %v", counted, pauses,
			unit.Time(s.Story[len(s.Story)-1].At))
	}
	_, few, _ := runAll(t, scenarios.Texts()["pfc-cascade.yaml"], "output.steps=3")
	if n := len(few.Story) - 4; n != 3 { // in addition to the requested steps
		t.Errorf("%d kinds of happenings, 3 were asked for", n)
	}
}

// A rate reduction is described with the rates before and after, and so is its recovery.
func TestRatesAreTold(t *testing.T) {
	text := strings.Replace(scenarios.Texts()["dcqcn-sequence.yaml"],
		"{from: host-2/gpu-1, to: host-3/gpu-1, bytes: 40MB}",
		"{from: host-2/gpu-1, to: host-3/gpu-1, bytes: 2MB}", 1)
	_, s, _ := runAll(t, strings.Replace(text, "bytes: 40MB", "bytes: 80MB", 1), "cc.dcqcn.profile=nic")
	all := ""
	for _, h := range s.Story {
		all += h.What + "\n"
	}
	at := 0
	for _, want := range []string{"host-1/nic-1 receives a CNP from host-3/nic-1",
		"reduces the rate of queue pair 0 from 400 Gbit/s to",
		"host-1/nic-1 increases the rate of queue pair 0 from ", "host-1/nic-1: queue pair 0 has recovered to "} {
		i := strings.Index(all[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing behind %d of\n%s", want, at, all)
		}
		at += i
	}
}
