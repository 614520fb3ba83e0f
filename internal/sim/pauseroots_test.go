package sim

import (
	"testing"

	"railyard/internal/exec"
	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/scenarios"
	"railyard/unit"
)

// rootsAddUp checks that the roots' times equal the ports' pause times: pause by pause, in total, and in intervals
// of the run. Nothing is negative, and the holder of bytes is a port with a queue.
func rootsAddUp(t testing.TB, r *Run, s *result.Summary, tab *result.Tables) {
	t.Helper()
	if r.missed > 0 {
		return
	}
	type pause struct {
		port     int32
		from, to int64
	}
	sums, all := map[pause]int64{}, int64(0)
	for _, x := range tab.PauseRoots {
		if x.Time < 0 || x.Bytes < 0 || x.To <= x.From || r.Graph.Nodes[r.Net.Ports[x.Root].Node].Role == topo.Host {
			t.Fatalf("root: %+v", x)
		}
		sums[pause{x.Port, x.From, x.To}] += x.Time
		all += x.Time
	}
	for p, sum := range sums {
		if sum != p.to-p.from {
			t.Fatalf("the roots of a pause of port %d caused %d ps of its %d", p.port, sum, p.to-p.from)
		}
	}
	if all != s.PFCPause {
		t.Fatalf("ports were paused for %v, the roots caused %v", unit.Time(s.PFCPause), unit.Time(all))
	}
	if s.PauseRoots == nil {
		if all != 0 {
			t.Fatalf("paused for %v, and no roots", unit.Time(all))
		}
		return
	}
	end := int64(r.Net.Q.Now())
	ranked := int64(0)
	for i := range int64(4) {
		part := result.RankPauses(tab.PauseRoots, tab.PauseHeld, end*i/4, end*(i+1)/4, tab.Ports, tab.QPs)
		if part == nil {
			continue
		}
		sum := int64(0)
		for _, x := range part.Roots {
			sum += x.Time
		}
		if ranked += part.Time; part.Count == len(part.Roots) && diff(sum, part.Time) > int64(part.Count) {
			t.Fatalf("roots of a part caused %d of %d ps", sum, part.Time)
		}
	}
	if diff(ranked, all) > 8 {
		t.Fatalf("four parts of the run have %d ps of pauses, the run %d", ranked, all)
	}
}

func diff(a, b int64) int64 { return max(a-b, b-a) }

// shipped runs a shipped scenario to its end.
func shipped(t *testing.T, name string, sets ...string) (*Run, *result.Summary, *result.Tables) {
	t.Helper()
	text, err := scenarios.File(name)
	if err != nil {
		t.Fatal(err)
	}
	return runAll(t, string(text), sets...)
}

// TestRootOfTheVictim: seven senders fill the queue to host-9. Its leaf pauses the spine, the spine pauses the
// other leaf, and that pauses a flow to host-10. The victim's packets often trigger the pauses, but the queued
// bytes belong to host-9.
func TestRootOfTheVictim(t *testing.T) {
	_, s, tab := shipped(t, "victim.yaml")
	const root, victim = "seg-2-rail-1:Eth1 → host-9", "seg-2-rail-1:Eth2 → host-10"
	top := s.PauseRoots.Roots[0]
	if top.Name != root || top.Kind != result.RootEgress || 100*top.Time < 95*s.PFCPause || top.Bytes < 100_000 ||
		top.Ports < 3 {
		t.Errorf("the first root: %+v, of %v", top, unit.Time(s.PFCPause))
	}
	for _, x := range s.PauseRoots.Roots[1:] {
		if x.Name == victim && 20*x.Time > s.PFCPause {
			t.Errorf("the victim's own queue caused %v of %v", unit.Time(x.Time), unit.Time(s.PFCPause))
		}
	}
	if len(s.PauseRoots.Flows) < 7 {
		t.Fatalf("%d flows hold bytes", len(s.PauseRoots.Flows))
	}
	for _, f := range s.PauseRoots.Flows[:7] {
		if f.To != "host-9/nic-1" || f.Time <= 0 || f.Bytes <= 0 {
			t.Errorf("flow: %+v", f)
		}
	}
	// The pause that reaches the leaf of the senders leads over the spine's port.
	over := int64(0)
	for _, x := range tab.PauseRoots {
		if tab.Ports[x.Port].Name == "seg-1-rail-1:Eth9 → spine-1" && x.By >= 0 &&
			tab.Ports[x.By].Name == "spine-1:Eth2 → seg-2-rail-1" {
			over += x.Time
		}
	}
	if over == 0 {
		t.Error("no pause of the first leaf leads over the spine")
	}
}

// TestRootsOfTwoJobs: the incasts of two jobs end at different ports, and each is ranked with its cost.
func TestRootsOfTwoJobs(t *testing.T) {
	_, s, _ := runAll(t, `
name: two
fabric: {kind: rail-only, hosts: 8, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
switch: {queues: {"3": {xoff: 100KB, xon: 50KB}}}
jobs:
  large: {gpus: 4, traffic: {incast: {bytes: 4MB, fan_in: 3}}}
  small: {gpus: 4, traffic: {incast: {bytes: 1MB, fan_in: 3}}}
`)
	p := s.PauseRoots
	if p == nil || len(p.Roots) != 2 || len(p.Jobs) != 2 || p.Jobs[0].Job != "large" || p.Jobs[1].Job != "small" {
		t.Fatalf("roots and jobs: %+v", p)
	}
	if p.Roots[0].Time < 3*p.Roots[1].Time || diff(p.Jobs[0].Time, p.Roots[0].Time) > p.Roots[0].Time/20 {
		t.Errorf("roots %+v, jobs %+v", p.Roots, p.Jobs)
	}
}

// TestRootIsAServer: the receiver's PCIe is slower than its link, and its NIC pauses the switch. Its link is the
// lesser root, because twice as much arrives as it carries.
func TestRootIsAServer(t *testing.T) {
	_, s, _ := runAll(t, `
name: slow
fabric: {kind: rail-only, hosts: 3, host_link: {rate: 200Gbps, cable: 3m}}
server: {gpus: 1, nics: 1, pcie: 150Gbps}
cc: {algorithm: none}
workload: {traffic: {incast: {bytes: 20MB, fan_in: 2, target: host-3/gpu-1}}}
`)
	if p := s.PauseRoots; p == nil || p.Roots[0].Kind != result.RootReceiver ||
		p.Roots[0].Name != "rail-1:Eth3 → host-3" || 3*p.Roots[0].Time < 2*p.Time {
		t.Errorf("roots: %+v", p)
	}
}

// TestRootIsACircle: five switches pause one another for ever. The dependency is reported, and is the root.
func TestRootIsACircle(t *testing.T) {
	r := load(t, deadlocked, "switch.watchdog.on=false")
	if err := r.Go(func(exec.Progress) bool { return true }); err == nil {
		t.Fatal("a circle of pauses should not end")
	}
	s, tab, _ := r.Outcome("")
	rootsAddUp(t, r, s, tab)
	circles := int64(0)
	for _, x := range s.PauseRoots.Roots {
		if x.Kind == result.RootCircular {
			circles += x.Time
		}
	}
	if s.Deadlock == nil || s.Deadlock.Standing == 0 || 10*circles < 9*s.PauseRoots.Time ||
		s.PauseRoots.Roots[0].Kind != result.RootCircular || s.PauseRoots.Roots[0].Name != s.Deadlock.Worst().First {
		t.Errorf("circles caused %v of %v: %+v, chains %+v", unit.Time(circles), unit.Time(s.PauseRoots.Time),
			s.PauseRoots.Roots, s.Deadlock)
	}
}
