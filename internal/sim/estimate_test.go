package sim

import (
	"math"
	"runtime"
	"testing"
)

// What a run is said to cost before it is built is what it then costs: packets and
// hops where nothing is lost, queue pairs, messages, and memory as the heap shows it.
func TestEstimate(t *testing.T) {
	for name, text := range map[string]string{
		"all-to-all": "fabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: " +
			"1us}}\nworkload: {traffic: {alltoall: {bytes: 8MB}}}\n",
		"queue pairs": "fabric: {kind: fat-tree, k: 4, host_link: {rate: 400Gbps, delay: " +
			"1us}}\ntransport: {qps: 4}\nworkload: {traffic: {alltoall: {bytes: 32MB}}}\n",
		"rails": "fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 2, host_link: {rate: " +
			"400Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}\nserver: {gpus: 4, nics: " +
			"4}\nworkload: {traffic: {alltoall: {bytes: 16MB}}}\n",
		"ring": "fabric: {kind: rail-only, hosts: 8, host_link: {rate: 400Gbps, cable: " +
			"3m}}\nserver: {gpus: 4, nics: 4}\nworkload: {traffic: {ring-allreduce: {bytes: 16MB}}}\n",
		"scheduled": "fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, uplinks: 4, host_link: {rate: " +
			"400Gbps, cable: 3m}, scheduled: {}}\nserver: {gpus: 2, nics: 2}\n" +
			"workload: {traffic: {alltoall: {bytes: 16MB}}}\n",
		"detours": "fabric: {kind: dragonfly, k: 2, host_link: {rate: 100Gbps, cable: 3m}}\nlb: valiant\n" +
			"workload: {traffic: {alltoall: {bytes: 2MB}}}\n",
	} {
		r := load(t, "name: cost\ncc: {algorithm: none}\n"+text)
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		near := func(what string, said, is int64, tolerance float64) {
			t.Helper()
			if math.Abs(float64(said)/float64(is)-1) > tolerance {
				t.Errorf("%s: %s estimated as %d, were %d", name, what, said, is)
			}
		}
		near("packets", r.Cost.Packets, r.Net.Injected, 0.1)
		near("packet-hops", r.Cost.PacketHops, r.Net.PacketHops, 0.1)
		near("queue pairs", r.Cost.QPs, int64(r.Hosts.Conns()), 0)
		near("messages", r.Cost.Messages, int64(len(r.Hosts.Messages)), 0)
	}
}

// Memory per flow is what the estimate takes it for, at most: the collector leaves
// some garbage on top of what lives.
func TestEstimateOfMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := load(t, "name: cost\nfabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: "+
		"1us}}\ntransport: {qps: 4}\nworkload: {traffic: {alltoall: {bytes: 1MB}}}\n")
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	_, tab, _ := r.Outcome("test")
	runtime.GC()
	runtime.ReadMemStats(&after)
	live := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	if said := float64(r.Cost.Memory); said < live || said > 2.5*live {
		t.Errorf("%d flows: estimated %.0f MB, %.0f MB live", r.Cost.QPs, said/1e6, live/1e6)
	}
	runtime.KeepAlive(tab)
}
