package cause

import "testing"

// Cut-through switches are no remedy for latency where receiving whole packets takes little of the step: in a run
// without traffic through a switch, or of few large messages. Shorter cables are one of long cables only.
func TestCutThroughIsForPackets(t *testing.T) {
	for f, want := range map[Facts]int{{}: 0, {Stores: true}: 1, {Stores: true, Scheduled: true}: 0, {Far: true}: 1,
		{Far: true, Inside: true}: 0} {
		if got := latency.Remedies(&f); len(got) != want {
			t.Errorf("%+v: %v", f, got)
		}
	}
}
