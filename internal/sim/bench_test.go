package sim

import (
	"fmt"
	"runtime"
	"testing"

	"railyard/cc"
	"railyard/internal/host"
	"railyard/internal/queue"
	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/rc"
	"railyard/scenarios"
	"railyard/transport"
	"railyard/transport/protocols"
	"railyard/unit"
)

// permutationSetup is the benchmark of other simulators (docs/references.md, uet-results): a k-ary three-tier fat
// tree at 400 Gbit/s with 1 us per link, with ECN, PFC and DCQCN.
func permutationSetup(tb testing.TB, k int) *Setup {
	g, err := topo.Build("fat-tree", topo.Params{K: k, Tiers: 3,
		HostCable: topo.Cable{Rate: 400 * unit.Gbps, Delay: unit.Microsecond},
		Fabric:    topo.Cable{Rate: 400 * unit.Gbps, Delay: unit.Microsecond}})
	if err != nil {
		tb.Fatal(err)
	}
	spec := queue.Default()
	p := cc.DCQCNPaper(400 * unit.Gbps)
	return &Setup{Graph: g, Spec: func(int) *queue.Spec { return &spec }, LB: &route.ECMP, QPs: 1, Seed: 1,
		Host: host.Config{RC: rc.Config{MTU: 4096, AckEvery: 16, Timeout: rc.LocalAckTimeout(10),
			Retries: 7, AlwaysReady: true},
			Services: []host.Service{{DSCP: 24, Class: 3,
				CNPs: true, CNPGap: p.CNPInterval, CNPDSCP: 48, CNPClass: 7,
				CC: func(path cc.Path) cc.Controller { return cc.NewDCQCN(&p, path.Line) }}}}}
}

// carriedSetup is permutationSetup with a protocol instead of RC and DCQCN, in a class without PFC.
func carriedSetup(tb testing.TB, k int, of *transport.Protocol) *Setup {
	s := permutationSetup(tb, k)
	spec := queue.Default()
	c := &spec.Queues[3]
	c.Lossless, c.XOff, c.XOn, c.Alpha = false, 0, 0, 1
	s.Spec = func(int) *queue.Spec { return &spec }
	common := transport.Common{MTU: 4096, Planes: 1}
	if of.CC != "" {
		common.CC = cc.Lookup(of.CC).Use("", 400*unit.Gbps)
	}
	s.Host.Services[0] = host.Service{DSCP: 24, Class: 3, CNPDSCP: 48, CNPClass: 7, AcksFirst: true,
		Protocol: of.New(of.Defaults, common)}
	return s
}

// permutation sends bytes from every host to the next host of a random cycle, so that no host sends to itself, and
// runs until all are delivered.
func permutation(tb testing.TB, s *Setup, bytes unit.Bytes) (n *Network, run func()) {
	n, err := NewNetwork(s)
	if err != nil {
		tb.Fatal(err)
	}
	hosts := s.Graph.TotalGPUs()
	order := make([]int, hosts)
	r := rng.New(s.Seed, "permutation")
	r.Perm(order)
	left, done := hosts, false
	n.Hosts.OnDeliver = func(int32) { left--; done = left == 0 }
	for i := range order {
		c := n.Conn(0, order[i], order[(i+1)%hosts], 0)
		n.Hosts.Send(c, bytes, 0)
	}
	return n, func() {
		if !n.RunUntil(&done, 1<<62, nil) {
			tb.Fatalf("%d of %d flows never finished", left, hosts)
		}
	}
}

// BenchmarkPacketHops is the project's speed figure: packets crossing links
// per second of one core, with everything on.
func BenchmarkPacketHops(b *testing.B) {
	for _, k := range []int{4, 8, 16} {
		b.Run(fmt.Sprintf("hosts=%d", k*k*k/4), func(b *testing.B) {
			packetHops(b, func() *Setup { return permutationSetup(b, k) })
		})
	}
	for _, of := range protocols.All {
		for _, k := range []int{8, 16} {
			b.Run(fmt.Sprintf("transport=%s/hosts=%d", of.Name, k*k*k/4), func(b *testing.B) {
				packetHops(b, func() *Setup { return carriedSetup(b, k, of) })
			})
		}
	}
	for _, name := range cc.Names() { // the shipped permutation of 128 hosts, under each congestion control
		b.Run("cc="+name, func(b *testing.B) {
			d, err := scenario.Parse(name, []byte(scenarios.Texts()["fattree128-permutation.yaml"]),
				[]string{"cc.algorithm=" + name})
			if err != nil {
				b.Fatal(err)
			}
			p, err := d.Resolve(nil)
			if err != nil {
				b.Skip(err)
			}
			packetHops(b, func() *Setup { return setup(p) })
		})
	}
}

// packetHops measures a permutation of 2 MB per host.
func packetHops(b *testing.B, setup func() *Setup) {
	b.ReportAllocs() // allocations of the event loop: growing slabs, not packets
	var hops, events int64
	var n *Network
	for b.Loop() {
		b.StopTimer()
		var run func()
		n, run = permutation(b, setup(), 2*unit.MB)
		runtime.GC()
		b.StartTimer()
		run()
		hops += n.Net.PacketHops
		events += int64(n.Net.Q.Popped())
	}
	sec := b.Elapsed().Seconds()
	b.ReportMetric(float64(hops)/sec/1e6, "Mhops/s")
	b.ReportMetric(float64(events)/float64(hops), "events/hop")
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB")
	b.ReportMetric(n.Net.Q.Now().Micros(), "sim-us")
	b.ReportMetric(float64(n.Net.Pauses), "pauses")
	b.ReportMetric(float64(n.Net.Marks), "marks")
}

// BenchmarkFirstEvent measures a published cluster's scenario from its text until its first event is due, with all
// preparations of run.
func BenchmarkFirstEvent(b *testing.B) {
	for _, name := range []string{"meta-24k", "colossus"} {
		b.Run(name, func(b *testing.B) {
			text := scenarios.Clusters()["clusters/"+name+".yaml"]
			for b.Loop() {
				d, err := scenario.Parse(name, []byte(text), nil)
				if err != nil {
					b.Fatal(err)
				}
				p, err := d.Resolve(nil)
				if err != nil {
					b.Fatal(err)
				}
				r, err := New(p)
				if err != nil {
					b.Fatal(err)
				}
				r.Begin()
				if r.Net.Q.Next() == nil {
					b.Fatal("there is no event")
				}
			}
		})
	}
}
