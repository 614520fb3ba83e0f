package explain_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/coll"
	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/internal/workload"
	"railyard/unit"
)

func gapParts(c result.CollectiveRow) int64 { return c.Lost.Total() - c.Lost.Of(cause.LineRate) }

// The parts of a collective's gap add up to the gap. The largest part is the cause for which the scenario was made.
func TestCauses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		part func(result.CollectiveRow) int64
		why  string
	}{
		"incast": {`fabric: {kind: rail, hosts: 9, spines: 1, host_link: {rate: 100Gbps,
  cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 8}}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Incast) }, "incast"},
		"a rate kept low": {`fabric: {kind: rail, hosts: 9, spines: 1, host_link: {rate: 100Gbps,
  cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: dcqcn, dcqcn: {profile: paper}}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 8}}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Recovering) }, "CC recovering after"},
		"a small window": {`fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 400Gbps, cable: 4km}}
server: {gpus: 1, nics: 1}
cc: {algorithm: swift, swift: {start_window: 10}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 4MB}]}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Window) }, "window limit"},
		"oversubscription": {`fabric: {kind: rail, hosts: 8, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-9/gpu-1, bytes: 8MB}, {from: host-2/gpu-1,
  to: host-10/gpu-1, bytes: 8MB}, {from: host-3/gpu-1, to: host-11/gpu-1, bytes: 8MB}]}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Oversubscription) }, "oversubscription"},
		"latency": {`fabric: {kind: rail, hosts: 8, spines: 1, host_link: {rate: 400Gbps,
  cable: 300m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {ring-allreduce: {bytes: 64KiB}}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Latency) }, "latency"},
		"hash collisions": {`fabric: {kind: rail, hosts: 8, segments: 2, spines: 8, uplinks: 1,
  host_link: {rate: 400Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 8MB}}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Collision) }, "share the link"},
		// The flow beside the incast has free capacity on every link of its path. Only PFC slows it down.
		"a paused fabric": {`fabric: {kind: rail, hosts: 5, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
switch: {queues: {3: {xoff: 100KB, xon: 50KB}}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-6/gpu-1, bytes: 4MB}, {from: host-2/gpu-1,
  to: host-6/gpu-1, bytes: 4MB}, {from: host-3/gpu-1, to: host-6/gpu-1, bytes: 4MB},
  {from: host-4/gpu-1, to: host-7/gpu-1, bytes: 12MB}]}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Pause) }, "PFC pauses of"},
		"a shared NIC": {`fabric: {kind: rail, hosts: 3, spines: 1, host_link: {rate: 100Gbps,
  cable: 3m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 8MB}, {from: host-1/gpu-1,
  to: host-3/gpu-1, bytes: 8MB}]}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.SharedNIC) }, "shared NIC"},
		"packets lost": {`fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 100Gbps,
  cable: 3m, bit_error_rate: 0.000001}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 8MB}]}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Retransmission) }, ""},
		"slow PCIe": {`fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 400Gbps,
  cable: 3m}}
