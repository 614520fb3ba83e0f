package diagnose

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters"
	"railyard/unit"
)

// plants are what one broken thing does to counters, and who is to be named.
var plants = []struct {
	cause, culprit string
	why            string
	plant          func(l *lab)
}{
	{"storm", "host-3 eth0", "pauses without end, nothing gets through", func(l *lab) {
		p := l.now("leaf2", "Ethernet1/1")
		p.Queues[data].TxPackets.V, p.Queues[data].TxBytes.V = 7, 7
		l.pause("host-3", "eth0", 30_000)
		l.pause("leaf2", "Ethernet1/9", 9_000)
		l.pause("spine1", "Ethernet1/1", 8_000)
		l.pause("leaf1", "Ethernet1/1", 7_000)
		l.pause("leaf1", "Ethernet1/2", 90_000) // more than the root sends: it is not the root
	}},
	{"slow-receiver", "host-4 eth0", "pauses now and then, data gets through", func(l *lab) {
		l.pause("host-4", "eth0", 20_000)
		l.pause("leaf2", "Ethernet1/9", 9_000)
	}},
	{"pfc-off", "leaf1 Ethernet1/9", "the peer pauses and nobody listens", func(l *lab) {
		l.pause("spine1", "Ethernet1/1", 5_000)
		l.now("leaf1", "Ethernet1/9").RxPFC[data].V = 7
		l.now("spine1", "Ethernet1/1").Groups[data].DropPackets.V += 300
	}},
	{"pfc-off", "host-1 eth0", "the switch shows that it is off at the NIC", func(l *lab) {
		l.now("host-1", "eth0").PFC = counters.Say(false)
		l.pause("leaf1", "Ethernet1/1", 500)
		l.now("leaf1", "Ethernet1/1").Groups[data].DropPackets.V += 30
	}},
	{"pfc-off", "leaf1 Ethernet1/2", "it drops and never pauses, others of the switch pause", func(l *lab) {
		l.pause("leaf1", "Ethernet1/1", 500)
		l.now("leaf1", "Ethernet1/2").Groups[data].DropPackets.V += 30
	}},
	{"ecn-off", "leaf2", "it pauses and marks nothing, others mark", func(l *lab) {
		for _, p := range []string{"Ethernet1/1", "Ethernet1/2", "Ethernet1/9"} {
			l.now("leaf2", p).Queues[data].Marked.V = 7
		}
		l.pause("leaf2", "Ethernet1/9", 4_000)
	}},
	{"xoff-low", "leaf2", "its ingress never holds what others hold without a pause", func(l *lab) {
		for d, most := range map[string]uint64{"leaf1": 900_000, "leaf2": 20_000, "spine1": 700_000} {
			for i := range l.after[d].Ports {
				l.after[d].Ports[i].Groups[data].SharedPeak = counters.Of(most)
			}
		}
		l.pause("leaf2", "Ethernet1/9", 4_000)
	}},
	{"headroom-small", "leaf2 Ethernet1/9", "it pauses, the peer hears it, it drops", func(l *lab) {
		l.pause("leaf2", "Ethernet1/9", 4_000)
		l.now("leaf2", "Ethernet1/9").Groups[data].DropPackets.V += 77
	}},
	{"headroom-small", "leaf2 Ethernet1/9", "much is lost with each pause of a long cable", func(l *lab) {
		l.pause("leaf2", "Ethernet1/9", 100)
		l.now("leaf2", "Ethernet1/9").Groups[data].DropPackets.V += 5_000
		l.before["spine1"].Find("Ethernet1/2").RxDur[data] = counters.Of(0)
		l.now("spine1", "Ethernet1/2").RxDur[data] = counters.Of(40_000)
		l.now("spine1", "Ethernet1/2").Lossless = counters.Said[uint8]{}
	}},
	{"headroom-small", "leaf2 Ethernet1/9", "the same, where only PFC's priorities are said", func(l *lab) {
		l.pause("leaf2", "Ethernet1/9", 100)
		l.now("leaf2", "Ethernet1/9").Groups[data].DropPackets.V += 5_000
		l.now("spine1", "Ethernet1/2").Lossless = counters.Say[uint8](1 << data)
	}},
	{"wrong-class", "host-2 eth0", "all of its data is in class 0, and is dropped there", func(l *lab) {
		p := l.now("host-2", "eth0")
		p.Queues[0].TxPackets.V, p.Queues[0].TxBytes.V = often, 4200*often
		p.Queues[data].TxPackets.V, p.Queues[data].TxBytes.V = 7, 7
		l.now("leaf2", "Ethernet1/1").Queues[0].DropPackets.V += 5_000
		p.RoCE.SeqErr.V += 4_000
	}},
	{"cnp-class", "host-3 eth0", "it sends CNPs and none in their class", func(l *lab) {
		p := l.now("host-3", "eth0")
		p.Queues[cnps].TxPackets.V = 7
		p.Queues[data].TxPackets.V += 50
	}},
	{"flapping", "leaf1 Ethernet1/9", "the link went down three times", func(l *lab) {
		l.now("leaf1", "Ethernet1/9").Flaps.V += 3
		l.now("host-1", "eth0").RoCE.Timeouts.V += 12
	}},
	{"device-down", "spine1", "it restarts: each of its links goes down once", func(l *lab) {
		for _, leaf := range []string{"leaf1", "leaf2"} {
			l.now(leaf, "Ethernet1/9").Flaps.V++
		}
	}},
	{"lossy-cable", "leaf2 Ethernet1/2", "the leaf counts the CRC errors, and so does who comes next",
		func(l *lab) {
			l.now("leaf2", "Ethernet1/2").CRC.V += 900
			l.now("spine1", "Ethernet1/2").CRC.V += 900 // cut through
			l.now("host-1", "eth0").RoCE.OutOfSequence.V += 12
		}},
	{"lossy-cable", "host-4 eth0", "both ends count, the host more", func(l *lab) {
		l.now("host-4", "eth0").CRC.V += 900
		l.now("leaf2", "Ethernet1/2").CRC.V += 870
	}},
	{"mtu", "leaf2 Ethernet1/9", "it gets frames that are too long for it", func(l *lab) {
		l.now("leaf2", "Ethernet1/9").MTU = counters.Say[unit.Bytes](1500)
		l.now("leaf2", "Ethernet1/9").Giants.V += 4_000
		l.now("leaf2", "Ethernet1/9").InErrors.V += 4_000
	}},
	{"slow-link", "leaf2 Ethernet1/9", "it ran at 400 and runs at 100 Gbps", func(l *lab) {
		l.now("leaf2", "Ethernet1/9").Speed = counters.Say(100 * unit.Gbps)
		l.now("spine1", "Ethernet1/2").Speed = counters.Say(100 * unit.Gbps)
		l.pause("leaf2", "Ethernet1/1", 4_000)
		l.pause("leaf2", "Ethernet1/2", 4_000)
	}},
	{"uplink-down", "leaf1 Ethernet1/9", "it was up", func(l *lab) {
		l.now("leaf1", "Ethernet1/9").Up = counters.Say(false)
		l.now("spine1", "Ethernet1/1").Up = counters.Say(false)
		l.now("leaf1", "Ethernet1/9").Flaps.V++
	}},
	{"link-pause", "host-2 eth0", "it stops everything", func(l *lab) {
		l.before["host-2"].Ports[0].TxPause = counters.Of(0)
		l.after["host-2"].Ports[0].TxPause = counters.Of(5_000)
	}},
}

