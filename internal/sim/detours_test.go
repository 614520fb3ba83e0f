package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"railyard/internal/fabric"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// dragonflyText is a dragonfly at 100 Gbit/s, sprayed without congestion control.
const dragonflyText = `
name: dragonfly
fabric:
  {kind: dragonfly, k: 2, allow_deadlock: true,
    host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
cc: {algorithm: none}
transport: {recovery: selective, write: only, nak_after: 65535, window: 65536}
lb_options: {per_packet: true}
`

// toNextGroup is the worst traffic for minimal routing: the hosts of each group send to those of the next group.
func toNextGroup(hosts, perGroup int, bytes unit.Bytes) string {
	var b strings.Builder
	b.WriteString("workload:\n  traffic:\n    flows:\n")
	for i := range hosts {
		fmt.Fprintf(&b, "      - {from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: %dB}\n", i+1,
			(i+perGroup)%hosts+1, bytes)
	}
	return b.String()
}

// headers of a packet with RETH and immediate on the wire: Ethernet with FCS, preamble and gap, IP, UDP, BTH, ICRC.
const headers = 14 + 4 + 20 + 20 + 8 + 12 + 4 + 16 + 4

// fluid is the minimum time of a run's messages if each splits evenly over its choices at every switch, and over
// all its regions: the bytes of the fullest cable at its rate. It is computed from tables only and has no queues.
func fluid(r *Run) unit.Time {
	load := map[[2]int]float64{} // by link and the node that its traffic leaves
	var flow func(node, loc int, share float64, then func(node int, share float64))
	flow = func(node, loc int, share float64, then func(node int, share float64)) {
		next := r.Paths.Next(node, loc)
		if len(next) == 0 {
			then(node, share)
		}
		for _, l := range next {
			load[[2]int{l, node}] += share / float64(len(next))
			link := r.Graph.Links[l]
			flow(link.A+link.B-node, loc, share/float64(len(next)), then)
		}
	}
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		packets := float64((m.Bytes + 4095) / 4096)
		wire := float64(m.Bytes) + packets*headers
		src, dst := r.Hosts.Peers(m.Conn)
		from := r.Graph.Links[r.Graph.NICs[src].Links[0]]
		start, loc := from.A+from.B-r.Graph.Hosts[r.Graph.NICs[src].Host], r.Paths.Locator[dst]
		vias := []int{-1}
		if s, ok := r.Net.Sw[start].Chooser.(route.Steerer); ok {
			vias = s.Vias(nil, loc)
		}
		end := func(int, float64) {}
		for _, via := range vias {
			share := wire / float64(len(vias))
			if via < 0 {
				flow(start, loc, share, end)
				continue
			}
			flow(start, r.Paths.Regions[via], share, func(node int, share float64) {
				flow(node, loc, share, end)
			})
		}
	}
	most := unit.Time(0)
	for at, bytes := range load {
		most = max(most, unit.Serialize(unit.Bytes(math.Round(bytes)), r.Graph.Links[at[0]].Rate))
	}
	return most
}

// Between neighbouring groups minimal routing has one cable for all of a group's senders. Valiant's detours have
// all cables, twice. Among all hosts minimal routing is better. Each is near the capacity of its paths.
func TestAdversaryAndUniform(t *testing.T) {
	line := unit.Serialize(2_000_000*4178/4096, 100*unit.Gbps)
	took := map[string]unit.Time{}
	for _, c := range []struct {
		load, lb, traffic string
		near              float64 // share of its bound
	}{
		{"adversary", "spray-random", toNextGroup(72, 8, 2*unit.MB), 1.05},
		{"adversary", "valiant", toNextGroup(72, 8, 2*unit.MB), 1.10},
		{"uniform", "spray-random", "workload: {traffic: {alltoall: {bytes: 2MB}}}\n", 1.35},
		{"uniform", "valiant", "workload: {traffic: {alltoall: {bytes: 2MB}}}\n", 1.35},
	} {
		r, s, _ := runAll(t, dragonflyText+c.traffic, "lb="+c.lb)
		bound := max(fluid(r), line)
		took[c.load+" "+c.lb] = unit.Time(s.StepTime)
		if ratio := float64(s.StepTime) / float64(bound); ratio < 1 || ratio > c.near {
			t.Errorf("%s, %s: %v is %.3f of its bound %v", c.load, c.lb, unit.Time(s.StepTime), ratio, bound)
		}
		if s.Drops > 0 {
			t.Errorf("%s, %s: %d packets lost", c.load, c.lb, s.Drops)
		}
		if why := s.Slowest.Why; c.lb == "valiant" && !strings.Contains(why, "line rate: detours: ") {
			t.Errorf("%s: the slowest message is explained by %q", c.load, why)
		}
	}
	_, direct, _ := runAll(t, dragonflyText+toNextGroup(72, 8, 200*unit.KB), "lb=minimal")
	if why := direct.Slowest.Why; strings.Contains(why, "detours") || !strings.Contains(why, "the path of minimal routing") {
		t.Errorf("minimal routing takes no detours: %q", why)
	}
	if share := float64(line) / float64(took["adversary valiant"]); share < 0.38 || share > 0.5 {
		t.Errorf("Valiant carries %.3f of what is injected, want 7/16 for nine groups, 1/2 for many", share)
	}
	if a, b := took["adversary spray-random"], took["adversary valiant"]; float64(a) < 2*float64(b) {
		t.Errorf("between neighbouring groups %v by the shortest ways, %v by detours", a, b)
	}
	if a, b := took["uniform spray-random"], took["uniform valiant"]; a >= b {
		t.Errorf("among all %v by the shortest ways, %v by detours", a, b)
	}
}