server: {gpus: 1, nics: 1, pcie: 200Gbps}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 8MB}}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.PCIe) }, "PCIe"},
		"a slow link": {`fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 8MB}]}}
events: [{link: 'rail-1:Eth2', at: 200us, rate: 25Gbps}, {link: 'rail-1:Eth2', at: 600us, rate: 100Gbps}]`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.SlowLink) },
			"slow link: rail-1:Eth2 → host-2 at 25 Gbit/s instead of 100 Gbit/s for 400 µs"},
		"a late rank": {`fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 100Gbps,
  cable: 3m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 2MB, start: 1ms},
  {from: host-3/gpu-1, to: host-4/gpu-1, bytes: 2MB, start: 3ms}]}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.LateRank) }, "straggler"},
		"incast over a scheduled fabric": {`fabric: {kind: rail, hosts: 5, segments: 2, spines: 2, uplinks: 4,
  host_link: {rate: 100Gbps, cable: 3m}, scheduled: {}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 8}}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Incast) }, "incast: 8 flows"},
		"cells on links without a speed-up": {`fabric: {kind: rail, hosts: 4, segments: 2, spines: 2,
  uplinks: 2, host_link: {rate: 100Gbps, cable: 3m}, scheduled: {}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-5/gpu-1, bytes: 8MB}, {from: host-2/gpu-1,
  to: host-6/gpu-1, bytes: 8MB}, {from: host-3/gpu-1, to: host-7/gpu-1, bytes: 8MB}, {from: host-4/gpu-1,
  to: host-8/gpu-1, bytes: 8MB}]}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Oversubscription) }, "oversubscription"},
		"the round trip of credit": {`fabric: {kind: rail, hosts: 1, segments: 2, spines: 2, uplinks: 4,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {cable: 300m}, scheduled: {}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {ring-allreduce: {bytes: 64KiB}}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Latency) }, "credit round trip"},
		"a training step": {`fabric: {kind: rail, hosts: 4, spines: 1, host_link: {rate: 100Gbps,
  cable: 3m}}
server: {gpus: 2, nics: 2}
workload: {training: {model: small.json, tp: 2, dp: 2, pp: 2, global_batch: 8, bucket: 20MB}}`,
			func(c result.CollectiveRow) int64 { return c.Lost.Of(cause.Latency) }, ""},
	} {
		_, _, tab := runAll(t, "name: causes\n"+c.text+"\n")
		if len(tab.Collectives) == 0 || tab.Topology == nil || len(tab.QPs) == 0 {
			t.Fatalf("%s: nothing recorded", name)
		}
		for i, c := range tab.Critical {
			if i > 0 && c.Start != tab.Critical[i-1].End || c.End < c.Start {
				t.Fatalf("%s: the critical path has a gap at %+v", name, c)
			}
		}
		found := false
		for _, x := range tab.Collectives {
			if sum := x.Lost.Of(cause.LineRate) + gapParts(x); sum != x.End-x.Start ||
				x.Lost.Of(cause.LineRate) < 0 || x.Lost.Of(cause.LateRank) < 0 {
				t.Fatalf("%s: parts of %d make %d: %+v", name, x.End-x.Start, sum, x)
			}
			found = found || 2*c.part(x) > gapParts(x) && strings.Contains(x.Why, c.why) || c.why == "" &&
				c.part(x) > 0
		}
		if !found {
			t.Errorf("%s: %s", name, fmt.Sprintf("%+v", tab.Collectives[0]))
		}
	}
}

// What holds up one message of a queue pair is not held against the others: an incast
// slows the first collective, and the second, between the same two GPUs a while later,
// is at line rate; one that follows at once still has its rate cut.
func TestCausesByMessage(t *testing.T) {
	const flow = 4 * unit.MB
	for _, pause := range []unit.Time{0, 200 * unit.Millisecond} {
		p := load(t, `name: x
fabric: {kind: rail, hosts: 9, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: dcqcn, dcqcn: {profile: paper}}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 8}}}
`).Plan
		b := workload.NewBuilder(9)
		var all []int32
		b.Collective(workload.Collective{Name: "first", Kind: coll.SendRecv, Class: workload.Other,
			Bytes: flow, Ranks: []int{0, 1, 2, 3, 4}}, func() {
			for src := 1; src < 5; src++ {
				all = append(all, b.Transfer(src, 0, flow))
			}
		})
		wait := b.Compute(1, pause, workload.Other, all...)
		b.Collective(workload.Collective{Name: "second", Kind: coll.SendRecv, Class: workload.Other,
			Bytes: flow, Ranks: []int{0, 1}}, func() { b.Transfer(1, 0, flow, wait) })
		d, err := b.Seal()
		if err != nil {
			t.Fatal(err)
		}
		p.Jobs[0].DAG = d
		r, err := sim.New(p)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		_, tab, _ := r.Outcome("")
		first, second := tab.Collectives[0], tab.Collectives[1]
		incast := func(r *result.CollectiveRow) int64 { return r.Lost.Of(cause.Incast) + r.Lost.Of(cause.Recovering) }
		if first.Lost.Of(cause.Incast) == 0 || 2*incast(&first) < gapParts(first) {
			t.Errorf("the incast: %+v", first)
		}
		if slow := float64(second.End-second.Start) / float64(second.Lost.Of(cause.LineRate)); pause > 0 &&
			(100*incast(&second) > gapParts(second) || slow > 1.05) || pause == 0 &&
			(slow < 1.2 || 2*second.Lost.Of(cause.Recovering) < gapParts(second) || !strings.Contains(second.Why,
				"CC recovering") || !strings.Contains(second.Why, "earlier")) {
			t.Errorf("after %v, %.2f times the ideal: %+v", pause, slow, second)
		}
	}
}

