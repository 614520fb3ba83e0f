package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/scenarios"
	"railyard/unit"
)

// A permanent storm: host-2 pauses its switch for ever. Without the watchdog the transfer to it and all traffic
// behind it stop. With it the queue is dropped within detect to detect + 2 polls, and other traffic goes on.
func TestWatchdog(t *testing.T) {
	text := `
name: storm
fabric: {kind: rail-only, hosts: 3, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
switch: {queues: {"3": {xoff: 100KB, xon: 50KB, wred_max: 90KB, wred_min: 80KB}},
  watchdog: {on: true, poll: 1ms, detect: 2ms, restore: 2ms}}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-2/gpu-1, bytes: 10MB}
      - {from: host-1/gpu-1, to: host-3/gpu-1, bytes: 10MB, start: 10us}
`
	r := load(t, text)
	port := r.Port(r.Graph.NICs[1].Links[0], r.Graph.Hosts[1])
	r.Net.SendPause(port, 3) // refreshed for ever
	var stormAt unit.Time
	trace := r.Net.Trace
	r.Net.Trace = func(at unit.Time, what string, p int32, prio int) {
		trace(at, what, p, prio)
		if what == "storm" {
			stormAt = at
		}
	}
	r.Go(func(p exec.Progress) bool { return p.Now < 20*unit.Millisecond })
	if r.Net.Storms != 1 || stormAt <= 2*unit.Millisecond || stormAt > 4*unit.Millisecond ||
		r.Net.StormDrops == 0 {
		t.Errorf("%d storms, the first at %v, %d packets dropped", r.Net.Storms, stormAt, r.Net.StormDrops)
	}
	if got := r.Hosts.Placed(1); got != 10*unit.MB {
		t.Errorf("the flow to host-3 placed %v of 10MB", got)
	}
}

// A port without PFC loses packets that pauses would have saved, in both directions: it neither pauses its sender
// nor obeys its receiver.
func TestPortWithoutPFC(t *testing.T) {
	text := `
name: incast
fabric: {kind: rail, hosts: 4, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
cc: {algorithm: none}
switch: {buffer: 8MB, queues: {"3": {xoff: 100KB, xon: 50KB, wred_max: 0B, wred_min: 0B}}}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-4/gpu-2, bytes: 4MB}
      - {from: host-2/gpu-1, to: host-4/gpu-2, bytes: 4MB}
      - {from: host-3/gpu-1, to: host-4/gpu-2, bytes: 4MB}
`
	for _, port := range []string{"", "rail-2:Eth5",
		"spine-1:Eth2"} { // the receiving leaf's uplink and its port at the spine
		r := load(t, text)
		if port != "" {
			link, node, ok := r.Graph.FindPort(port)
			if !ok {
				t.Fatal(port)
			}
			r.Net.LimitPFC(r.Port(link, node), 0)
		}
		if err := r.Go(nil); err != nil {
			t.Fatal(port, err)
		}
		if lost := r.Net.Drops > 0; lost != (port != "") {
			t.Errorf("PFC off at %q: %d drops", port, r.Net.Drops)
		}
		if err := r.Net.Audit(); err != nil {
			t.Errorf("PFC off at %q: %v", port, err)
		}
	}
}

const deadlocked = `
name: deadlock
fabric:
  kind: graph
  host_link: {rate: 400Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 3m}
  allow_deadlock: true
  graph:
    hosts: [h1, h2, h3, h4, h5]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}, {name: s3, role: leaf},
      {name: s4, role: leaf}, {name: s5, role: leaf}]
    links: [{from: h1, to: s1}, {from: h2, to: s2}, {from: h3, to: s3}, {from: h4, to: s4}, {from: h5, to: s5},
      {from: s1, to: s2}, {from: s2, to: s3}, {from: s3, to: s4}, {from: s4, to: s5}, {from: s5, to: s1}]
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {timeout: 0}
switch: {buffer: 2MB, queues: {"3": {xoff: 40KB, xon: 20KB, wred_max: 0B, wred_min: 0B}}}
workload:
  traffic:
    flows:
      - {from: h1/gpu-1, to: h3/gpu-1, bytes: 20MB}
      - {from: h2/gpu-1, to: h4/gpu-1, bytes: 20MB}
      - {from: h3/gpu-1, to: h5/gpu-1, bytes: 20MB}
      - {from: h4/gpu-1, to: h1/gpu-1, bytes: 20MB}
      - {from: h5/gpu-1, to: h2/gpu-1, bytes: 20MB}
`