// waits is which buffer waits for which: packets that arrived at a port in a class leave by another port and class.
type waits map[[2]int32]map[[2]int32]bool

// heard is the traffic that crossed the ports of a run.
type heard struct {
	waits waits
	left  map[[2]int32]bool // ports and classes by which packets left
	used  map[[2]int32]bool // queue pairs, and switch ports by which their data left
	hops  uint8             // the most switches that a packet crossed
	level uint8             // and the maximum of cables between regions
}

// listen taps all ports of a run.
func listen(r *Run) *heard {
	h := &heard{waits: waits{}, left: map[[2]int32]bool{}, used: map[[2]int32]bool{}}
	for p := range r.Net.Ports {
		r.Net.TapPort(int32(p), true)
	}
	r.Net.TapPFC = func(unit.Time, int32, bool, int, int) {}
	r.Net.Tap = func(_ unit.Time, port int32, out bool, p *fabric.Packet) {
		h.hops, h.level = max(h.hops, p.Hops), max(h.level, p.Level)
		if !out {
			return
		}
		to := [2]int32{port, int32(p.Class)}
		h.left[to] = true
		if r.Net.Sw[r.Net.Ports[port].Node].Spec == nil {
			return
		}
		from := [2]int32{r.Net.Ports[p.In].Peer, int32(p.Came)}
		if h.waits[from] == nil {
			h.waits[from] = map[[2]int32]bool{}
		}
		h.waits[from][to] = true
		if p.Payload > 0 {
			h.used[[2]int32{p.QP, port}] = true
		}
	}
	return h
}

// strayed returns a queue pair and a port used by its data that is not among its choices, if any.
func (h *heard) strayed(r *Run) (u [2]int32, ok bool) {
	ways := map[int32][]int32{}
	for u := range h.used {
		if ways[u[0]] == nil {
			ways[u[0]] = slices.Concat(r.Hosts.Choices(u[0])...)
		}
		if !slices.Contains(ways[u[0]], u[1]) {
			return u, true
		}
	}
	return u, false
}

// cyclic reports whether buffers can wait for each other in a cycle; PFC can deadlock then (docs/references.md,
// deadlock-free).
func (w waits) cyclic() bool {
	state := map[[2]int32]int{} // 1: in progress, 2: done
	var visit func(x [2]int32) bool
	visit = func(x [2]int32) bool {
		switch state[x] {
		case 1:
			return true
		case 2:
			return false
		}
		state[x] = 1
		for y := range w[x] {
			if visit(y) {
				return true
			}
		}
		state[x] = 2
		return false
	}
	for x := range w {
		if visit(x) {
			return true
		}
	}
	return false
}

