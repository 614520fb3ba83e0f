package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/fabric"
	"railyard/internal/scenario"
	"railyard/unit"

	"pgregory.net/rapid"
)

// fourSpines is two rails under four spines with traffic between all GPUs for about 2 ms.
const fourSpines = `
name: failures
fabric: {kind: rail, hosts: 4, spines: 4, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
transport: {timeout: 12}
workload: {traffic: {alltoall: {bytes: 16MB}}}
failures:
  - {link: 'rail-1:Eth5', at: 100us, converge: 20ms}
`

// A link that breaks loses packets until its own convergence. Another link that breaks later and converges earlier
// does not affect the first.
func TestASecondFailureDoesNotHealTheFirst(t *testing.T) {
	_, one, _ := runAll(t, fourSpines)
	r, two, _ := runAll(t, fourSpines+"  - {link: 'rail-2:Eth6', at: 150us, converge: 100us}\n")
	if unit.Time(one.StepTime) < 20*unit.Millisecond || !one.Complete || !two.Complete {
		t.Fatalf("with one failure %v: nobody waits for the routes", unit.Time(one.StepTime))
	}
	if two.StepTime < one.StepTime*9/10 || two.DropsDown < one.DropsDown {
		t.Errorf("with a second failure %v and %d packets lost on broken links; with the first alone %v "+
			"and %d",
			unit.Time(two.StepTime), two.DropsDown, unit.Time(one.StepTime), one.DropsDown)
	}
	if l, _, _ := r.Graph.FindPort("rail-1:Eth5"); !r.routed[l] {
		t.Error("the first link's own convergence went unheard")
	}
}

// For any order of failures and convergences, the routes are those over all links without the converged failures.
// No locator of a packet in flight changes its meaning.
func TestRoutesKnowWhatHasConverged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, sets := randomScenario(rt)
		d, err := scenario.Parse("random", []byte(text), sets)
		if err != nil {
			rt.Fatal(err)
		}
		p, err := d.Resolve(nil)
		if err != nil {
			rt.Fatal(err)
		}
		n, err := NewNetwork(setup(p))
		if err != nil {
			rt.Skip(err)
		}
		links := len(n.Graph.Links)
		broken, converged := map[int]bool{}, map[int]bool{}
		meaning := slices.Clone(n.Paths.Sets)
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			l := rapid.IntRange(0, links-1).Draw(rt, "link")
			if next := rapid.IntRange(0, 2).Draw(rt, "next"); broken[l] && next == 0 {
				n.Converge(l, false)
				converged[l] = true
			} else if broken[l] && next == 1 {
				n.SetLink(l, fabric.LinkState{Up: true, Rate: n.Graph.Links[l].Rate})
				n.Converge(l, true)
				delete(broken, l)
				delete(converged, l)
			} else {
				n.SetLink(l, fabric.LinkState{Rate: n.Graph.Links[l].Rate})
				broken[l] = true
			}
			fresh := n.Graph.Route(converged)
			for i := range n.Graph.NICs {
				now, want := n.Paths.Locator[i], fresh.Locator[i]
				for node := range n.Graph.Nodes {
					if !slices.Equal(n.Paths.Next(node, now), fresh.Next(node, want)) {
						rt.Fatalf("broken %v, converged %v: %s goes to NIC %d by links %v, want %v", broken,
							converged,
							n.Graph.Nodes[node].Name, i, n.Paths.Next(node, now), fresh.Next(node, want))
					}
				}
			}
			for loc, set := range meaning {
				if !slices.Equal(n.Paths.Sets[loc], set) {
					rt.Fatalf("locator %d was switches %v and is %v", loc, set, n.Paths.Sets[loc])
				}
			}
			meaning = slices.Clone(n.Paths.Sets)
		}
	})
}

