package sim

import (
	"fmt"
	"testing"

	"railyard/internal/queue"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Random fabrics with trimming queues, every load balancing and several congestion controls: everything arrives
// once, and sent packets are arrivals, trimmed ones or duplicates. Queues of data and headers stay below their
// limits. While headers fit, nothing is lost, no timeout expires, and each trimmed packet is retransmitted for that
// reason only.
func TestTrimmingInRandomFabrics(t *testing.T) {
	cut := 0
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, what) }
		between := func(what string, low, high int) int { return rapid.IntRange(low, high).Draw(rt, what) }
		limit, heads := between("limit", 8400, 90_000), between("limit of headers", 20_000, 60_000)
		fabric := pick("fabric", "{kind: fat-tree, k: 4, host_link: {rate: 100Gbps, delay: 500ns}}",
			"{kind: rail, hosts: 4, segments: 2, spines: 2, host_link: {rate: 100Gbps, cable: 3m}}",
			"{kind: rail-only, hosts: 5, cut_through: true, host_link: {rate: 400Gbps, cable: 20m}}")
		traffic := pick("traffic",
			fmt.Sprintf("incast: {bytes: %dB, fan_in: %d}", between("bytes", 1, 300_000),
				between("senders", 2, 4)),
			fmt.Sprintf("permutation: {bytes: %dB}", between("bytes", 1, 400_000)),
			fmt.Sprintf("alltoall: {bytes: %dB}", between("bytes", 10_000, 400_000)))
		algorithm := pick("cc", "ndp", "eqds", "rccc", "none", "swift", "dcqcn")
		text := fmt.Sprintf(`
seed: %d
fabric: %s
server: {gpus: 1, nics: 1, nic_latency: 0s}
switch: {pfc: false, trim: {size: %dB, either: %v, last_hop_dscp: %s}, dscp: {49: 7}, queues: {
  3: {trim: true, limit: %dB, wred_max: %dB, wred_min: 1KB, ecn: true}, 7: {limit: %dB}}}
cc: {algorithm: %s}
lb: %s
transport: {recovery: selective, write: only, acks: %s, ack_every: %d, timeout: 12, retries: 7}
workload: {traffic: {%s}}
`, between("seed", 1, 1000), fabric, between("size", 64, 200), rapid.Bool().Draw(rt, "either"),
			pick("last hop", "48", "49"), limit, between("mark", 1100, limit), heads, algorithm,
			pick("lb", "ecmp", "spray", "spray-random", "spray-least", "flowlet"),
			pick("acks", "data", "cnp"), between("ack every", 1, 64), traffic)
		r, s, _ := runAll(t, text)
		var placed unit.Bytes
		for c := range int32(r.Hosts.Conns()) {
			placed += r.Hosts.Placed(c)
		}
		count := r.Hosts.Count
		over := count.DataBytes - int64(placed) - s.TrimmedBytes
		// The run ends with the last message; copies may be in flight.
		if thrown := count.Duplicates + count.OutOfOrder + int64(r.Net.InUse()); !s.Complete || over < 0 ||
			s.Drops == 0 && over > thrown*4096 {
			rt.Fatalf("complete %v: %d bytes sent, %v arrived, %d cut off, %d packets too many\n%s",
				s.Complete, count.DataBytes, placed, s.TrimmedBytes, thrown, text)
		}
		if s.Drops != s.DropsTrimmed && s.Drops == 0 {
			rt.Fatalf("%d of %d drops were trimmed", s.DropsTrimmed, s.Drops)
		}
		most := trimmedPeaks(r)
		if most[3] > unit.Bytes(limit) || most[7] > unit.Bytes(heads) {
			rt.Fatalf("%v and %v wait, limits are %d and %d\n%s", most[3], most[7], limit, heads, text)
		}
		if s.Drops > 0 && most[7]+4200 < unit.Bytes(heads) {
			rt.Fatalf("%d drops with room for headers\n%s", s.Drops, text)
		}
		if s.Drops == 0 && s.Timeouts > 0 {
			rt.Fatalf("%d time-outs\n%s", s.Timeouts, text)
		}
		if cut += int(s.Trims); s.Trims < count.Trimmed+s.DropsTrimmed ||
			s.Trims > count.Trimmed+s.DropsTrimmed+int64(r.Net.InUse()) {
			rt.Fatalf("%d trimmed, %d arrived so, %d dropped\n%s", s.Trims, count.Trimmed,
				s.DropsTrimmed, text)
		}
	})
	if cut == 0 {
		t.Error("nothing was trimmed")
	}
}

// trimmedPeaks are the maximum bytes that ports of switches held, by class.
func trimmedPeaks(r *Run) (most [queue.Classes]unit.Bytes) {
	for port := range int32(len(r.Net.Ports)) {
		if r.Graph.Nodes[r.Net.Ports[port].Node].Role == topo.Host {
			continue
		}
		for c := range most {
			most[c] = max(most[c], r.Net.QueuePeak(port, c))
		}
	}
	return most
}
