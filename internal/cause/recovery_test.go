package cause

import "testing"

// TestOtherRecovery checks runs without a cause that also recover lost packets in another way. Their saving is in
// doubt if links lose packets.
func TestOtherRecovery(t *testing.T) {
	for _, id := range []ID{Collision, Reordering} {
		f := &Facts{Transport: "roce", Recovery: "go-back-n", LB: "spray", Lost: Lost{BitErrors: 1}}
		if c := id.Get().Without(f); c.Doubt == "" {
			t.Errorf("%s: %+v", id.Get().Name, c)
		}
		f.Lost = Lost{}
		if c := id.Get().Without(f); c.Doubt != "" {
			t.Errorf("%s without losses: %+v", id.Get().Name, c)
		}
	}
}