// A lone flow on a fabric has the speed of its own path. A further failure of a cable in none of the equal-cost
// groups on its path changes nothing, to the picosecond. (In one of these groups it may help: when its group
// shrinks, the switch rehashes its flows, and a flow that was lost may move to a working link.)
func TestAnUnrelatedFailureChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		base := fmt.Sprintf(`
name: alone
seed: %d
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
lb: %s
cc: {algorithm: none}
transport: {timeout: 8}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-9/gpu-1, bytes: 4MB}]}}
`, rapid.IntRange(1, 1000).Draw(rt, "seed"), rapid.SampledFrom([]string{"ecmp", "flowlet", "spray", "spray-random"}).Draw(rt, "lb"))
		one := load(t, base)
		var on, off []string
		way := map[int]bool{} // cables that a packet or its acknowledgement may take
		one.ways(way, 0, 8)
		one.ways(way, 8, 0)
		for l, link := range one.Graph.Links {
			if name := one.Graph.End(l, link.A); strings.HasPrefix(name, "host") {
				continue
			} else if way[l] {
				on = append(on, name)
			} else {
				off = append(off, name)
			}
		}
		if len(off) == 0 || len(on) == 0 {
			rt.Fatalf("%d cables on the way, %d elsewhere", len(on), len(off))
		}
		fail := func(name, at, converge string) string {
			return fmt.Sprintf("  - {link: '%s', at: %s, converge: %s}\n", name, at, converge)
		}
		first := "failures:\n" + fail(rapid.SampledFrom(on).Draw(rt, "first"), "50us", "3ms")
		_, alone, _ := runAll(t, base+first)
		_, more, _ := runAll(t, base+first+fail(rapid.SampledFrom(off).Draw(rt, "second"), "60us", "5us"))
		if alone.StepTime != more.StepTime || alone.Drops != more.Drops {
			rt.Fatalf("one failure: %v and %d drops; with another elsewhere %v and %d",
				unit.Time(alone.StepTime), alone.Drops, unit.Time(more.StepTime), more.Drops)
		}
	})
}

// flapping is a sender at 100 Gbit/s whose switch forwards at 50, so it is paused most of the time.
const flapping = `
name: flapping
fabric:
  kind: graph
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 50Gbps, cable: 3m}
  graph:
    hosts: [h1, h2]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}]
    links: [{from: h1, to: s1}, {from: s1, to: s2}, {from: h2, to: s2}]
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {timeout: 6}
switch: {queues: {"3": {xoff: 1MB, xon: 950KB, wred_min: 0B, wred_max: 0B}}}
workload: {traffic: {flows: [{from: h1/gpu-1, to: h2/gpu-1, bytes: 10MB}]}}
`

// A cable that flaps while its sender is paused loses only the packets in it. The switch pauses the sender again as
// soon as the cable recovers. Routes never change for a flap shorter than their convergence, so even a server's
// only cable may flap.
func TestFlapInAScenario(t *testing.T) {
	_, whole, _ := runAll(t, flapping)
	for i := range 20 {
		at := 400*unit.Microsecond + unit.Time(i)*7*unit.Microsecond
		_, s, _ := runAll(t, flapping+fmt.Sprintf("failures: [{link: 's1:Eth1', at: %dps, until: %dps, "+
			"converge: 1ms}]\n", int64(at), int64(at+50*unit.Nanosecond)))
		if !s.Complete || s.Drops != s.DropsDown || s.StepTime > 2*whole.StepTime {
			t.Errorf("flap at %v: complete %v in %v (%v without), %d packets lost, %d of them in the cable",
				at, s.Complete,
				unit.Time(s.StepTime), unit.Time(whole.StepTime), s.Drops, s.DropsDown)
		}
	}
}

// A recovered cable is used again once the routes have converged. The step takes less time than with a permanent
// failure, and both directions of the cables carry data at its end.
func TestBrokenLinkComesBack(t *testing.T) {
	const text = `
name: back
fabric: {kind: rail, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2, pxn: false}
lb: spray
cc: {algorithm: none}
transport: {recovery: selective, write: only}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-2, bytes: 20MB}, {from: host-2/gpu-1, to: host-1/gpu-2, bytes: 20MB}]}}
`
	_, whole, _ := runAll(t, text)
	_, gone, _ := runAll(t, text+"failures: [{link: 'rail-1:Eth3', at: 0s}]\n")
	r, back, _ := runAll(t, text+"failures: [{link: 'rail-1:Eth3', at: 0s, until: 300us}]\n")
	if !(whole.StepTime < back.StepTime && back.StepTime < gone.StepTime) || back.DropsDown != 0 {
		t.Errorf("whole %v, back after 300us %v, gone %v, %d packets lost", unit.Time(whole.StepTime),
			unit.Time(back.StepTime), unit.Time(gone.StepTime), back.DropsDown)
	}
	l, _, _ := r.Graph.FindPort("rail-1:Eth3")
	if r.Net.Ports[r.portA[l]].Down || r.Net.Ports[r.portA[l]].TxBytes == 0 || len(r.routed) != 0 {
		t.Error("the cable is not used again")
	}
}

