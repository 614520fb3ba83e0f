package sim

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/fabric"
	"railyard/internal/result"
	"railyard/unit"

	"pgregory.net/rapid"
)

// breaking is two segments of two rails under two spines.
const breaking = `
name: things break
fabric:
  kind: rail
  hosts: 4
  segments: 2
  spines: 2
  uplinks: 2
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  routing: {detect: 10us, converge: 500us}
server: {gpus: 2, nics: 2}
transport: {timeout: 8}
switch: {watchdog: {poll: 100us, detect: 200us, restore: 200us}}
workload: {traffic: {alltoall: {bytes: 16MB}}}
events:
`

// broken runs the scenario with an event.
func broken(t testing.TB, event string, sets ...string) (*Run, *result.Summary) {
	t.Helper()
	r, s, _ := runAll(t, breaking+"  - {"+event+"}\n", sets...)
	return r, s
}

// A spine fails with the packets in it. Its neighbours stop hashing to it at once, and packets sent into it until
// routes converge are lost. It boots, and carries traffic again from its convergence on.
func TestASwitchBreaks(t *testing.T) {
	gone, s := broken(t, "switch: spine-1, at: 100us, up: false")
	if !s.Complete || s.DropsDown == 0 || s.DropsDown != s.Drops {
		t.Errorf("complete %v, %d packets lost, %d in broken cables", s.Complete, s.Drops, s.DropsDown)
	}
	if e := s.LinkEvents; len(e) != 1 || e[0].Cables != 8 || e[0].Link != "switch spine-1" ||
		e[0].Ends != int64(110*unit.Microsecond) || e[0].Routes != int64(610*unit.Microsecond) {
		t.Errorf("%+v", e)
	}
	back, again := broken(t, "switch: spine-1, at: 100us, boot: 400us")
	if !again.Complete || again.StepTime >= s.StepTime {
		t.Errorf("back after 400us it takes %v, else %v", unit.Time(again.StepTime), unit.Time(s.StepTime))
	}
	if was, is := gone.throughSpine(1), back.throughSpine(1); is < 2*was {
		t.Errorf("%d bytes through the spine that came back, %d through the one that did not", is, was)
	}
	_, late := broken(t, "switch: spine-1, at: 100us, up: false, detect: 400us")
	if late.DropsDown < 2*s.DropsDown {
		t.Errorf("%d packets lost where it took 400us to detect, %d where it took 10us", late.DropsDown,
			s.DropsDown)
	}
}

// throughSpine returns how much a spine has sent.
func (n *Network) throughSpine(spine int) (bytes int64) {
	node := n.Graph.Node([]string{"", "spine-1", "spine-2"}[spine])
	for i := range n.Net.Ports {
		if p := &n.Net.Ports[i]; int(p.Node) == node {
			bytes += p.TxBytes
		}
	}
	return bytes
}

// A leaf's failure isolates its rail's GPUs, a line card's those at its ports, and a NIC's its own GPUs.
func TestWhoIsCutOff(t *testing.T) {
	for event, want := range map[string]int{
		"switch: seg-1-rail-1, at: 100us, up: false":                     4,
		"switch: seg-1-rail-1, ports: [Eth1-Eth2], at: 100us, up: false": 2,
		"nic: host-3/nic-2, at: 100us, up: false":                        1,
		"server: host-3, at: 100us, up: false":                           2,
		// The component returns, but its queue pairs gave up.
		"nic: host-3/nic-2, at: 100us, flap: {period: 40ms, duty: 90, count: 2}": 1,
	} {
		_, s := broken(t, event)
		if s.Complete || s.Outcome == nil {
			t.Errorf("%s: complete %v, %+v", event, s.Complete, s.Outcome)
			continue
		}
		cut := 0
		for _, c := range s.Outcome.CutOff {
			if c.Since == int64(100*unit.Microsecond) {
				cut++
			}
		}
		if cut != want || len(s.Outcome.CutOff) != want || len(s.Outcome.Broken) != 1 {
			t.Errorf("%s: %d cut off, want %d: %+v", event, cut, want, s.Outcome)
		}
	}
}

