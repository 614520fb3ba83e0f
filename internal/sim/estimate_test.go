package sim

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
	"railyard/unit"
)

// The estimate before a run matches the run: packets and hops without losses, queue pairs, messages, and the heap's
// memory.
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

// peaked runs a plan to its outcome and returns the maximum of the heap during it, minus the heap before.
func peaked(t *testing.T, p *scenario.Plan) (c Cost, peak unit.Bytes) {
	t.Helper()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() unit.Bytes { metrics.Read(heap); return unit.Bytes(heap[0].Value.Uint64()) }
	runtime.GC()
	before := read()
	c = Estimate(p)
	r, err := Build(p, c)
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				peak = max(peak, read()-before)
				runtime.Gosched()
			}
		}
	}()
	if err := r.Go(nil); err != nil {
		t.Error(err)
	}
	_, tab, _ := r.Outcome("test")
	close(stop)
	<-stopped
	runtime.KeepAlive(tab)
	return c, peak
}

// The estimated memory of a run matches the maximum of process and heap within a factor of 1.5. While the run is
// explained, the heap holds several times what is live before and after.
func TestEstimateOfMemory(t *testing.T) {
	plans := map[string]*scenario.Plan{"all-to-all": load(t, "name: cost\nfabric: {kind: fat-tree, k: 8, "+
		"host_link: {rate: 400Gbps, delay: 1us}}\nworkload: {traffic: {alltoall: {bytes: 256KB}}}\n").Plan}
	for _, transport := range []string{"roce", "roce-selective", "eqds", "uec", "mrc", "srd", "falcon", "tcp"} {
		plans["by chance, "+transport] = load(t, byChance, "transport="+transport,
			"workload.traffic.background.sizes=16KB", "workload.traffic.background.for=2ms").Plan
	}
	for _, name := range []string{"three-flows", "fattree128-permutation", "two-jobs", "pod64-alltoall"} {
		p, err := scenariofile.Plan("../../scenarios/"+name+".yaml", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		plans[name] = p
	}
	for name, p := range plans {
		c, peak := peaked(t, p)
		if said, is := float64(c.Memory), float64(memoryBase+peak); said < is/1.5 || said > 1.5*is {
			t.Errorf("%s: estimated %.0f MB, the process held %.0f MB", name, said/1e6, is/1e6)
		}
	}
}
