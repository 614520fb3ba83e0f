package diagnose

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/counters"
)

// TestEarlierCabling: a link that the later snapshot lacks is the earlier snapshot's, and one that two damaged tables
// give to one port is that of the two ends that agree. A device of whose later output only the clock is left remains
// what it was.
func TestEarlierCabling(t *testing.T) {
	for name, damage := range map[string]func(l *lab){
		"no rows": func(l *lab) {
			l.now("leaf1", "Ethernet1/9").Peer, l.now("spine1", "Ethernet1/1").Peer = counters.Peer{}, counters.Peer{}
		},
		"no device": func(l *lab) { delete(l.after, "spine1") },
		"another's port": func(l *lab) {
			l.now("leaf1", "Ethernet1/2").Peer = counters.Peer{Device: "spine1", Port: "Ethernet1/1"}
		},
		"a port that is none": func(l *lab) {
			l.now("spine1", "Ethernet1/1").Peer = counters.Peer{Device: "leaf1", Port: "Ethernet1/1 9"}
			l.now("leaf2", "Ethernet1/9").Peer = counters.Peer{Device: "spine1", Port: "Ethernet1/1"}
		},
	} {
		l := healthy()
		l.now("leaf1", "Ethernet1/9").RxPFC[data].V += 20_000
		l.now("spine1", "Ethernet1/1").TxPFC[data].V += 20_000
		damage(l)
		in := Input{Before: []counters.Snapshot{}}
		for _, n := range l.names {
			if in.Before = append(in.Before, *l.before[n]); l.after[n] != nil {
				in.After = append(in.After, *l.after[n])
			}
		}
		f, err := Gather(in)
		if err != nil {
			t.Fatal(name, err)
		}
		p := f.Device("leaf1").Port("Ethernet1/9")
		if p.Peer == nil || p.Peer.String() != "spine1 Ethernet1/1" || p.Peer.On.Kind != Switch {
			t.Errorf("%s: %v is connected to %v", name, p, p.Peer)
		}
		for _, x := range f.Find() {
			if strings.Contains(x.Device, "neighbor") || x.Grade == Fault {
				t.Errorf("%s: %s of %s", name, x.Cause, x.Device)
			}
		}
	}
	l := healthy()
	l.after["host-1"] = &counters.Snapshot{Device: "host-1", Kind: counters.Switch, Format: "date",
		At: counters.Moment{Seconds: 110, Is: true}}
	f, err := Gather(l.input())
	if err != nil || f.Device("host-1").Kind != Host {
		t.Errorf("%v, host-1 is a %v", err, f.Device("host-1").Kind)
	}
}

// TestMissingHalf: what one snapshot lacks of a device is not zero: neither the marks of its other ports, nor the
// pauses that one of them received, nor the packets of a class whose bytes are counted.
func TestMissingHalf(t *testing.T) {
	for name, damage := range map[string]func(l *lab){
		"marks": func(l *lab) { // leaf1 pauses, and the port that marked is not shown
			l.pause("leaf1", "Ethernet1/1", 20_000)
			for _, p := range []string{"Ethernet1/1", "Ethernet1/2", "Ethernet1/9"} {
				l.now("leaf1", p).Queues[data].Marked = l.before["leaf1"].Find(p).Queues[data].Marked
			}
			l.now("leaf1", "Ethernet1/9").Queues[data].Marked = counters.Count{}
		},
		"pauses": func(l *lab) { // spine1 loses packets though it pauses leaf1, whose row is missing
			l.now("spine1", "Ethernet1/1").TxPFC[data].V += 10
			l.now("spine1", "Ethernet1/1").Groups[data].DropPackets.V += 5_000
			p := l.now("leaf1", "Ethernet1/9")
			p.RxPFC[data], p.Lossless.Is = counters.Count{}, false
			for _, at := range []string{"leaf1", "spine1"} {
				for i := range l.after[at].Ports {
					l.after[at].Ports[i].PFC.Is = false
				}
			}
		},
		"port": func(l *lab) { // the same, and the later snapshot has nothing of the port
			l.now("spine1", "Ethernet1/1").TxPFC[data].V += 10
			l.now("spine1", "Ethernet1/1").Groups[data].DropPackets.V += 5_000
			s := l.after["leaf1"]
			s.Ports = slices.DeleteFunc(s.Ports, func(p counters.Port) bool { return p.Name == "Ethernet1/9" })
		},
		"packets": func(l *lab) { // many CNPs of host-1, a class of which only the bytes are counted
			q := &l.now("host-1", "eth0").Queues[cnps]
			q.TxBytes.V, q.TxPackets = q.TxBytes.V+10*4200*often, counters.Count{}
		},
	} {
		l := healthy()
		damage(l)
		f, err := Gather(l.input())
		if err != nil {
			t.Fatal(name, err)
		}
		for _, x := range f.Find() {
			if slices.Contains([]string{"ecn-off", "pfc-off", "wrong-class", "headroom-small"}, x.Cause) {
				t.Errorf("%s: %v %s of %s: %s", name, x.Sure, x.Cause, x.Device, x.Says)
			}
		}
	}
}

// TestStormOrSlow: a NIC whose pauses and bytes are known, and whose time of pauses one snapshot lacks, is possibly a
// slow receiver.
func TestStormOrSlow(t *testing.T) {
	for lacks, sure := range map[bool]Sure{false: Proven, true: Possible} {
		l := healthy()
		l.pause("host-4", "eth0", 20_000)
		for i, m := range []map[string]*counters.Snapshot{l.before, l.after} {
			m["host-4"].Find("eth0").TxDur[data] = counters.Of(uint64(50_000 * i))
		}
		if lacks {
			l.before["host-4"].Find("eth0").TxDur[data] = counters.Count{}
		}
		f, err := Gather(l.input())
		if err != nil {
			t.Fatal(err)
		}
		if all := f.Find(); len(all) != 1 || all[0].Cause != "slow-receiver" || all[0].Sure != sure {
			t.Errorf("lacking %v: %+v", lacks, all)
		}
	}
}
