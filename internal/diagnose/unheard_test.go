package diagnose

import (
	"strings"
	"testing"

	"railyard/internal/counters"
)

// A switch whose outputs are missing is no NIC that is slow: nobody is blamed, and it is named.
func TestPausesOfASwitchWithoutOutputs(t *testing.T) {
	for _, to := range []struct{ at, port, from, far string }{
		{"spine1", "Ethernet1/2", "leaf2", "Ethernet1/9"}, // by its port's name
		{"host-3", "eth0", "leaf2", "Ethernet1/1"},
		{"host-3", "eth0", "leaf2", "p1"}, // by the host at the cable's end
	} {
		l := healthy()
		l.now(to.at, to.port).RxPFC[data].V += 20_000
		for _, m := range []map[string]*counters.Snapshot{l.before, l.after} {
			m[to.at].Find(to.port).Peer = counters.Peer{Device: to.from, Port: to.far}
		}
		l.mute["leaf2"] = true
		f, err := Gather(l.input())
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range f.Find() {
			t.Errorf("%v: %s: %s", to, x.Cause, x.Says)
		}
		if s := strings.Join(f.Notes, "\n"); !strings.Contains(s, "pauses come from leaf2, of which") {
			t.Errorf("%v: nobody says that leaf2 is missing: %s", to, s)
		}
	}
}

// Snapshots that were given the wrong way round are told by their clocks.
func TestSnapshotsTheOtherWayRound(t *testing.T) {
	l := healthy()
	l.pause("host-4", "eth0", 20_000)
	in := l.input()
	in.Before, in.After = in.After, in.Before
	f, err := Gather(in)
	if err != nil {
		t.Fatal(err)
	}
	all := f.Find()
	if len(all) != 1 || all[0].Device != "host-4" || strings.Contains(all[0].Says, "Inf") {
		t.Errorf("found %+v", all)
	}
	if s := strings.Join(f.Notes, "\n"); !strings.Contains(s, "of 7 devices what was given as the later") {
		t.Errorf("not said: %s", s)
	}
}
