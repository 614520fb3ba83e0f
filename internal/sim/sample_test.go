package sim

import (
	"testing"

	"railyard/internal/result"
	"railyard/internal/topo"
	"railyard/unit"
)

// peaksAgree checks that the longest queue of a switch's port is the maximum over its samples. No sample may be
// less than the queue at its end. Queues that a watchdog empties may be missed.
func peaksAgree(t testing.TB, r *Run, s *result.Summary, tab *result.Tables) {
	t.Helper()
	most := map[int32]int64{}
	for i := range tab.Links {
		l := &tab.Links[i]
		most[l.Port] = max(most[l.Port], l.Peak)
		if sw := &r.Net.Sw[r.Net.Ports[l.Port].Node]; sw.Spec != nil && l.Longest() != l.Peak && s.Scheduled == nil {
			sum, classes := int64(0), 0
			for c := range 8 {
				if b := int64(r.Net.QueuePeak(l.Port, c)); b > 0 {
					sum, classes = sum+b, classes+1
				}
			}
			// a queue is one class, while the port's queued bytes are those of all classes
			if classes < 2 || l.Queued > sum {
				t.Fatalf("port %d held %d bytes at the end of a sample, and at most %d in it", l.Port, l.Queued, l.Peak)
			}
		}
	}
	if s.PFCStorms > 0 {
		return
	}
	for i := range tab.Ports {
		p := &tab.Ports[i]
		if r.Graph.Nodes[r.Net.Ports[i].Node].Role != topo.Host && most[p.Port] != p.QueuePeak {
			t.Fatalf("the longest queue of %s is %d, that of its samples %d", p.Name, p.QueuePeak, most[p.Port])
		}
	}
}

// TestPeaksBetweenSamples: a burst of three microseconds is over when the sample ends. The sample has its peak,
// even after samples were merged because the table was too long.
func TestPeaksBetweenSamples(t *testing.T) {
	for _, rows := range []string{"400000", "1"} {
		_, s, tab := runAll(t, `
name: burst
fabric: {kind: rail-only, hosts: 5, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-4/gpu-1, bytes: 1MB}
      - {from: host-2/gpu-1, to: host-5/gpu-1, bytes: 16KB, start: 21us}
      - {from: host-3/gpu-1, to: host-5/gpu-1, bytes: 16KB, start: 21us}
`, "output.rows="+rows)
		if s.QueuePeak < 12_000 {
			t.Fatalf("a longest queue of %v", unit.Bytes(s.QueuePeak))
		}
		for i := range tab.Links {
			if l := &tab.Links[i]; tab.Ports[l.Port].Name == "rail-1:Eth5 → host-5" && l.Queued != 0 {
				t.Errorf("the burst is not over at the end of the sample: %+v", l)
			}
		}
	}
}