// TestCauses finds each plant first, names who does it, and keeps to its words.
func TestCauses(t *testing.T) {
	for _, p := range plants {
		l := healthy()
		p.plant(l)
		f, err := Gather(l.input())
		if err != nil {
			t.Fatal(err)
		}
		all := f.Find()
		if len(all) == 0 {
			t.Errorf("%s (%s): nothing found", p.cause, p.why)
			continue
		}
		who := strings.TrimSpace(all[0].Device + " " + all[0].Port)
		if x := all[0]; x.Cause != p.cause || who != p.culprit {
			t.Errorf("%s of %s (%s): found %s of %s: %s", p.cause, p.culprit, p.why, x.Cause, who, x.Says)
		}
		for _, x := range all {
			if x.Why == "" || x.Fix == "" || len(x.Evidence) == 0 || len(x.Next) == 0 && x.Grade == Fault {
				t.Errorf("%s: %s says not why, not what to do or on what it rests: %+v", p.cause, x.Cause, x)
			}
		}
		for _, x := range all {
			for i, e := range x.Evidence {
				if slices.ContainsFunc(x.Evidence[i+1:], e.same) {
					t.Errorf("%s of %s: %s is shown twice: %v", p.cause, p.culprit, x.Cause, e)
				}
			}
		}
		for _, x := range all[1:] {
			if x.Cause == "lossy-cable" && all[0].Peer == x.Device+" "+x.Port {
				t.Errorf("%s of %s: its cable is told at its other end, too", p.cause, p.culprit)
			}
			if x.Grade == Fault && x.Sure == Proven && x.Device != all[0].Device &&
				all[0].Peer != x.Device+" "+x.Port {
				t.Errorf("%s of %s: %s of %s %s is proven, too: %s", p.cause, p.culprit, x.Cause,
					x.Device, x.Port,
					x.Says)
			}
		}
	}
}

