package sim

import (
	"math"
	"testing"

	"railyard/internal/engine"
	"railyard/internal/host"
	"railyard/internal/queue"
	"railyard/roce"
	"railyard/unit"
)

// Two services between the same GPUs are two queue pairs. An incast of one service is paused back to the NICs (PFC
// alone); the other service uses the remaining line rate. Without its own class it is delayed by the pauses and
// gets no more than the incast's flow.
func TestServicesThroughAFabric(t *testing.T) {
	const line = 400 * unit.Gbps
	for _, own := range []bool{true, false} {
		s := permutationSetup(t, 4)
		spec := queue.Default()
		spec.Queues[3].WRED, spec.Queues[3].XOff = queue.WRED{}, 200*unit.KB
		spec.Queues[4], spec.DSCP[32], spec.DSCP[33] = spec.Queues[3], 4, 3
		s.Spec = func(int) *queue.Spec { return &spec }
		s.Host.Services = []host.Service{{Name: "steady", DSCP: 32, Class: 4},
			{Name: "bursts", DSCP: 24, Class: 3}}
		if !own {
			s.Host.Services[0].DSCP, s.Host.Services[0].Class = 33, 3
		}
		s.Host.Weights = [8]int{3: 50, 4: 50}
		n, err := NewNetwork(s)
		if err != nil {
			t.Fatal(err)
		}
		n.Hosts.OnDeliver = func(int32) {}
		steady := n.Conn(0, 0, 9, 0)
		if n.Conn(1, 0, 9, 0) == steady || n.Conn(0, 0, 9, 0) != steady {
			t.Error("the services share a queue pair")
		}
		n.Hosts.Send(steady, 50*unit.MB, 0)
		for _, src := range []int{0, 4, 5, 6} { // a quarter of host 10's line each
			n.Hosts.Send(n.Conn(1, src, 10, 0), 50*unit.MB, 0)
		}
		run := func() {
			stop := false
			n.Net.Q.Push(engine.OfRun, n.Net.Q.Now()+500*unit.Microsecond, host.KindUser, 0, 0)
			n.RunUntil(&stop, 1<<40, func(engine.Event) { stop = true })
		}
		run() // until the incast is paused
		before := [2]unit.Bytes{n.Hosts.Placed(steady), n.Hosts.Placed(n.Conn(1, 0, 10, 0))}
		run()
		frame := float64(roce.DataLen(roce.WriteMiddle, 4096) + roce.PreambleIFG)
		share := func(i int, c int32) float64 {
			return float64(8*(n.Hosts.Placed(c)-before[i])) / 500e-6 * frame / 4096 / float64(line)
		}
		ports := n.Ports()
		port := n.Hosts.Port(steady)
		mine, bursts := share(0, steady), share(1, n.Conn(1, 0, 10, 0))
		if own && mine < 3*bursts || !own && math.Abs(mine-bursts) > 0.02 || bursts < 0.2 {
			t.Errorf("own class %v: steady has %.3f of the line, bursts %.3f", own, mine, bursts)
		}
		if root := ports[port].Packets.PausedBy; root < 0 {
			t.Errorf("own class %v: nobody is blamed for %v of pauses", own, n.Net.PausedFor(port))
		}
	}
}
