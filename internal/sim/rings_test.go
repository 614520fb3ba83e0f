package sim

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Random tori have such short queues that nearly all ports are paused. No packet is lost, and all arrive on paths
// no longer than necessary, or twice that with a detour. Switches account packets to the class in which the peer
// sent them. No pauses ever close a chain. In dimension order, with or without detours, no buffers wait for one
// another in a cycle.
func TestToriNeitherLoseNorLock(t *testing.T) {
	paused, escaped, turned := int64(0), 0, 0
	enough := func() bool { return paused >= 100 && escaped > 0 && turned > 0 }
	drawUntil(t, enough, func(rt *rapid.T) {
		lb := rapid.SampledFrom([]string{"dimension-order", "minimal-adaptive", "valiant",
			"valiant\nlb_options: {per_packet: true}"}).Draw(rt, "lb")
		side := rapid.IntRange(2, 4).Draw(rt, "side")
		text := fmt.Sprintf(`
name: random
seed: %d
fabric: {kind: torus, k: %d, uplinks: %d, cut_through: %v, host_link: {rate: %s, cable: 3m},
   fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
switch: {watchdog: {on: false}, queues: {"3": {xoff: 20KB, xon: 10KB, wred_max: 0B, wred_min: 0B}}}
cc: {algorithm: none}
transport: {timeout: 0, recovery: selective, write: only, nak_after: 65535, window: 65536}
lb: %s
workload: {traffic: {permutation: {bytes: %dKB, groups: all}}}
`, rapid.IntRange(1, 1000).Draw(rt, "seed"), side, rapid.IntRange(1, 2).Draw(rt, "uplinks"),
			rapid.Bool().Draw(rt, "cut through"),
			rapid.SampledFrom([]string{"40Gbps", "100Gbps", "400Gbps"}).Draw(rt, "host rate"), lb,
			rapid.SampledFrom([]int{1, 300, 600}).Draw(rt, "KB"))
		r := load(t, text)
		r.chains = newChains(r.Network)
		r.Net.Repaused = r.chains.repaused
		h := listen(r)
		if err := r.Go(nil); err != nil {
			rt.Fatal(err)
		}
		s, _, _ := r.Outcome("test")
		if err := r.Net.Audit(); err != nil || !s.Complete || s.Drops > 0 {
			rt.Fatalf("%v, complete %v, %d packets lost", err, s.Complete, s.Drops)
		}
		legs := 1
		if strings.HasPrefix(lb, "valiant") {
			legs = 2
		}
		if int(h.hops) > 3*(side/2)*legs+1 {
			rt.Fatalf("a packet crossed %d switches", h.hops)
		}
		if u, ok := h.strayed(r); ok {
			rt.Fatalf("queue pair %d used %s, which is not a choice of its", u[0], r.PortName(u[1]))
		}
		for from := range h.waits {
			if !h.left[from] && r.Net.Sw[r.Net.Ports[from[0]].Node].Spec != nil {
				rt.Fatalf("packets came by %s in class %d, but none left so", r.PortName(from[0]), from[1])
			}
		}
		if lb != "minimal-adaptive" && h.waits.cyclic() {
			rt.Fatal("buffers wait for each other in a circle")
		}
		if n := r.chains.seen.Count; n > 0 {
			rt.Fatalf("%d chains of pauses closed: %+v", n, r.chains.seen.All[0])
		}
		paused += s.PFCPauses
		for to := range h.left {
			if lb == "minimal-adaptive" && to[1] > 3 && to[1] < 6 {
				escaped++
			}
			if legs == 2 && to[1] > 4 && to[1] < 7 {
				turned++
			}
		}
	})
	if !enough() {
		t.Errorf("%d pauses in all, %d ports by which packets escaped, %d by which they left on a second "+
			"leg: the queues are too long to show anything", paused, escaped, turned)
	}
}

// A torus whose packets take any path and do not escape deadlocks; with the escape the same packets arrive.
func TestEscapeUnlocks(t *testing.T) {
	for _, escapes := range []bool{true, false} {
		r := load(t, `
name: torus
fabric: {kind: torus, k: 4, uplinks: 1, allow_deadlock: true, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 10m}}
server: {gpus: 4, nics: 4}
cc: {algorithm: none}
lb: minimal-adaptive
transport: {timeout: 0, recovery: selective, write: only, nak_after: 65535, window: 65536}
switch: {watchdog: {on: false}, queues: {"3": {xoff: 20KB, xon: 10KB, wred_max: 0B, wred_min: 0B}}}
workload: {traffic: {permutation: {bytes: 1MB, groups: all}}}
`)
		if !escapes {
			for node := range r.Graph.Nodes {
				if r.Net.Sw[node].Spec != nil {
					none := make([]int32, len(r.Paths.Sets))
					for i := range none {
						none[i] = -1
					}
					r.Net.SetEscape(int32(node), none)
				}
			}
		}
		err := r.Go(nil)
		if done := err == nil && r.Net.Drops == 0; done != escapes {
			t.Errorf("escapes %v: %v at %v, %d packets lost", escapes, err, r.Net.Q.Now(), r.Net.Drops)
		}
	}
}