// A cyclic buffer dependency (docs/references.md, watchdog): five switches in a ring, each flow two hops around it,
// PFC on. All ports pause one another for ever. The run reports it instead of hanging, and with the watchdog it
// ends.
func TestDeadlock(t *testing.T) {
	text := deadlocked
	r := load(t, text, "switch.watchdog.on=false")
	err := r.Go(nil)
	if err == nil || !strings.Contains(err.Error(), "stuck") || r.Net.Drops != 0 {
		t.Fatalf("%v, %d drops: a ring of pauses should deadlock", err, r.Net.Drops)
	}
	s, _, _ := r.Outcome("")
	if !strings.Contains(err.Error(), ": 5 paused ports wait for one another since ") ||
		s.Deadlock == nil || s.Deadlock.Standing == 0 {
		t.Fatalf("%v, chains %+v", err, s.Deadlock)
	}
	standing(t, r, s.Deadlock.Worst(), 5)
	// Dropping ends the deadlock. All senders retry at once and cause the next one, and a few packets pass each
	// time. Acknowledged one by one, these are progress.
	few := strings.ReplaceAll(text, "20MB", "400KB")
	for action, text := range map[string]string{"drop": few, "forward": text} {
		r, s, _ := runAll(t, text, "switch.watchdog.on=true", "switch.watchdog.poll=1ms",
			"switch.watchdog.detect=2ms", "switch.watchdog.restore=2ms",
			"transport.timeout=12", "cc.algorithm=dcqcn", "transport.ack_every=1",
			"switch.watchdog.action="+action)
		if !s.Complete || s.PFCStorms == 0 || s.DropsStorm == 0 != (action == "forward") {
			t.Errorf("action %s: complete %v, %d storms, %d packets dropped in them", action, s.Complete,
				s.PFCStorms, s.DropsStorm)
		}
		if d := s.Deadlock; d == nil || d.Watchdog == 0 || d.Standing > 0 || len(r.chains.in) > 0 ||
			!strings.Contains(d.Worst().Told, "; the PFC watchdog resolved it at ") {
			t.Errorf("action %s: chains %+v", action, d)
		}
	}
}

// standing checks a reported circular pause dependency against the network: the number of ports, each paused and
// feeding the next, and all paused since the dependency closed.
func standing(t *testing.T, r *Run, c *result.Chain, ports int) {
	t.Helper()
	if c.How != result.Stands || len(c.Ports) != ports {
		t.Fatalf("chain %+v, want one of %d ports that stands", c, ports)
	}
	first := c.Ports[0]
	for i, p := range c.Ports {
		tx, next := &r.Net.Ports[p.Port], &r.Net.Ports[c.Ports[(i+1)%len(c.Ports)].Port]
		if tx.Paused&(1<<p.Priority) == 0 || r.Net.Ports[tx.Peer].Node != next.Node || p.Bytes == 0 ||
			p.Paused > c.Closed {
			t.Errorf("port %d of the chain: %+v", i, p)
		}
		if p.Paused < first.Paused {
			first = p
		}
	}
	if first.Name != c.First {
		t.Errorf("%s was paused first, not %s", first.Name, c.First)
	}
}

// A torus without rising classes deadlocks under a permutation. The run reports the circular pause dependencies
// that last, and those that ended by themselves.
func TestTorusLocks(t *testing.T) {
	r := load(t, `
name: torus
fabric: {kind: torus, k: 4, uplinks: 1, allow_deadlock: true, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 10m}}
server: {gpus: 4, nics: 4}
cc: {algorithm: none}
transport: {timeout: 0}
switch: {buffer: 8MB, watchdog: {on: false},
  queues: {"3": {xoff: 100KB, xon: 50KB, wred_max: 0B, wred_min: 0B}}}
workload: {traffic: {permutation: {bytes: 4MB, groups: all}}}
`)
	r.Go(func(p exec.Progress) bool { return p.Now < 3*unit.Millisecond })
	s, _, _ := r.Outcome("")
	d := s.Deadlock
	if d == nil || d.Standing == 0 || d.ByItself == 0 || d.Count != d.Standing+d.ByItself ||
		d.Watchdog+d.Cable > 0 {
		t.Fatalf("chains %+v", d)
	}
	for i := range d.Chains {
		if c := &d.Chains[i]; c.How == result.Stands {
			standing(t, r, c, len(c.Ports))
		} else if c.Ended <= c.Closed || c.By == "" {
			t.Errorf("%+v", c)
		}
	}
}

