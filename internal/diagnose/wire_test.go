package diagnose

import (
	"strings"
	"testing"
)

// TestFasterThanTheWire: a counter that grew by more than its wire carries has no difference, and is noted.
func TestFasterThanTheWire(t *testing.T) {
	const most = 500_000_000_000 / 84 // frames of 84 bytes in 10 s at 400 Gbit/s
	for _, c := range []struct {
		name    string
		change  func(*lab)
		refused string // the counter; "": none
	}{
		{"pauses", func(l *lab) { l.now("leaf2", "Ethernet1/1").RxPFC[data].V += most + 1 }, "pauses received, priority 3"},
		{"packets", func(l *lab) { l.now("leaf2", "Ethernet1/1").Queues[data].TxPackets.V += most + 1 }, "queue 3: packets sent"},
		{"bytes", func(l *lab) { l.now("leaf2", "Ethernet1/1").Queues[data].TxBytes.V += 1e12 }, "queue 3: bytes sent"},
		{"bytes of a longer interval", func(l *lab) { l.now("leaf2", "Ethernet1/1").Queues[data].TxBytes.V += 9e11 }, ""},
		{"no clock", func(l *lab) {
			l.now("leaf2", "Ethernet1/1").RxPFC[data].V += most + 1
			l.after["leaf2"].At.Is = false
		}, ""},
	} {
		l := healthy()
		c.change(l)
		f, err := Gather(l.input())
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(f.Notes, "\n")
		if got := strings.Contains(notes, "the counter is not used"); got != (c.refused != "") {
			t.Errorf("%s: %s", c.name, notes)
		}
		if !strings.Contains(notes, "leaf2.txt:10: leaf2 Ethernet1/1: "+c.refused) && c.refused != "" {
			t.Errorf("%s: %s", c.name, notes)
		}
		for _, x := range f.Find() {
			if c.refused != "" && x.Grade == Fault {
				t.Errorf("%s: %v %s: %s", c.name, x.Sure, x.Cause, x.Says)
			}
		}
	}
}

// TestEndsDisagree: a finding that rests on pauses of which one end counted many times more than the other is possible,
// and reports both counts. Frames on the cable are no disagreement.
func TestEndsDisagree(t *testing.T) {
	for _, c := range []struct {
		more     uint64 // at the switch
		disagree bool
	}{{0, false}, {4, false}, {8000, true}, {2_000_000, true}} {
		l := healthy()
		l.pause("host-3", "eth0", 68)
		l.now("leaf2", "Ethernet1/1").RxPFC[data].V += c.more
		f, err := Gather(l.input())
		if err != nil {
			t.Fatal(err)
		}
		all := f.Find()
		if len(all) == 0 {
			t.Errorf("%d more: nothing found", c.more)
		}
		for _, x := range all {
			says := strings.Contains(x.Says, "the counters disagree: host-3 eth0 sent 68 pauses")
			if says != c.disagree || c.disagree != (x.Sure == Possible) {
				t.Errorf("%d more: %v %s: %s", c.more, x.Sure, x.Cause, x.Says)
			}
		}
	}
}
