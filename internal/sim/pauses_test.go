package sim

import (
	"strings"
	"testing"

	"railyard/internal/exec"
	"railyard/unit"
)

// A storm that never ends: host-2 pauses its switch for ever. Without the
// watchdog the transfer to it and everything behind stops; with it the queue is
// dropped within detect to detect + 2 polls and other traffic goes on.
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

// A port without PFC loses what its neighbours' pauses would have saved, in both
// directions: it does not pause its sender, and it does not obey its receiver.
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
		"spine-1:Eth2"} { // the receiving leaf's uplink, and the spine's end of it
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

// A cyclic buffer dependency (HANDBOOK.md 3.4): five switches in a ring, each
// flow two hops around it, PFC on. Everything pauses everything for ever: the
// run says so instead of hanging, and with the watchdog it ends.
func TestDeadlock(t *testing.T) {
	text := `
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
	r := load(t, text, "switch.watchdog.on=false")
	err := r.Go(nil)
	if err == nil || !strings.Contains(err.Error(), "stuck") || r.Net.Drops != 0 {
		t.Fatalf("%v, %d drops: a ring of pauses should deadlock", err, r.Net.Drops)
	}
	// Dropping breaks the deadlock, and the senders, who all try again at once, make the next one:
	// a few packets get through each time. Acknowledged one by one, they are progress.
	few := strings.ReplaceAll(text, "20MB", "400KB")
	for action, text := range map[string]string{"drop": few, "forward": text} {
		_, s, _ := runAll(t, text, "switch.watchdog.on=true", "switch.watchdog.poll=1ms",
			"switch.watchdog.detect=2ms", "switch.watchdog.restore=2ms",
			"transport.timeout=12", "cc.algorithm=dcqcn", "transport.ack_every=1",
			"switch.watchdog.action="+action)
		if !s.Complete || s.PFCStorms == 0 || s.DropsStorm == 0 != (action == "forward") {
			t.Errorf("action %s: complete %v, %d storms, %d packets dropped in them", action, s.Complete,
				s.PFCStorms, s.DropsStorm)
		}
	}
}
