package cause

import "testing"

// Switches are no remedy for latency in a run without traffic through a switch, and none for the latency of long
// cables.
func TestCutThroughIsForPackets(t *testing.T) {
	for f, want := range map[Facts]int{{}: 1, {Inside: true}: 0, {Far: true}: 0} {
		if got := latency.Remedies(&f); len(got) != want {
			t.Errorf("%+v: %v", f, got)
		}
	}
}
