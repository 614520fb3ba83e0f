package cause

import "testing"

// Switches are no remedy for the latency of a run that sends nothing through one.
func TestCutThroughIsForPackets(t *testing.T) {
	for inside, want := range map[bool]int{false: 1, true: 0} {
		if got := latency.Remedies(&Facts{Inside: inside}); len(got) != want {
			t.Errorf("inside %v: %v", inside, got)
		}
	}
}