// TestClosThatLocks: two cables of a Clos fail, which leaves two leaves with one spine each. Packets between them
// turn around at other leaves, and go up again after a way down (Guo et al., SIGCOMM 2016). The note beforehand
// warns of this deadlock, and the run names its chain of ports.
func TestClosThatLocks(t *testing.T) {
	var b strings.Builder
	b.WriteString(`
name: clos
fabric:
  kind: graph
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 10m}
  graph:
    hosts: [a0, a1, b0, b1, c0, c1, d0, d1]
    switches: [{name: l0, role: leaf}, {name: l1, role: leaf}, {name: l2, role: leaf},
      {name: l3, role: leaf}, {name: s0, role: spine}, {name: s1, role: spine}]
    links: [{from: a0, to: l0}, {from: a1, to: l0}, {from: b0, to: l1}, {from: b1, to: l1},
      {from: c0, to: l2}, {from: c1, to: l2}, {from: d0, to: l3}, {from: d1, to: l3},
      {from: l0, to: s0}, {from: l0, to: s1}, {from: l1, to: s0}, {from: l1, to: s1},
      {from: l2, to: s0}, {from: l2, to: s1}, {from: l3, to: s0}, {from: l3, to: s1}]
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
lb: spray-random
transport: {timeout: 0, recovery: selective, write: only, nak_after: 65535, window: 65536}
switch: {buffer: 4MB, watchdog: {on: false},
  queues: {"3": {xoff: 60KB, xon: 30KB, wred_max: 0B, wred_min: 0B}}}
failures: [{link: "l0:Eth4", at: 1us, converge: 1us}, {link: "l3:Eth3", at: 1us, converge: 1us}]
workload:
  traffic:
    flows:
`)
	for _, f := range []string{"a0 d0", "a1 d1", "d0 a0", "d1 a1", "b0 c0", "b1 c1", "c0 b0", "c1 b1"} {
		fmt.Fprintf(&b, "      - {from: %s/gpu-1, to: %s/gpu-1, bytes: 4MB, start: 10us}\n", f[:2], f[3:])
	}
	r := load(t, b.String())
	notes := strings.Join(r.Plan.Notes, "\n")
	if !strings.Contains(notes, "from 2us on pauses can deadlock") {
		t.Errorf("notes: %s", notes)
	}
	err := r.Go(nil)
	s, _, _ := r.Outcome("")
	if err == nil || s.Deadlock == nil || s.Deadlock.Standing == 0 {
		t.Fatalf("%v, chains %+v", err, s.Deadlock)
	}
	standing(t, r, s.Deadlock.Worst(), len(s.Deadlock.Worst().Ports))
}

// TestPausesCut compares a run whose table of PFC events is truncated with one whose table is complete.
func TestPausesCut(t *testing.T) {
	text := scenarios.Texts()["victim.yaml"]
	_, s, all := runAll(t, text)
	if len(s.TablesCut) > 0 {
		t.Fatalf("cut: %v", s.TablesCut)
	}
	defer func(n int) { maxPauseRows = n }(maxPauseRows)
	maxPauseRows = 10
	_, s, some := runAll(t, text)
	want := []result.TableCut{{Table: "pauses", Rows: 10, Total: int64(len(all.Pauses))},
		{Table: "pause_flows", Rows: int64(len(some.PauseHeld))}, {Table: "pause_roots", Rows: int64(len(some.PauseRoots))}}
	if !slices.Equal(s.TablesCut, want) || len(some.Pauses) != 10 || len(all.PauseRoots) <= len(some.PauseRoots) {
		t.Errorf("cut: %v, want %v", s.TablesCut, want)
	}
}