// No one detects a server's failure at once: its peers hang, and its own GPUs stop computing.
func TestAServerDies(t *testing.T) {
	r, s := broken(t, "server: host-3, at: 100us, up: false")
	if s.Outcome == nil || s.Outcome.At != int64(100*unit.Microsecond) {
		t.Fatalf("%+v", s.Outcome)
	}
	first, _ := r.Graph.GPUsOf(2)
	for i := range r.Exec.DAG.Ops {
		o := &r.Exec.DAG.Ops[i]
		end := r.Exec.End[i]
		if int(o.Rank)/2 == first/2 && end != unit.Never && end > 101*unit.Microsecond {
			t.Errorf("GPU %d of the dead server ended something at %v", o.Rank, end)
		}
	}
	if _, s := broken(t, "server: host-3, at: 80s, up: false"); !s.Complete || s.Outcome != nil {
		t.Error("a server that dies behind the end of the job is its failure")
	}
}

// The switch's watchdog stops a NIC that pauses continuously. Other flows go on, and only its own peers lose it.
// Without a watchdog its pauses spread, and far more flows hang.
func TestANICThatPausesForEver(t *testing.T) {
	_, s := broken(t, "nic: host-1/nic-1, at: 100us, storm: true")
	if s.Complete || s.PFCStorms == 0 || s.DropsStorm == 0 || s.Outcome == nil ||
		!strings.Contains(strings.Join(s.Outcome.Broken, ""), "host-1/nic-1 sends PFC pauses continuously since 100 µs") {
		t.Fatalf("complete %v, %d storms, %+v", s.Complete, s.PFCStorms, s.Outcome)
	}
	_, spread := broken(t, "nic: host-1/nic-1, at: 100us, storm: true", "switch.watchdog.on=false")
	if spread.Complete || spread.Outcome == nil || spread.DropsStorm != 0 {
		t.Fatalf("complete %v, %+v", spread.Complete, spread.Outcome)
	}
	if with, without := s.Outcome.Done.Operations, spread.Outcome.Done.Operations; without >= with {
		t.Errorf("%d operations with a watchdog, %d without", with, without)
	}
	r, _, _ := runAll(t, breaking+"  - {nic: host-1/nic-1, at: 100us, storm: true}\n"+
		"  - {nic: host-1/nic-1, at: 200us, storm: false}\n")
	if !r.Exec.Done() {
		t.Error("a NIC that ended its storm stays lost")
	}
}

// One direction of a cable with a reduced rate carries that rate, and the other direction its full rate.
func TestOneSlowDirection(t *testing.T) {
	const text = `
name: one way
fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-2/gpu-1, bytes: 10MB}
      - {from: host-2/gpu-1, to: host-1/gpu-1, bytes: 10MB}
events: [{nic: host-1/nic-1, rate: 25Gbps, direction: `
	took := func(r *Run, i int) float64 {
		m := &r.Hosts.Messages[i]
		return (m.Done - m.Posted).Micros()
	}
	whole, _, _ := runAll(t, strings.Replace(text, "25Gbps", "100Gbps", 1)+"both}]\n")
	for i, direction := range []string{"out", "in"} {
		r, s, _ := runAll(t, text+direction+"}]\n")
		if ratio := took(r, i) / took(whole, i); ratio < 3.9 || ratio > 4.1 {
			t.Errorf("%s: the slow way takes %.2f times as long", direction, ratio)
		}
		if ratio := took(r, 1-i) / took(whole, 1-i); ratio > 1.05 { // its acknowledgements are slightly delayed
			t.Errorf("%s: the other way takes %.2f times as long", direction, ratio)
		}
		if s.Slowest == nil || !s.Complete {
			t.Errorf("%s: %+v", direction, s.Slowest)
		}
	}
}

