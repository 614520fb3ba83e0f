package diagnose

import (
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/counters"
	"railyard/unit"
)

// TestQueueOfASlowLink: the queue in front of a NIC at a quarter of its rate is the slow link's, whether it pauses,
// marks or only fills its port; a queue at another port is congestion.
func TestQueueOfASlowLink(t *testing.T) {
	cases := map[string]func(l *lab, at *counters.Port){
		"pauses": func(l *lab, at *counters.Port) {
			l.pause("leaf2", "Ethernet1/9", 4_000)
			at.Queues[data].Marked.V += 90_000
		},
		"marks": func(_ *lab, at *counters.Port) { at.Queues[data].Marked.V += 90_000 },
		"fills": func(_ *lab, at *counters.Port) {
			at.Queues[data].Peak = counters.Of(5_000_000)
			at.Queues[data].TxBytes.V += uint64(unit.InTime(at.Speed.V, 10*unit.Second))
		},
	}
	for name, do := range cases {
		for _, port := range []string{"Ethernet1/1", "Ethernet1/2"} { // of host-3, which is slow, and of host-4
			l := healthy()
			l.now("host-3", "eth0").Speed = counters.Say(100 * unit.Gbps)
			l.now("leaf2", "Ethernet1/1").Speed = counters.Say(100 * unit.Gbps)
			l.before["host-3"].Find("eth0").Speed = counters.Say(400 * unit.Gbps)
			l.before["leaf2"].Find("Ethernet1/1").Speed = counters.Say(400 * unit.Gbps)
			do(l, l.now("leaf2", port))
			r, err := Diagnose(l.input())
			if err != nil {
				t.Fatal(err)
			}
			slow, incasts := Finding{}, 0
			for _, x := range r.Findings {
				if x.Cause == "slow-link" {
					slow = x
				} else if x.Cause == "incast" {
					incasts++
				}
			}
			if want := map[string]int{"Ethernet1/1": 0, "Ethernet1/2": 1}[port]; slow.Device != "leaf2" &&
				slow.Device != "host-3" || incasts != want {
				t.Errorf("%s at %s: slow link at %s, %d incasts, want %d: %+v", name, port, slow.Device, incasts, want, r.Findings)
			}
		}
	}
}

// TestDesignedRate: a link at the rate of the list of cables, of its configuration or of the scenario is not slow, nor
// one that runs as most such links of a device at one of its ends do; the other links of the fabric may be faster.
func TestDesignedRate(t *testing.T) {
	list := func(a, b string, rate unit.Rate) *cabling.Cabling {
		return &cabling.Cabling{Nodes: []cabling.Node{{Name: "leaf2"}, {Name: "spine1"}},
			Cables: []cabling.Cable{{A: cabling.End{Node: 0, Port: a}, B: cabling.End{Node: 1, Port: b}, Rate: rate}}}
	}
	cases := []struct {
		name string
		in   func(l *lab, in *Input)
		slow int
	}{
		{"no plan", func(*lab, *Input) {}, 1},
		{"in the list", func(_ *lab, in *Input) { in.Cables = list("Ethernet1/9", "Ethernet1/2", 100*unit.Gbps) }, 0},
		{"in the list, other names", func(_ *lab, in *Input) { in.Cables = list("swp9", "swp2", 100*unit.Gbps) }, 0},
		{"faster in the list", func(_ *lab, in *Input) { in.Cables = list("swp9", "swp2", 400*unit.Gbps) }, 1},
		{"in the scenario", func(l *lab, in *Input) {
			for _, n := range l.names {
				in.Simulated = append(in.Simulated, *l.after[n])
			}
			in.SimTook = unit.Second
		}, 0},
		{"the leaf's other uplink is as slow", func(l *lab, _ *Input) {
			l.link("leaf2", "Ethernet1/10", "spine1", "Ethernet1/4", 100*unit.Gbps)
		}, 0},
		{"the leaf's other uplink is fast", func(l *lab, _ *Input) {
			l.link("leaf2", "Ethernet1/10", "spine1", "Ethernet1/4", 400*unit.Gbps)
		}, 1},
	}
	for _, c := range cases {
		l := healthy()
		l.link("leaf1", "Ethernet1/10", "spine1", "Ethernet1/3", 400*unit.Gbps)
		l.link("leaf1", "Ethernet1/11", "spine1", "Ethernet1/5", 400*unit.Gbps)
		for _, m := range []map[string]*counters.Snapshot{l.before, l.after} {
			m["leaf2"].Find("Ethernet1/9").Speed = counters.Say(100 * unit.Gbps)
			m["spine1"].Find("Ethernet1/2").Speed = counters.Say(100 * unit.Gbps)
		}
		l.pause("leaf2", "Ethernet1/1", 4_000)
		l.now("leaf2", "Ethernet1/9").Queues[data].Marked.V += 90_000
		var plan Input
		c.in(l, &plan)
		in := l.input()
		in.Cables, in.Simulated, in.SimTook = plan.Cables, plan.Simulated, plan.SimTook
		r, err := Diagnose(in)
		if err != nil {
			t.Fatal(err)
		}
		slow := 0
		for _, x := range r.Findings {
			if x.Cause == "slow-link" {
				slow++
			}
		}
		if slow != c.slow {
			t.Errorf("%s: %d slow links, want %d; notes: %q", c.name, slow, c.slow, r.Notes)
		}
	}
}

// link adds a link between two switches.
func (l *lab) link(a, ap, b, bp string, rate unit.Rate) {
	for i, m := range []map[string]*counters.Snapshot{l.before, l.after} {
		for device, port := range map[string]string{a: ap, b: bp} {
			p := normal(port, counters.Switch, 10*(1+len(m[device].Ports)), uint64(i))
			p.Speed = counters.Say(rate)
			m[device].Ports = append(m[device].Ports, p)
		}
	}
	l.cable(a, ap, b, bp)
}