// TestHealthy finds no fault in a fabric that works, nor in one with plain congestion.
func TestHealthy(t *testing.T) {
	incast := healthy()
	incast.pause("leaf2", "Ethernet1/9", 4_000)
	incast.pause("spine1", "Ethernet1/1", 3_000)
	incast.pause("leaf1", "Ethernet1/1", 2_000)
	incast.now("leaf2", "Ethernet1/1").Queues[data].Marked.V += 90_000
	for name, l := range map[string]*lab{"healthy": healthy(), "incast": incast} {
		r, err := Diagnose(l.input())
		if err != nil {
			t.Fatal(err)
		}
		if r.Faults() > 0 {
			t.Errorf("%s: found %s: %s", name, r.Findings[0].Cause, r.Findings[0].Says)
		}
		if name == "incast" && (len(r.Findings) != 1 || r.Findings[0].Cause != "incast" ||
			r.Findings[0].Port != "Ethernet1/1" || r.Findings[0].Device != "leaf2") {
			t.Errorf("incast: found %+v", r.Findings)
		}
	}
}

// TestLongerQueueBeside checks that a congestion point is no more than possible where another port of its switch had a
// queue more than twice as long: a counter of that port may be missing.
func TestLongerQueueBeside(t *testing.T) {
	for other, want := range map[uint64]Sure{9_000: Likely, 3_400_000: Possible} {
		l := healthy()
		l.pause("leaf2", "Ethernet1/9", 4_000)
		l.now("leaf2", "Ethernet1/1").Queues[data].Marked.V += 90_000
		for port, bytes := range map[string]uint64{"Ethernet1/1": 9_000, "Ethernet1/2": other} {
			l.now("leaf2", port).Queues[data].Peak = counters.Of(bytes)
		}
		r, err := Diagnose(l.input())
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != 1 || r.Findings[0].Cause != "incast" || r.Findings[0].Sure != want {
			t.Errorf("a queue of %d bytes beside: %+v", other, r.Findings)
		}
	}
}

// TestEveryCauseIsPlanted keeps the table whole: incast, polarised, rings and cables are
// below and in the blind sets.
func TestEveryCauseIsPlanted(t *testing.T) {
	planted := map[string]bool{"incast": true, "polarised": true, "uneven-uplinks": true, "pause-ring": true, "miscabled": true}
	for _, p := range plants {
		planted[p.cause] = true
	}
	for _, c := range Causes() {
		if !planted[c.Name] {
			t.Errorf("%s is never planted", c.Name)
		}
	}
}