// Failures detected at the ends of cables before routes converge change no route and no locator. They are reset
// when routes converge or the cable recovers.
func TestNoticedCables(t *testing.T) {
	p, err := parsed(breaking+"  - {switch: spine-1, at: 80s, up: false}\n", []string{"fabric.hosts=1"})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		n, err := NewNetwork(setup(p))
		if err != nil {
			rt.Fatal(err)
		}
		down := map[int]bool{}
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			l := rapid.IntRange(0, len(n.Graph.Links)-1).Draw(rt, "link")
			before := n.Paths
			switch rapid.IntRange(0, 2).Draw(rt, "what") {
			case 0:
				n.SetLink(l, fabric.LinkState{Rate: n.Graph.Links[l].Rate})
				n.Notice([]int{l})
				if n.Paths != before {
					rt.Fatal("routes have changed")
				}
			case 1:
				n.Converge(l, false)
				down[l] = true
			case 2:
				n.SetLink(l, fabric.LinkState{Up: true, Rate: n.Graph.Links[l].Rate})
				n.Converge(l, true)
				delete(down, l)
			}
			if n.noticed[l] && (n.routed[l] || !n.Net.Ports[n.portA[l]].Down) {
				rt.Fatalf("cable %d is noticed, routed %v", l, n.routed[l])
			}
			if len(n.routed) != len(down) {
				rt.Fatalf("routes avoid %v, want %v", n.routed, down)
			}
		}
	})
}

// Where the remaining paths share load evenly, one more failure never makes a step faster: spines that fail one
// after another under spraying, and NICs' rates that halve.
func TestOneMoreFailureIsNeverFaster(t *testing.T) {
	const text = `
name: fewer and fewer
fabric:
  kind: rail
  hosts: 2
  segments: 2
  spines: 4
  uplinks: 1
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 50Gbps, cable: 30m}
server: {gpus: 1, nics: 1}
lb: spray
cc: {algorithm: none}
transport: {recovery: selective, write: only}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-3/gpu-1, bytes: 8MB}
      - {from: host-2/gpu-1, to: host-4/gpu-1, bytes: 8MB}
events:
  - {nic: host-1/nic-1, rate_share: 1}
`
	last, events := unit.Time(0), ""
	for _, event := range []string{"{nic: host-2/nic-1, rate_share: 1}", "{switch: spine-1, up: false}",
		"{switch: spine-2, up: false}", "{link: 'spine-3:Eth1', rate_share: 0.5}",
		"{nic: host-3/nic-1, rate_share: 0.1}", "{switch: spine-3, up: false}"} {
		events += "  - " + event + "\n"
		_, s, _ := runAll(t, text+events)
		if took := unit.Time(s.StepTime); !s.Complete || took < last*995/1000 {
			t.Errorf("with %s on top %v, before %v", event, took, last)
		} else {
			last = took
		}
	}
}

// When a group shrinks, resilient hashing moves only the flows of the broken cable, and they return when it
// recovers. ECMP moves others, too.
func TestWhichFlowsMove(t *testing.T) {
	const event = "link: 'seg-1-rail-1:Eth5', at: 100us, flap: {period: 1ms, duty: 80, count: 1}"
	needless := func(lb string) (moved, off int) {
		_, s := broken(t, event, "lb="+lb, "fabric.routing.converge=50us")
		if !s.Complete || len(s.Moves) == 0 {
			t.Fatalf("%s: complete %v, %+v", lb, s.Complete, s.Moves)
		}
		for _, m := range s.Moves {
			if unit.Time(m.At) < 500*unit.Microsecond { // not after its recovery
				moved, off = moved+m.Moved, off+m.Needless
			}
		}
		return moved, off
	}
	if moved, off := needless("ecmp-resilient"); moved == 0 || off != 0 {
		t.Errorf("resilient: %d moved, %d of them off working cables", moved, off)
	}
	if moved, off := needless("ecmp"); off == 0 {
		t.Errorf("ECMP: %d moved, %d of them off working cables", moved, off)
	}
	r, _ := broken(t, event, "lb=ecmp-resilient", "fabric.routing.converge=50us")
	whole := load(t, breaking+"  - {switch: spine-1, at: 80s, up: false}\n", "lb=ecmp-resilient").Network
	for k := range r.conns {
		c := whole.Conn(int(k.service), int(k.src), int(k.dst), int(k.tag))
		if !slices.Equal(whole.Hosts.Path(c), r.Hosts.Path(r.conns[k])) {
			t.Errorf("%v: %v when it is back, %v before", k, r.Hosts.Path(r.conns[k]), whole.Hosts.Path(c))
		}
	}
}
