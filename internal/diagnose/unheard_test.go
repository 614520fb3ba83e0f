package diagnose

import (
	"fmt"
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
		if s := strings.Join(f.Open, "\n"); !strings.Contains(s, "pauses come from leaf2, which has no counters") {
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
	if s := strings.Join(f.Notes, "\n"); !strings.Contains(s, "of 7 devices the snapshots were swapped") {
		t.Errorf("not said: %s", s)
	}
}

// TestHostAlone: what a server's own counters say of its NIC is told without its switch, and without cables.
func TestHostAlone(t *testing.T) {
	const text = `root@gpu12:~# ethtool -S ens1f0 | grep -e prio3 -e discard
     tx_prio3_packets: 20515332188
     rx_prio3_pause: 0
     tx_prio3_pause: %d
     rx_discards_phy: 0
`
	read := func(n int) []counters.Snapshot {
		all, unknown, err := counters.Read("h.txt", fmt.Appendf(nil, text, n))
		if err != nil || len(unknown) > 0 {
			t.Fatal(err, unknown)
		}
		return all
	}
	for _, in := range []Input{{After: read(1290418)}, {Before: read(9), After: read(1290418)}} {
		r, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != 1 || len(r.Pauses) != 1 {
			t.Fatalf("%+v", r)
		}
		if x := r.Findings[0]; x.Cause != "slow-receiver" || x.Device != "gpu12" || len(x.Next) == 0 {
			t.Errorf("%+v", r)
		}
	}
	if r, err := Diagnose(Input{Before: read(9), After: read(9)}); err != nil || len(r.Findings) > 0 {
		t.Error(r, err)
	}
}

// TestOtherPriorities: a port that runs PFC for another priority than some other port is not told to be
// wrong, as long as nobody says what its peer does; one that differs from most is.
func TestOtherPriorities(t *testing.T) {
	const text = `admin@%[1]s:~$ show pfc priority
Interface    Lossless priorities
-----------  ---------------------
Ethernet0    3
Ethernet6    %[2]s
Ethernet8    %[3]s
admin@%[1]s:~$ show pfc counters
   Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
----------  ------  ------  ------  ------  ------  ------  ------  ------
 Ethernet0       0       0       0     100       0       0       0       0
 Ethernet6       0       0       0       0      50       0       0       0
`
	for _, c := range []struct {
		name, six, eight string // of the device: what sorts before and behind all neighbors
		off              int
	}{{"s1", "4", "3", 0}, {"s1", "4", "4", 1}, {"a1", "4", "4", 1}, {"zz1", "4", "4", 1}} {
		all, unknown, err := counters.Read("s.txt", fmt.Appendf(nil, text, c.name, c.six, c.eight))
		if err != nil || len(unknown) > 0 {
			t.Fatal(err, unknown)
		}
		r, err := Diagnose(Input{After: all})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, x := range r.Findings {
			if x.Cause == "pfc-off" && x.Class == 4 {
				n++
			}
		}
		if n != c.off {
			t.Errorf("%+v: %+v", c, r.Findings)
		}
	}
}
