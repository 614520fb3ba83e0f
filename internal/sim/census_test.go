package sim

import (
	"testing"

	"railyard/internal/counters"
	"railyard/unit"
)

// congested has pauses, marks, drops on a lossy cable, and a watchdog that detects a storm.
const congested = `
fabric: {kind: rail, segments: 2, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
switch: {watchdog: {on: true, poll: 20us, detect: 60us, restore: 60us}, queues: {3: {xoff: 200KB, xon: 100KB,
	wred_min: 20KB, wred_max: 150KB}}}
events:
  - {link: "seg-1-rail-1:Eth2", at: 0s, bit_error_rate: 0.0000001}
  - {link: "seg-1-rail-1:Eth3", at: 20us, flap: {period: 20us, count: 3}, detect: 0s}
  - {nic: host-6/nic-1, at: 10us, storm: true}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-5/gpu-1, bytes: 2MiB}
      - {from: host-2/gpu-1, to: host-5/gpu-1, bytes: 2MiB}
      - {from: host-3/gpu-1, to: host-5/gpu-1, bytes: 2MiB}
      - {from: host-4/gpu-1, to: host-6/gpu-1, bytes: 1MiB}
`

// TestCensus: the ports' counts add up to the network's counts, and the outputs of each system, parsed again,
// differ by exactly that.
func TestCensus(t *testing.T) {
	r := load(t, congested)
	c := r.Census()
	if err := r.Go(nil); err != nil {
		t.Log(err) // a storm without an end is possible
	}
	countedInAll(t, r, c)
	for _, system := range []string{"nxos", "eos", "sonic"} {
		before, after := c.Snapshots(system)
		if len(before) != len(after) || len(after) != len(r.Graph.Nodes) {
			t.Fatalf("%d and %d snapshots of %d devices", len(before), len(after), len(r.Graph.Nodes))
		}
		kinds := map[string]bool{}
		for i := range after {
			countedBetween(t, system, before[i], after[i], kinds)
		}
		for _, name := range []string{"rx pfc 3", "tx pfc 3", "queue 3 tx packets", "queue 3 marked",
			"queue 3 storms detected", "crc errors", "flaps", "np_cnp_sent", "rp_cnp_handled",
			"np_ecn_marked_roce_packets", "packet_seq_err", "rx pause duration 3"} {
			if !kinds[name] {
				t.Errorf("%s: nothing was ever counted as %s", system, name)
			}
		}
	}
}

func countedInAll(t *testing.T, r *Run, c *Census) {
	var marks, sent, storms, flushed, crc, drops uint64
	for i := range c.ports {
		x := &c.ports[i]
		for k := range x.marks {
			marks, sent, storms = marks+x.marks[k], sent+x.sentPFC[k], storms+x.storms[k]
			flushed += x.flushed[k]
			drops += x.egress[k].packets + x.ingress[k].packets + x.flushed[k]
		}
		crc += x.crc
		drops += x.crc + x.lost + x.noRoute + x.giants
		st := &r.Net.Stats[i]
		want, got := uint64(st.PauseSent+st.ResumeSent), uint64(0)
		for k := range x.sentPFC {
			got += x.sentPFC[k]
		}
		if got != want {
			t.Errorf("port %d: %d PFC frames sent, the network counted %d", i, got, want)
		}
		held := r.Net.PausedFor(int32(i))
		if x.paused[3].until(r.Net.Q.Now()) != uint64(held/unit.Microsecond) {
			t.Errorf("port %d: paused for %d us, the network says %v", i, x.paused[3].until(r.Net.Q.Now()),
				held)
		}
	}
	n := r.Net
	if marks != uint64(n.Marks) || storms != uint64(n.Storms) || flushed != uint64(n.StormDrops) ||
		crc != uint64(n.CorruptDrops) || drops != uint64(n.Drops) || sent == 0 || marks == 0 {
		t.Errorf("marks %d of %d, storms %d of %d, flushed %d of %d, CRC %d of %d, drops %d of %d", marks,
			n.Marks,
			storms, n.Storms, flushed, n.StormDrops, crc, n.CorruptDrops, drops, n.Drops)
	}
}

// countedBetween parses both sessions and compares their difference with the counts. kinds records which counters
// ever changed.
func countedBetween(t *testing.T, system string, before, after counters.Snapshot, kinds map[string]bool) {
	t.Helper()
	read := func(s counters.Snapshot) counters.Snapshot {
		if s.Kind == counters.Host {
			system = "host"
		}
		all, unknown, err := counters.Read(s.Device+".txt", counters.Show(system, s))
		if err != nil || len(unknown) > 0 {
			t.Fatal(s.Device, err, unknown)
		}
		joined, notes := counters.Join(all)
		if len(joined) != 1 || len(notes) > 0 {
			t.Fatal(s.Device, notes)
		}
		return joined[0]
	}
	got, err := counters.Delta(read(before), read(after))
	if err != nil || len(got.Notes) > 0 || !got.Took.Is {
		t.Fatal(after.Device, err, got.Notes)
	}
	wide, _ := counters.Join([]counters.Snapshot{after})
	first, _ := counters.Join([]counters.Snapshot{before})
	want, err := counters.Delta(first[0], wide[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Ports {
		p := &got.Ports[i]
		w := want.Find(p.Name)
		if w == nil {
			t.Fatalf("%s has no %s", after.Device, p.Name)
		}
		var should []counters.Count
		w.Each(func(_ string, n *counters.Count, _ bool) { should = append(should, *n) })
		k := 0
		p.Each(func(name string, n *counters.Count, gauge bool) {
			if n.Is && should[k].Is && n.V != should[k].V {
				t.Errorf("%s %s %s: %d, counted were %d", after.Device, p.Name, name, n.V, should[k].V)
			}
			if n.Is && n.V > 0 {
				kinds[name] = true
			}
			k++
		})
		if p.Peer.Device != w.Peer.Device || p.Peer.Port != w.Peer.Port {
			t.Errorf("%s %s: neighbour %+v, is %+v", after.Device, p.Name, p.Peer, w.Peer)
		}
	}
}
