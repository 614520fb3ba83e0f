package sim

import (
	"testing"

	"railyard/internal/queue"
	"railyard/unit"
)

// Watchdogs poll as long as they are requested to, because a switch cannot know whether other events are left. A
// run with only watchdogs left still ends.
func TestWatchdogsAloneEndARun(t *testing.T) {
	s := permutationSetup(t, 4)
	spec := queue.Default()
	spec.Watchdog.On = true
	s.Spec = func(int) *queue.Spec { return &spec }
	n, err := NewNetwork(s)
	if err != nil {
		t.Fatal(err)
	}
	delivered, stop := unit.Time(0), false
	n.Hosts.OnDeliver = func(int32) { delivered = n.Net.Q.Now() }
	n.Hosts.Send(n.Conn(0, 0, 9, 0), 2*unit.MB, 0)
	if n.RunUntil(&stop, 1<<20, nil) {
		t.Fatal("watchdogs keep a run alive")
	}
	if now := n.Net.Q.Now(); delivered == 0 || now != spec.Watchdog.Poll {
		t.Errorf("delivered at %v, ended at %v: want the first poll, at %v", delivered, now,
			spec.Watchdog.Poll)
	}
}
