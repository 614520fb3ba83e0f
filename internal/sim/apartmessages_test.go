package sim

import (
	"slices"
	"testing"

	"railyard/unit"
)

// byChance is many short messages and few long ones, several of them between the same pair of hosts.
const byChance = `
name: by chance
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 20m}}
server: {gpus: 1, nics: 1, nic_latency: 500ns}
workload: {traffic: {background: {load: 40, sizes: sizes.txt, for: 400us}}}
`

// carriers are transports, including RC's recoveries and credit.
var carriers = []string{"roce", "roce-selective", "uec", "eqds", "mrc", "srd", "falcon", "tcp"}

// median returns the median duration of messages of at most 2 KB.
func median(r *Run) unit.Time {
	var times []unit.Time
	for i := range r.Hosts.Messages {
		if m := &r.Hosts.Messages[i]; m.Bytes <= 2*unit.KB {
			times = append(times, m.Done-m.Posted)
		}
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// By default each message of background traffic has its own queue pair with any transport. It is closed when the
// message is acknowledged, and the estimate counts it. With per-pair, messages share the queue pair of their pair
// of hosts.
func TestEachMessageHasAQueuePair(t *testing.T) {
	for _, transport := range carriers {
		own := load(t, byChance, "transport="+transport)
		pairs := load(t, byChance, "transport="+transport, "workload.traffic.background.queue_pairs=per-pair")
		for _, r := range []*Run{own, pairs} {
			if err := r.Go(nil); err != nil {
				t.Fatalf("%s: %v", transport, err)
			}
			if r.Cost.QPs != int64(r.Hosts.Conns()) || r.Cost.Messages != int64(len(r.Hosts.Messages)) {
				t.Errorf("%s: estimated %d queue pairs for %d messages, were %d for %d", transport, r.Cost.QPs,
					r.Cost.Messages, r.Hosts.Conns(), len(r.Hosts.Messages))
			}
		}
		seen := map[int32]bool{}
		for i := range own.Hosts.Messages {
			seen[own.Hosts.Messages[i].Conn] = true
		}
		messages, closed := len(own.Hosts.Messages), 0
		for c := range int32(own.Hosts.Conns()) {
			if own.Hosts.Closed(c) {
				closed++
			}
		}
		if len(seen) != messages || own.Hosts.Conns() != messages || closed < messages*9/10 {
			t.Errorf("%s: %d of %d queue pairs carried %d messages, %d are closed", transport, len(seen),
				own.Hosts.Conns(), messages, closed)
		}
		if pairs.Hosts.Conns() >= messages || len(pairs.Hosts.Messages) != messages {
			t.Errorf("%s, per pair: %d queue pairs for %d messages of %d", transport, pairs.Hosts.Conns(),
				len(pairs.Hosts.Messages), messages)
		}
	}
}

// With its own queue pair, a short message does not wait for earlier long ones of the same pair.
func TestShortMessagesDoNotWait(t *testing.T) {
	const two = "\nfabric: {kind: single-rail, hosts: 2, host_link: {rate: 100Gbps, cable: 20m}}\n" +
		"server: {gpus: 1, nics: 1}\nworkload: {traffic: {background: {load: 60, sizes: sizes.txt, for: 4ms}}}\n"
	for _, transport := range carriers {
		var times []unit.Time
		for _, pairs := range []string{"per-message", "per-pair"} {
			r := load(t, "name: two"+two, "transport="+transport, "workload.traffic.background.queue_pairs="+pairs)
			if err := r.Go(nil); err != nil {
				t.Fatalf("%s: %v", transport, err)
			}
			times = append(times, median(r))
		}
		if t.Logf("%s: %v, per pair %v", transport, times[0], times[1]); 2*times[0] > times[1] {
			t.Errorf("%s: the median of short messages is %v, and %v behind the others of the pair", transport,
				times[0], times[1])
		}
	}
}

// Runs with a queue pair for each message show the same in parts, to the last byte, and twice.
func TestMessagesApartInParts(t *testing.T) {
	for _, transport := range carriers {
		_, want := apartOrWhole(t, load(t, byChance, "transport="+transport), 1)
		for _, cores := range []int{1, 3} {
			parts, got := apartOrWhole(t, load(t, byChance, "transport="+transport), cores)
			if got != want || cores > 1 && parts < 2 {
				t.Errorf("%s in %d parts: %s", transport, parts, difference(want, got))
			}
		}
	}
}
