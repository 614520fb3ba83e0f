package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestOutages: the links of one device, or of one of its modules, that go down between the same snapshots are one fault
// of it. A link that goes down more often, or alone, is its own.
func TestOutages(t *testing.T) {
	type end struct{ device, port string }
	leaf1 := []end{{"leaf1", "Ethernet1/1"}, {"leaf1", "Ethernet1/2"}, {"leaf1", "Ethernet1/9"}}
	falls := func(times uint64, of ...end) func(l *lab) {
		return func(l *lab) {
			for _, e := range of {
				p := l.now(e.device, e.port)
				p.Flaps.V += times
				l.now(p.Peer.Device, p.Peer.Port).Flaps.V += times
			}
		}
	}
	down := func(earlier bool, of ...end) func(l *lab) {
		return func(l *lab) {
			for _, e := range of {
				q := l.now(e.device, e.port).Peer
				l.now(e.device, e.port).Up, l.now(q.Device, q.Port).Up = counters.Say(false), counters.Say(false)
				if earlier {
					l.before[e.device].Find(e.port).Up = counters.Say(false)
					l.before[q.Device].Find(q.Port).Up = counters.Say(false)
				}
			}
		}
	}
	all := func(do ...func(l *lab)) func(l *lab) {
		return func(l *lab) {
			for _, f := range do {
				f(l)
			}
		}
	}
	second := func(l *lab) { // another module of leaf1, and a host with two ports
		for _, m := range []map[string]*counters.Snapshot{l.before, l.after} {
			i := uint64(0)
			if m["leaf1"] == l.after["leaf1"] {
				i = 1
			}
			m["leaf1"].Ports = append(m["leaf1"].Ports, normal("Ethernet2/1", counters.Switch, 40, i),
				normal("Ethernet2/2", counters.Switch, 50, i))
			m["host-1"].Ports = append(m["host-1"].Ports, normal("eth1", counters.Host, 40, i))
			m["host-2"].Ports = append(m["host-2"].Ports, normal("eth1", counters.Host, 40, i))
		}
		l.cable("leaf1", "Ethernet2/1", "host-1", "eth1")
		l.cable("leaf1", "Ethernet2/2", "host-2", "eth1")
	}
	cases := []struct {
		name string
		do   func(l *lab)
		want string
	}{
		{"a switch restarts", falls(1, leaf1...), "device-down leaf1"},
		{"its own counters are cleared", all(falls(1, leaf1...), func(l *lab) {
			for _, e := range leaf1 {
				l.now(e.device, e.port).Flaps.V = 0
			}
		}), "device-down leaf1"},
		{"it prints nothing", all(falls(1, leaf1...), func(l *lab) { l.mute["leaf1"] = true }), "device-down leaf1"},
		{"it is still down", all(falls(1, leaf1...), down(false, leaf1...)), "device-down leaf1"},
		{"it was down before", down(true, leaf1...), "device-down leaf1"},
		{"one cable falls more often", all(falls(1, leaf1...), falls(4, leaf1[0])),
			"flapping leaf1 Ethernet1/1, device-down leaf1"},
		{"one link was down before", all(falls(1, leaf1[:2]...), down(true, leaf1[2])),
			"uplink-down leaf1 Ethernet1/9, device-down leaf1"},
		{"two of three links", falls(1, leaf1[:2]...), "flapping leaf1 Ethernet1/1, flapping leaf1 Ethernet1/2"},
		{"a host has one link", falls(1, leaf1[0]), "flapping leaf1 Ethernet1/1"},
		{"a spine and a host", all(falls(1, end{"spine1", "Ethernet1/1"}, end{"spine1", "Ethernet1/2"}), falls(1, leaf1[1])),
			"flapping leaf1 Ethernet1/2, device-down spine1"},
		{"a module", all(second, falls(1, end{"leaf1", "Ethernet2/1"}, end{"leaf1", "Ethernet2/2"})),
			"device-down leaf1 Ethernet2/*"},
		{"a host", all(second, falls(2, leaf1[0], end{"leaf1", "Ethernet2/1"})), "device-down host-1"},
	}
	for _, c := range cases {
		l := healthy()
		c.do(l)
		r, err := Diagnose(l.input())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range r.Findings {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", x.Cause, x.Device, x.Port)))
			if x.Cause == "device-down" && (x.Why == "" || len(x.Evidence) == 0 || len(x.Next) == 0) {
				t.Errorf("%s: incomplete: %+v", c.name, x)
			}
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: found %s, want %s", c.name, s, c.want)
		}
	}
}