// Three flows into one NIC lose time because DCQCN has not restored the rate that it reduced. A run without
// congestion control saves that time, and a run with spraying does not. The report names it for the collective, for
// the slowest message and for the step.
func TestRateNotGivenBack(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/three-flows.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run := func(sets ...string) (*result.Summary, *result.Tables) {
		_, s, tab := runAll(t, string(text), append([]string{"cc.dcqcn.profile=paper"}, sets...)...)
		return s, tab
	}
	s, tab := run()
	free, _ := run("cc.algorithm=none")
	row := tab.Collectives[0]
	for where, why := range map[string]string{"collective": row.Why, "slowest": s.Slowest.Why} {
		if !strings.Contains(why, "CC recovering after the queue at") {
			t.Errorf("%s: %s", where, why)
		}
	}
	saved := s.StepTime - free.StepTime
	for where, blamed := range map[string]int64{"collective": row.Lost.Of(cause.Recovering),
		"step": s.Chain.Of(cause.Recovering)} {
		if d := blamed - saved; max(d, -d) > s.StepTime/50 {
			t.Errorf("%s: %v blamed on the rate, a run without congestion control saves %v", where,
				unit.Time(blamed), unit.Time(saved))
		}
	}
}

// The slowest message of an all-to-all shares its NIC with the rest of the collective, at line rate. Its main cause
// is that of the collective, a hash collision.
func TestSlowestNamesTheCollectivesCulprit(t *testing.T) {
	_, s, tab := runAll(t,
		`name: x
fabric: {kind: rail, hosts: 4, segments: 2, spines: 4, uplinks: 1, host_link: {rate: 400Gbps,
  cable: 3m}, fabric_link: {rate: 400Gbps, cable: 30m}}
`+
			`server: {gpus: 2, nics: 2}
cc: {algorithm: none}
workload: {traffic: {alltoall: {bytes: 8MiB}}}
`)
	for where, why := range map[string]string{"collective": tab.Collectives[0].Why,
		"slowest": s.Slowest.Why} {
		if !strings.Contains(why, "above line rate: ECMP hash collision") {
			t.Errorf("%s: %s", where, why)
		}
	}
}

// The rows of queue pairs and ports refer to existing rows, and marks of link samples add up to the marks of ports.
func TestRecorded(t *testing.T) {
	r, s, tab := runAll(t,
		`name: rec
fabric: {kind: rail, hosts: 9, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
switch: {queues: {3: {xoff: 200KB, xon: 20KB}}}
workload: {traffic: {incast: {bytes: 2MB, fan_in: 8}}}
`)
	marks := int64(0)
	for _, l := range tab.Links {
		marks += l.Marks
	}
	if marks != s.ECNMarks || marks == 0 || len(tab.Signals) == 0 || len(tab.Paths) == 0 {
		t.Errorf("%d marks in samples, %d in all; %d rates, %d paths", marks, s.ECNMarks, len(tab.Signals),
			len(tab.Paths))
	}
	for _, p := range tab.Paths {
		if int(p.QP) >= len(tab.QPs) || int(p.Port) >= len(tab.Ports) || p.Wait < 0 {
			t.Fatalf("%+v", p)
		}
	}
	caused := 0
	for _, p := range tab.Pauses {
		if p.What == "pause" && p.Cause >= 0 {
			caused++
			if tab.Ports[p.Cause].Peer != r.Graph.Nodes[r.Graph.Hosts[0]].Name {
				t.Fatalf("a pause is caused by %s, the incast ends at host-1", tab.Ports[p.Cause].Name)
			}
		}
	}
	if s.PFCPauses > 0 && caused == 0 {
		t.Error("no pause knows its cause")
	}
	if n := len(tab.Topology.Nodes); n != len(r.Graph.Nodes) ||
		len(tab.Topology.Links) != len(r.Graph.Links) || tab.Topology.Configs[0].WREDMin != 150_000 {
		t.Errorf("%+v", tab.Topology)
	}
}

