package explain_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/whatif"
	"railyard/unit"
)

// TestHostCores checks hosts that limit a transport in software. They are the main cause although flows meet. The
// estimate of their cost agrees with a run whose hosts take no time, if that run has no new congestion.
func TestHostCores(t *testing.T) {
	for _, file := range []string{"three-flows.yaml", "fattree128-permutation.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", file))
		if err != nil {
			t.Fatal(err)
		}
		s := &whatif.Scenario{Name: file, Text: text, Sets: []string{"transport=tcp"}}
		with, err := s.Run(&cause.Change{}, whatif.Limits{Time: 50 * unit.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		chain := with.Summary.Chain
		for id := range chain.Own {
			if most := chain.Of(cause.HostCores); chain.Of(cause.ID(id)) > most {
				t.Errorf("%s: %s costs %d ps, host cores %d", file, cause.ID(id).Get().Name, chain.Of(cause.ID(id)), most)
			}
		}
		known := facts.Of(with.Plan)
		facts.Count(known, with.Summary)
		change := cause.HostCores.Get().Without(known)
		without, err := s.Run(&change, whatif.Limits{Time: 50 * unit.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		step := with.Summary.StepTime
		saved, said := step-without.Summary.StepTime, chain.Saving[cause.HostCores]
		// Of the permutation the replay does not know what windows lose at links that are full once hosts are fast.
		if d := abs(said - saved); 5*d > saved && (said < saved || file == "three-flows.yaml") {
			t.Errorf("%s: without host cores the step of %d ps is said to take %d ps less, and takes %d less", file, step,
				said, saved)
		}
	}
}

// TestReorderEntries checks that the account names the limit of a NIC's reorder memory that was reached.
func TestReorderEntries(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "reorder-memory.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, s, _ := runAll(t, string(text), "server.reorder.memory=0B",
		"server.reorder.entries=10", "workload.traffic.collective.bytes=1MiB")
	if why := s.Slowest.Why; !strings.Contains(why, "had 10 of 10 packets in use") {
		t.Error(why)
	}
}
