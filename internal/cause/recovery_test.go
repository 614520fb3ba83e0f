package cause

import "testing"

// TestOtherRecovery: a run in which packets that links lose are recovered in another way doubts what it saves, for
// whatever cause it is.
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