// Cables of dual-port NICs fail one after another, so that sets of switches appear and vanish. Packets in flight
// may carry the number of a set that is gone. (Four failures ended in a panic.)
func TestReroutesLeavePacketsTheirWay(t *testing.T) {
	text := `
name: mlag
fabric: {kind: dual-rail, hosts: 4, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_ports: 2}
cc: {algorithm: none}
transport: {qps: 2, timeout: 6}
workload: {traffic: {alltoall: {bytes: 40MB}}}
failures:
  - {link: 'rail-1:Eth1', at: 100us, converge: 50us}
  - {link: 'rail-1:Eth2', at: 200us, converge: 50us}
  - {link: 'rail-1:Eth3', at: 300us, converge: 50us}
  - {link: 'rail-1:Eth4', at: 320us, converge: 50us}
`
	for _, bond := range []string{"hash", "affinity", "spray"} {
		if _, s, _ := runAll(t, text, "server.bond="+bond); !s.Complete || s.DropsNoRoute > 10 {
			t.Errorf("%s: complete %v, %d packets found no way", bond, s.Complete, s.DropsNoRoute)
		}
	}
}

// ways adds the cables between switches that are on some shortest path from one NIC to another.
func (n *Network) ways(to map[int]bool, from, dst int) {
	at := n.Paths.Sets[n.Paths.Locator[from]]
	for len(at) > 0 {
		var next []int
		for _, node := range at {
			for _, l := range n.Paths.Next(node, n.Paths.Locator[dst]) {
				to[l] = true
				next = append(next, n.Graph.Links[l].A+n.Graph.Links[l].B-node)
			}
		}
		at = next
	}
}

// The ideal of a message is that of the fabric with all links that work at some time. A cable that is broken at
// first and recovers makes the path of later messages shorter.
func TestIdealWhereACableComesBack(t *testing.T) {
	_, s, tables := runAll(t, `
name: back
fabric: {kind: dragonfly, allow_deadlock: true, k: 1, groups: 3, group_size: 2,
  host_link: {rate: 10Gbps, cable: 1m}, fabric_link: {rate: 100Gbps, cable: 1m}, pipeline: 1us}
transport: {timeout: 8}
workload: {traffic: {flows: [{from: host-6/gpu-1, to: host-2/gpu-1, bytes: 4KB, start: 2ms}, {from: host-5/gpu-1, to: host-6/gpu-1, bytes: 4KB, start: 2ms}]}}
failures:
  - {link: 'leaf-1-1:Eth3', at: 1us, converge: 1ms, until: 301us}
  - {link: 'leaf-3-1:Eth2', at: 0s, converge: 0s, until: 350us}
`)
	for _, f := range tables.Flows {
		if !s.Complete || f.Done-f.Posted < f.Ideal {
			t.Errorf("%s to %s took %v, its ideal is %v", f.From, f.To, unit.Time(f.Done-f.Posted),
				unit.Time(f.Ideal))
		}
	}
}

// Retransmissions during an outage wait in queues for as long as the outage lasted. That silence is no second loss
// (rc's round trips are also measured over it).
func TestQueuesBehindAnOutageAreNoLoss(t *testing.T) {
	_, s, _ := runAll(t, `
name: outage
seed: 670486
fabric: {kind: dragonfly, allow_deadlock: true, k: 1, groups: 3, group_size: 2,
  host_link: {rate: 300Gbps, cable: 3m}, fabric_link: {rate: 10Gbps, cable: 3m}, cut_through: true, pipeline: 1us}
lb: spray-least
transport: {recovery: selective, mtu: 256, timeout: 12, nak_after: 4000, qps: 3}
switch: {queues: {3: {xoff: 0B, xon: 93KB, xon_offset: 43KB, alpha: 8, wred_min: 106KB, wred_max: 886KB, probability: 79, wred_weight: 7}}}
workload: {traffic: {broadcast: {bytes: 3MB}}}
failures:
  - {link: 'leaf-2-1:Eth2', at: 100us, converge: 100us}
  - {link: 'leaf-3-1:Eth2', at: 20us, converge: 50ms, until: 20ms}
`)
	if lost := s.DropsDown; !s.Complete || lost < 1000 || s.Retransmissions > lost*11/10 {
		t.Errorf("%d packets retransmitted for %d lost", s.Retransmissions, lost)
	}
}

// TestEverySwitchIsDown checks that a run in which no switch ever reaches a NIC ends with lost queue pairs.
func TestEverySwitchIsDown(t *testing.T) {
	r := load(t, `
name: dark
fabric: {kind: dual-rail, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, nic_ports: 2, bond: spray}
cc: {algorithm: hpcc}
transport: {timeout: 4, retries: 1}
workload: {traffic: {permutation: {bytes: 100KB}}}
events: [{switch: rail-1, at: 0s, up: false, converge: 0s}, {switch: rail-2, at: 0s, up: false, converge: 0s}]
`)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, _, _ := r.Outcome("test")
	if s.Outcome == nil || s.FailedQPs != 2 {
		t.Errorf("outcome %v, %d queue pairs failed", s.Outcome, s.FailedQPs)
	}
}