// TestIncastNamesTheReceiver checks that an incast is named by the port to its NIC, although its flows queue at an
// uplink.
func TestIncastNamesTheReceiver(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/three-flows.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, s, _ := runAll(t, string(text))
	if at := placeOf(s, cause.Incast); at != "rail-2:Eth4 → host-4" {
		t.Errorf("%q: %+v", at, s.Places)
	}
}

// Sprayed packets that meet on equal links are no oversubscription: the fabric has a link for each of its hosts. What
// congestion control takes after them is theirs, and links without queues between switches save it.
func TestSprayedPacketsMeet(t *testing.T) {
	const base = "fabric: {kind: fat-tree, k: 4, host_link: {rate: 400Gbps, cable: 5m}, fabric_link: {rate: 400Gbps," +
		" cable: 30m}}\nworkload: {traffic: {permutation: {bytes: 10MB}}}\ntransport: {recovery: selective, write: only}\n"
	for _, lb := range []string{"spray", "spray-least", "dlb", "glb"} {
		_, s, _ := runAll(t, base+"lb: "+lb+"\n")
		_, fast, _ := runAll(t, strings.Replace(base, "fabric_link: {rate: 4", "fabric_link: {rate: 64", 1)+"lb: "+lb+"\n")
		blamed := s.Chain.Own[cause.SprayImbalance] + s.Chain.Reaction[cause.SprayImbalance]
		saved, over := int64(s.StepTime-fast.StepTime), s.Chain.Own[cause.Oversubscription]
		if over > 0 || blamed < saved*9/10 || blamed > saved*11/10 {
			t.Errorf("%s: blamed %d ps, saved %d, oversubscription %d", lb, blamed, saved, over)
		}
	}
}

// placeOf is the place of a cause in a step; "": none.
func placeOf(s *result.Summary, id cause.ID) string {
	for _, p := range s.Places {
		if p.Cause == id.Get().Key {
			return p.Name
		}
	}
	return ""
}

// TestVictim checks that a flow past an incast loses its time to the pauses and not to the incast, in which it does not
// end: its path is paused for 549 us, the rest is what congestion control takes to recover. Without congestion control
// it is all pauses.
func TestVictim(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/victim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, cc := range []string{"dcqcn", "none"} {
		_, s, tab := runAll(t, string(text)+"\ncc: {algorithm: "+cc+"}\n")
		if at := placeOf(s, cause.Pause); at != "seg-2-rail-1:Eth1 → host-9" {
			t.Errorf("%s: %q: %+v", cc, at, s.Places)
		}
		own, reaction := s.Chain.Own[cause.Pause], s.Chain.Reaction[cause.Pause]
		if id, _ := s.Chain.Leading(0); id != cause.Pause || s.Chain.Costs(cause.Incast) != 0 ||
			s.Chain.Saves(cause.Incast) != 0 || own < 400_000_000 || (cc == "none") != (reaction == 0) ||
			cc != "none" && (own > 550_000_000 || reaction < 1_200_000_000) {
			t.Errorf("%s: %+v", cc, s.Chain)
		}
		if why := s.Slowest.Reason; !strings.HasPrefix(why, "PFC pauses of ") || !strings.Contains(why, ", root seg-2-rail-1:Eth1 → host-9, ") {
			t.Errorf("%s: %s", cc, s.Slowest.Reason)
		}
		for _, row := range tab.Causes {
			if row.Scope == result.OfMessage && row.Cause == "incast" &&
				(row.Instance == 7) == (row.Time+row.Reaction+row.Saving > 0) {
				t.Errorf("%s: %+v", cc, row)
			}
		}
	}
}

// TestPlaceOfFailure checks that capacity that failed is missing at the failed link, until routes left it.
func TestPlaceOfFailure(t *testing.T) {
	_, s, _ := runAll(t, `
seed: 3
fabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 200Gbps, cable: 5m},
  fabric_link: {rate: 400Gbps, cable: 50m}}
server: {gpus: 4, nics: 4}
transport: {qps: 2}
failures: [{link: "seg-1-rail-1:Eth3", at: 300us, until: 5ms, converge: 1ms}]
workload: {traffic: {ring-allreduce: {bytes: 64MB}}}
`)
	if at := placeOf(s, cause.FailedCapacity); at != "spine-1:Eth1 → seg-1-rail-1" || s.Places[0].At != 800_000_000 {
		t.Errorf("%+v", s.Places)
	}
}
