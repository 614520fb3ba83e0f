package sim

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/route"
	"railyard/roce"
	"railyard/unit"
)

// Two servers in different racks with four spines between them.
const twoRacks = `
name: entropy
fabric:
  {kind: rail, hosts: 2, segments: 2, spines: 4, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
   fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {recovery: selective, write: only}
lb: entropy
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 8MB}]}}
`

// With a source port per packet one queue pair uses all uplinks, as the hashes of the ports select them. With one
// port the run equals ECMP to the last event.
func TestEntropySpreadsAQueuePair(t *testing.T) {
	uplinks := func(sets ...string) (used int, r *Run) {
		r, s, _ := runAll(t, twoRacks, sets...)
		if s.Drops+s.Retransmissions != 0 {
			t.Errorf("%v: %d packets lost, %d retransmitted", sets, s.Drops, s.Retransmissions)
		}
		for l, link := range r.Graph.Links {
			if r.Net.Sw[link.A].Spec == nil || r.Net.Sw[link.B].Spec == nil {
				continue
			}
			for _, port := range []int32{r.portA[l], r.portB[l]} {
				if r.Net.Ports[port].TxBytes > 100_000 { // ACKs alone stay below
					used++
				}
			}
		}
		return used, r
	}
	if n, r := uplinks(); n != 4*2 || r.Hosts.Count.OutOfOrder == 0 {
		t.Errorf("%d of 8 ports on the way used, %d packets overtaken", n, r.Hosts.Count.OutOfOrder)
	}
	one, r := uplinks("lb_options.source_ports=1")
	hashed, e := uplinks("lb=ecmp")
	if one != 2 || hashed != 2 || r.Net.Q.Popped() != e.Net.Q.Popped() || r.Net.Q.Now() != e.Net.Q.Now() {
		t.Errorf("one source port: %d ports used, %d events, end at %v; ECMP: %d, %d, %v", one,
			r.Net.Q.Popped(), r.Net.Q.Now(), hashed, e.Net.Q.Popped(), e.Net.Q.Now())
	}
}

// A capture shows the source ports in turn, of data and of acknowledgements, and the matching ICRC of each.
func TestCapturedSourcePorts(t *testing.T) {
	run := load(t, twoRacks, "lb_options.source_ports=5")
	nic := run.Graph.End(run.Graph.NICs[0].Links[0], run.Graph.Hosts[0])
	c, err := run.Capture([]string{nic}, 0, unit.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Go(nil); err != nil {
		t.Fatal(err)
	}
	var sent []uint16
	acks := map[uint16]int{}
	c.Frames(func(_ unit.Time, _ int, out bool, b []byte, _ string) {
		var f roce.Frame
		if err := f.Decode(b); err != nil || f.ComputeICRC() != f.ICRC {
			t.Fatalf("%v, ICRC %x", err, f.ICRC)
		}
		if out {
			sent = append(sent, f.UDP.SrcPort)
		} else {
			acks[f.UDP.SrcPort]++
		}
	})
	ports := map[uint16]bool{}
	for i, p := range sent {
		ports[p] = true
		if i >= 5 && p != sent[i-5] {
			t.Fatalf("packet %d leaves from %d, the one five before it from %d", i, p, sent[i-5])
		}
	}
	if len(ports) != 5 || len(acks) != 5 {
		t.Errorf("data from %d source ports, acknowledgements from %d, want 5", len(ports), len(acks))
	}
}

// policies are those of load balancing that every fabric supports.
func policies() []string {
	return slices.DeleteFunc(route.Names(), func(name string) bool {
		p := route.Lookup(name)
		return p.Classes(false) > 1 || route.Is[route.EVReader](p)
	})
}

// A cable fails and routes never converge. While source ports are used in turn a quarter of the packets is lost,
// and repeated losses end in time-outs. A NIC that skips the ports with losses needs few retransmissions.
func TestSourcePortsSetAside(t *testing.T) {
	broken := twoRacks + `failures: [{link: "seg-1-rail-1:Eth3", at: 20us, converge: 1s}]` + "\n"
	lost := func(sets ...string) (int64, unit.Time) {
		_, s, _ := runAll(t, broken, append(sets, "lb_options.source_ports=64", "transport.retries=7")...)
		return s.DropsDown, unit.Time(s.StepTime)
	}
	all, slow := lost()
	few, fast := lost("lb_options.set_aside=100000")
	if few == 0 || few*4 > all || fast >= slow {
		t.Errorf("%d packets lost in %v with ports set aside, %d in %v without", few, fast, all, slow)
	}
}

// Spraying over 128 source ports causes no retransmission with any policy, although hundreds of packets are
// overtaken. If queues trim in an incast, only trimmed packets are retransmitted, and a few that were late when a
// window had just shrunk.
func TestSprayingCostsNoResends(t *testing.T) {
	const text = `
name: sprayed
fabric:
  {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, delay: 1us}, fabric_link: {rate: 100Gbps, delay: 1us}}
server: {gpus: 1, nic_latency: 0s}
cc: {algorithm: nscc}
transport: {recovery: selective, write: only, acks: cnp}
switch:
  pfc: false
  buffer: 1GB
  queues: {"3": {lossless: false, ecn: true, wred_min: 35KB, wred_max: 140KB, probability: 100}}
workload: {traffic: {permutation: {bytes: 1MB}}}
`
	for _, lb := range []string{"entropy", "oblivious", "bitmap", "reps", "mixed"} {
		r, s, _ := runAll(t, text, "lb="+lb, "lb_options.source_ports=128")
		if s.Retransmissions != 0 || s.Drops != 0 || r.Hosts.Count.OutOfOrder < 200 {
			t.Errorf("%s: %d retransmitted, %d lost, %d overtaken", lb, s.Retransmissions, s.Drops,
				r.Hosts.Count.OutOfOrder)
		}
	}
	incast := strings.Replace(text, "{permutation: {bytes: 1MB}}", "{incast: {fan_in: 12, bytes: 1MB}}", 1)
	r, s, _ := runAll(t, incast, "lb=mixed", "switch.queues.3.trim=true", "switch.queues.3.limit=178KB")
	if n := r.Hosts.Count.Trimmed; n < 100 || s.Retransmissions < n || s.Retransmissions > n+n/20 {
		t.Errorf("%d packets trimmed, %d retransmitted", n, s.Retransmissions)
	}
}

// The same broken cable with NSCC: after a silence REPS freezes on the acknowledged ports and recovers soon, and
// bitmap and mixed skip the ports with losses. Only policies without feedback go on losing.
func TestChoosersFindAWayRound(t *testing.T) {
	broken := twoRacks + `failures: [{link: "seg-1-rail-1:Eth3", at: 20us, converge: 1s}]` + "\n"
	took := map[string]unit.Time{}
	for _, lb := range []string{"oblivious", "bitmap", "mixed", "reps"} {
		r, s, _ := runAll(t, broken, "lb="+lb, "lb_options.source_ports=64", "cc.algorithm=nscc")
		if took[lb] = unit.Time(s.StepTime); r.Hosts.Count.Timeouts > 0 || s.DropsDown == 0 {
			t.Errorf("%s: %d ACK time-outs, %d packets lost on the cable", lb, r.Hosts.Count.Timeouts,
				s.DropsDown)
		}
	}
	if took["reps"] > 5*unit.Millisecond || took["mixed"]*10 > took["oblivious"] ||
		took["bitmap"]*10 > took["oblivious"] {
		t.Errorf("8 MB over a broken cable took %v", took)
	}
}