// Random dragonflies have such short queues that nearly all ports are paused. No packet is lost, and all arrive
// with at most the textbook's five hops between switches, two of them between groups. Switches account packets to
// the class in which the peer sent them. No buffers wait for each other in a cycle, so no deadlock is possible.
func TestDetoursNeitherLoseNorLock(t *testing.T) {
	paused := int64(0)
	drawUntil(t, func() bool { return paused >= 100 }, func(rt *rapid.T) {
		k, size := rapid.IntRange(1, 2).Draw(rt, "k"), rapid.IntRange(1, 4).Draw(rt, "group size")
		global := rapid.IntRange(1, 2).Draw(rt, "global")
		if size*global < 2 {
			global = 2
		}
		groups := rapid.IntRange(3, min(6, size*global+1)).Draw(rt, "groups")
		text := fmt.Sprintf(`
name: random
seed: %d
fabric:
  {kind: dragonfly, k: %d, group_size: %d, global_links: %d, groups: %d, cut_through: %v,
   host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: %s, cable: 30m}}
switch: {queues: {"3": {xoff: 20KB, xon: 10KB, wred_max: 0B, wred_min: 0B}}}
cc: {algorithm: none}
transport: {recovery: selective, write: only, nak_after: 65535, window: 65536}
lb: valiant
lb_options: {per_packet: %v}
workload: {traffic: {alltoall: {bytes: %dB}}}
`, rapid.IntRange(1, 1000).Draw(rt, "seed"), k, size, global, groups, rapid.Bool().Draw(rt, "cut through"),
			rapid.SampledFrom([]string{"40Gbps", "100Gbps", "400Gbps"}).Draw(rt, "fabric rate"),
			rapid.Bool().Draw(rt, "per packet"),
			rapid.SampledFrom([]int{1000, 300_000, 1_000_000}).Draw(rt, "bytes"))
		r := load(t, text)
		h := listen(r)
		if err := r.Go(nil); err != nil {
			rt.Fatal(err)
		}
		s, _, _ := r.Outcome("test")
		if err := r.Net.Audit(); err != nil || !s.Complete || s.Drops > 0 {
			rt.Fatalf("%v, complete %v, %d packets lost", err, s.Complete, s.Drops)
		}
		for c := range int32(r.Hosts.Conns()) {
			if got := r.Hosts.Placed(c); got != r.Hosts.Messages[c].Bytes {
				rt.Fatalf("connection %d placed %v of %v", c, got, r.Hosts.Messages[c].Bytes)
			}
		}
		if h.hops > 6 || h.level > 2 {
			rt.Fatalf("a packet crossed %d switches and %d cables between groups", h.hops, h.level)
		}
		if u, ok := h.strayed(r); ok {
			rt.Fatalf("queue pair %d used %s, which is not a choice of its", u[0], r.PortName(u[1]))
		}
		for p := range r.Net.Ports { // in any class
			if r.Net.Stats[p].PauseGot > 0 && r.pauseCause(int32(p)) < 0 {
				rt.Fatalf("%s was paused, and nobody knows by whom", r.PortName(int32(p)))
			}
		}
		for from := range h.waits {
			if !h.left[from] {
				rt.Fatalf("packets came by %s in class %d, but none left so", r.PortName(from[0]), from[1])
			}
		}
		if h.waits.cyclic() {
			rt.Fatal("buffers wait for each other in a circle")
		}
		paused += s.PFCPauses
	})
	if paused < 100 {
		t.Errorf("%d pauses in all: the queues are too long to show anything", paused)
	}
}

// In a single class the buffers of the same packets do wait in cycles, so the rising class prevents them.
func TestOneClassCanLock(t *testing.T) {
	r := load(t, dragonflyText+"workload: {traffic: {alltoall: {bytes: 300KB}}}\n", "lb=valiant")
	risen := listen(r).waits
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	flat := load(t, dragonflyText+"workload: {traffic: {alltoall: {bytes: 300KB}}}\n", "lb=valiant")
	flat.Net.SetDetours(flat.Graph.RegionOf(), &queue.Rising{})
	same := listen(flat).waits
	if err := flat.Go(nil); err != nil {
		t.Fatal(err)
	}
	if risen.cyclic() || !same.cyclic() {
		t.Errorf("circles with rising classes %v, with one %v", risen.cyclic(), same.cyclic())
	}
}

// A cable between groups fails during the run and loses the packets sent into it. Packets on a leg through its
// group find another path or turn around, and all messages arrive.
func TestDetoursAroundAFailure(t *testing.T) {
	text := dragonflyText + toNextGroup(72, 8, 500_000)
	cable := topo.Cable{Rate: 1, LengthMM: 1}
	g, err := topo.Build("dragonfly", topo.Params{K: 2, HostCable: cable, Fabric: cable})
	if err != nil {
		t.Fatal(err)
	}
	of := g.RegionOf()
	for l, link := range g.Links {
		if a, b := of[link.A], of[link.B]; a == 0 && b > 1 {
			text += fmt.Sprintf("failures: [{link: %q, at: 20us, converge: 10us}]\n", g.End(l, link.A))
			break
		}
	}
	_, s, _ := runAll(t, text, "lb=valiant", "transport.timeout=6", "transport.nak_after=256")
	if s.DropsDown == 0 || s.DropsNoRoute > 0 || s.Drops > s.DropsDown {
		t.Errorf("%d packets lost in the cable, %d without a way, %d in all", s.DropsDown, s.DropsNoRoute,
			s.Drops)
	}
}

// One message over cables slower than its NIC spreads over several by detours, and takes at least its ideal time.
func TestIdealOfADetour(t *testing.T) {
	slow := strings.Replace(dragonflyText, "fabric_link: {rate: 100Gbps", "fabric_link: {rate: 25Gbps", 1)
	_, s, tab := runAll(t, slow+
		"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-40/gpu-1, bytes: 2MB}]}}\n", "lb=valiant")
	straight := unit.Serialize(2_000_000, 25*unit.Gbps)
	if f := tab.Flows[0]; f.Done < f.Ideal || f.Ideal == 0 || unit.Time(s.StepTime) > straight*3/4 {
		t.Errorf("%v, ideal %v, by one cable %v", unit.Time(f.Done), unit.Time(f.Ideal), straight)
	}
}
