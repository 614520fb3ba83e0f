package explain

import (
	"strings"
	"testing"

	"railyard/internal/partition"
	"railyard/internal/scenario"
	"railyard/internal/workload"
)

// TestUnaccounted checks that flows are replayed up to a number of messages, and packets whatever theirs.
func TestUnaccounted(t *testing.T) {
	p := &scenario.Plan{Causes: true}
	for n, packets := range map[int]*Packets{mostSummed: nil, mostSummed + 1: new(Packets)} {
		if why := unaccounted(p, &Observation{Messages: make([]Message, n), Packets: packets}); why != "" {
			t.Errorf("%d messages: %s", n, why)
		}
	}
	for microbatches, want := range map[int]string{1: "with dp and global_batch", 2: "with half the global_batch"} {
		p.Jobs = []workload.Job{{Training: &workload.Training{Layout: partition.Layout{Microbatches: microbatches}}}}
		why := unaccounted(p, &Observation{Messages: make([]Message, mostSummed+1)})
		if !strings.Contains(why, "2,000,001 messages exceed the limit of 500 k") || !strings.Contains(why, want) {
			t.Error(why)
		}
	}
}
