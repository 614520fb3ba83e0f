package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestPFCOffUnread: a finding of PFC that is off at one end has no state of an end of which nothing was read, also
// where LLDP names it. Pauses that come from there are a state.
func TestPFCOffUnread(t *testing.T) {
	off := func(l *lab, ports ...string) {
		for _, p := range ports {
			l.now("leaf1", p).PFC = counters.Say(false)
			l.now("leaf1", p).Lossless = counters.Say[uint8](0)
			l.now("leaf1", p).Groups[data].DropPackets.V += 30
		}
	}
	both := func(l *lab) { off(l, "Ethernet1/1", "Ethernet1/2") }
	for name, c := range map[string]struct {
		mute []string
		do   func(*lab)
		want string
	}{
		"read":   {nil, func(l *lab) { off(l, "Ethernet1/1") }, "is off at leaf1 Ethernet1/1 and on at host-1 eth0"},
		"unread": {[]string{"host-1"}, func(l *lab) { off(l, "Ethernet1/1") }, "is off at leaf1 Ethernet1/1; no output or configuration shows its state at host-1 eth0"},
		"pauses from there": {[]string{"host-1"}, func(l *lab) {
			off(l, "Ethernet1/1")
			l.now("leaf1", "Ethernet1/1").RxPFC[data].V += 5_000
		}, "is off at leaf1 Ethernet1/1 and on at host-1 eth0"},
		"two read":         {nil, both, "is off at 2 of 3 cabled ports of leaf1, and on at the other ends"},
		"two, one unread":  {[]string{"host-1"}, both, "on at 1 of the other ends; no output or configuration shows its state at the rest"},
		"two, both unread": {[]string{"host-1", "host-2"}, both, "leaf1; no output or configuration shows its state at the other ends"},
	} {
		l := healthy()
		c.do(l)
		for _, d := range c.mute {
			l.mute[d] = true
		}
		r, err := Diagnose(l.input())
		if err != nil {
			t.Fatal(err)
		}
		says := ""
		for _, x := range r.Findings {
			if x.Cause == "pfc-off" {
				says += x.Says + "\n"
			}
		}
		if !strings.Contains(says, c.want) || strings.Count(says, "\n") != 1 {
			t.Errorf("%s: %q, want %q", name, says, c.want)
		}
	}
}

// TestShowClock: show clock of NX-OS or EOS before each round is the time of the outputs, also of a clock that is not
// synchronized, and orders rounds.
func TestShowClock(t *testing.T) {
	const counts = "leaf1# show interface priority-flow-control\n" +
		"Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n" +
		"Ethernet1/1        On   On  (8)        %d          0\n"
	at := func(clock string, n int) []counters.Snapshot {
		all, unknown, err := counters.Read("leaf1.txt", []byte("leaf1# show clock\n"+clock+"\n"+fmt.Sprintf(counts, n)))
		if err != nil || len(unknown) > 0 {
			t.Fatal(clock, unknown, err)
		}
		return all
	}
	for _, c := range [][2]string{
		{"10:00:00.500 UTC Mon Nov 30 2026", "10:00:10.500 UTC Mon Nov 30 2026"},
		{"*10:00:00.000 CEST Mon Nov 30 2026", "*10:00:10.000 CEST Mon Nov 30 2026"},
		{".23:59:55.000 UTC Mon Nov 30 2026", ".00:00:05.000 UTC Tue Dec 01 2026\nTime source is NTP"},
		{"Mon Nov 30 10:00:00 2026\nTimezone: UTC\nClock source: local", "Mon Nov 30 10:00:10 2026\nTimezone: UTC\nClock source: local"},
	} {
		for _, in := range []Input{{Before: at(c[0], 100), After: at(c[1], 5100)},
			{After: append(at(c[1], 5100), at(c[0], 100)...)}} {
			r, err := Diagnose(in)
			if err != nil {
				t.Fatal(err)
			}
			if notes := strings.Join(r.Notes, "\n"); strings.Contains(notes, "time stamp") || len(r.Findings) == 0 ||
				r.Findings[0].Evidence[0].PerSec != 500 {
				t.Errorf("%q: notes %q, findings %+v", c, notes, r.Findings)
			}
		}
	}
	if _, unknown, _ := counters.Read("leaf1.txt", []byte("leaf1# show clock\n10:00:99 UTC Mon Nov 30 2026\n"+
		fmt.Sprintf(counts, 1))); len(unknown) != 1 || !strings.Contains(unknown[0].Why, "is not a time") {
		t.Error(unknown)
	}
}

// TestOnePriority: one priority is a priority, and two are priorities.
func TestOnePriority(t *testing.T) {
	for m, want := range map[uint8]string{0: "no priority", 1 << 3: "priority 3", 1<<3 | 1<<4: "priorities 3, 4"} {
		if got := bitmap(m); got != want {
			t.Errorf("%08b: %q, want %q", m, got, want)
		}
	}
}
