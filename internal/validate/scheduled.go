package validate

import (
	"fmt"
	"math"
	"strings"

	"railyard/internal/sim"
	"railyard/scenarios"
	"railyard/unit"
)

// Properties of a scheduled fabric (docs/references.md, scheduled), on one of four interface nodes with eight NICs of
// 400 Gbit/s each under four fabric nodes.
const scheduledFabric = `
name: scheduled
fabric: {kind: rail, hosts: 8, segments: 4, spines: 4, uplinks: 2, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: %s, cable: 30m}, pipeline: 200ns, scheduled: {}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
switch: {queues: {3: {wred_min: 0B, wred_max: 0B, xoff: 40MB, xon: 1MB}}}
cc: {algorithm: none}
workload: {traffic: {flows: [%s]}}
`

const (
	cell, cellHeader = 256, 16 // bytes on a fabric link, and of them header (docs/references.md, scheduled)
	cellMessage      = 16      // a request or a grant
	cellCredit       = 4096    // bytes that one grant permits

	scheduledFrame = 4096 + middleFrame // of WRITE Middle
	tight          = "400Gbps"          // fabric links whose total rate equals the servers'
	roomy          = "480Gbps"          // 20 % faster
)

// transfers writes transfers between hosts.
func transfers(bytes string, pairs ...[2]int) string {
	var all []string
	for _, p := range pairs {
		all = append(all, fmt.Sprintf("{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: %s}", p[0], p[1], bytes))
	}
	return strings.Join(all, ", ")
}

// around makes every host send to the host at the same place of the next interface node.
func around() (pairs [][2]int) {
	for i := range 32 {
		pairs = append(pairs, [2]int{i + 1, (i+8)%32 + 1})
	}
	return pairs
}

// into makes n hosts of the nodes after the first one send to host 1.
func into(n int) (pairs [][2]int) {
	for i := range n {
		pairs = append(pairs, [2]int{9 + i, 1})
	}
	return pairs
}

// cellLoad returns a frame's bytes on fabric links: its cells, and a request and a grant per credit.
func cellLoad(frame float64) float64 {
	return math.Ceil(frame/(cell-cellHeader))*cell + 2*cellMessage*max(1, frame/cellCredit)
}

// scheduledRun is a run over a scheduled fabric without losses.
func scheduledRun(rate, flows string, sets ...string) (*sim.Run, error) {
	r, err := finish(fmt.Sprintf(scheduledFabric, rate, flows), sets...)
	if err == nil && r.Net.Drops+r.Net.CellsLost > 0 {
		err = fmt.Errorf("%d packets and %d cells were lost", r.Net.Drops, r.Net.CellsLost)
	}
	return r, err
}

// took returns how long some flow of a run took.
func took(r *sim.Run, from, to int) unit.Time {
	_, t, _ := r.Outcome("")
	for _, f := range t.Flows {
		if f.From == fmt.Sprintf("host-%d/gpu-1", from) && f.To == fmt.Sprintf("host-%d/gpu-1", to) {
			return unit.Time(f.Done - f.Posted)
		}
	}
	return 0
}

// lineTime returns the time of a transfer's packets on a NIC.
func lineTime(bytes int64) unit.Time {
	return unit.Time(on400(bytes / 4096 * (scheduledFrame + wireGap)))
}

func scheduledRows() ([]Row, error) {
	var rows []Row
	parts := []func() ([]Row, error){scheduledShares, scheduledIncast, scheduledVictim, scheduledFirst,
		scheduledFailures, scheduledBuffer, scheduledChassis}
	for _, part := range parts {
		rows = append(rows, must(part())...)
	}
	return rows, nil
}

// scheduledShares is a permutation between interface nodes: the fabric's throughput relative to line rate, and its
// evenness.
func scheduledShares() ([]Row, error) {
	var rows []Row
	const bytes = 4096 * 2000
	for _, c := range []struct{ rate, claim string }{{tight, "no speed-up"}, {roomy, "a speed-up of 1.2"}} {
		r := must(scheduledRun(c.rate, transfers("8192000B", around()...)))
		want := 1.0
		if c.rate == tight {
			want = (scheduledFrame + wireGap) / cellLoad(scheduledFrame)
		}
		one := must(scheduledRun(c.rate, transfers("4096B", [2]int{1, 9})))
		slowest := 1.0
		for _, p := range around() {
			slowest = min(slowest, steady(r, p[0], p[1], bytes, took(one, 1, 9)))
		}
		rows = append(rows, within("permutation over fabric links with "+c.claim+": share of line rate",
			"docs/references.md, scheduled: line rate x cell efficiency, at most 1", want, slowest, 0.01, "%.4f"))
		least, most := spread(r)
		rows = append(rows, Row{Claim: "the same, busiest fabric link over the least busy one",
			Source: "docs/references.md, scheduled: 1-2 %", Expected: "<= 1.02", Diff: "-",
			Ours: fmt.Sprintf("%.4f", float64(most)/float64(least)),
			OK:   float64(most) <= 1.02*float64(least)})
	}
	return rows, nil
}

// spread is the fewest and the most bytes on a link between switches, either direction.
func spread(r *sim.Run) (least, most int64) {
	for i := range r.Net.Ports {
		p := &r.Net.Ports[i]
		if r.Net.Sw[p.Node].Spec == nil || r.Net.Sw[r.Net.Ports[p.Peer].Node].Spec == nil {
			continue
		}
		if least == 0 || p.TxBytes < least {
			least = p.TxBytes
		}
		most = max(most, p.TxBytes)
	}
	return least, most
}

// scheduledIncast is N:1: the receiver's port is always busy, and the backlog is in VOQs.
func scheduledIncast() ([]Row, error) {
	var rows []Row
	for _, n := range []int{2, 12, 24} {
		r := must(scheduledRun(roomy, transfers("1024000B", into(n)...)))
		first, last := unit.Never, unit.Time(0)
		for i := range r.Hosts.Messages {
			first, last = min(first, r.Hosts.Messages[i].Posted), max(last, r.Hosts.Messages[i].Done)
		}
		one := must(scheduledRun(roomy, transfers("4096B", [2]int{9, 1})))
		busy := last - first - took(one, 9, 1) + lineTime(4096) // from the first packet's first bit there on
		rows = append(rows, Row{Claim: fmt.Sprintf("%d:1, share of time that the receiver's link is busy", n),
			Source: "docs/references.md, scheduled: egress 100 %", Expected: ">= 0.999",
			Ours: fmt.Sprintf("%.4f", float64(lineTime(int64(n)*1024000))/float64(busy)), Diff: "-",
			OK: float64(lineTime(int64(n)*1024000)) >= 0.999*float64(busy)})
	}
	return rows, nil
}

// scheduledVictim is a flow from the same interface node as an incast to another host: once over scheduled links,
// and once over paused links.
func scheduledVictim() ([]Row, error) {
	const victim = "8192000B"
	pair := [2]int{16, 2}
	flows := transfers("2048000B", into(7)...) + ", " + transfers(victim, pair)
	alone := must(scheduledRun(roomy, transfers(victim, pair)))
	beside := must(scheduledRun(roomy, flows))
	row := within("a flow next to a 7:1 incast from its own interface node: time over that alone",
		"docs/references.md, scheduled: victims unaffected", 1, float64(took(beside, pair[0], pair[1]))/
			float64(took(alone, pair[0], pair[1])), 0.01, "%.3f")
	paused := must(finish(fmt.Sprintf(scheduledFabric, roomy, flows), "fabric.scheduled.on=false",
		"lb=spray-least", "transport.recovery=selective", "transport.write=only",
		"switch.queues.3.xoff=200KB", "switch.queues.3.xon=100KB"))
	times := float64(took(paused, pair[0], pair[1])) / float64(took(alone, pair[0], pair[1]))
	return []Row{row, {Claim: "the same over sprayed links with PFC", Source: "seed: head-of-line blocking",
		Expected: "> 1.3", Ours: fmt.Sprintf("%.3f", times), Diff: "-", OK: times > 1.3}}, nil
}

// scheduledFirst is a single packet. It waits for its credit's round trip in addition to the time of its path.
func scheduledFirst() ([]Row, error) {
	var rows []Row
	delay := func(metres float64) unit.Time { return unit.Time(math.Round(metres / 1.98e8 * 1e12)) } // at 0.66 c
	for _, metres := range []float64{3, 30, 300} {
		cable, hop := fmt.Sprintf("%gm", metres), delay(metres)
		r := must(scheduledRun(roomy, transfers("4096B", [2]int{1, 9}), "fabric.fabric_link.cable="+cable))
		const frame = 4096 + firstFrame
		ends := 2*unit.Time(on400(frame+wireGap)) + 2*delay(3) + 200*unit.Nanosecond
		const cells8 = (frame + 8*(cell-cellHeader) - 1) / (8 * (cell - cellHeader)) // cells on each of eight links
		cells := 2*(hop+200*unit.Nanosecond) + unit.Serialize(cell, 480*unit.Gbps) +
			unit.Serialize(cells8*cell, 480*unit.Gbps)
		loop := 4 * (hop + 200*unit.Nanosecond + unit.Serialize(cellMessage, 480*unit.Gbps))
		rows = append(rows, within("one packet, fabric cables of "+cable+": later than its path takes, ns",
			"4 cables of a request and its grant", loop.Seconds()*1e9,
			(took(r, 1, 9)-ends-cells).Seconds()*1e9, 0.005, "%.1f"))
	}
	return rows, nil
}

// steady is the share of line rate of a transfer after its first packet has arrived.
func steady(r *sim.Run, from, to int, bytes int64, first unit.Time) float64 {
	return float64(lineTime(bytes)-lineTime(4096)) / float64(took(r, from, to)-first)
}

// scheduledFailures is a permutation in which the first interface node has lost fabric links. That node keeps the
// share of its remaining links, in both directions, and the other nodes keep their full rate.
func scheduledFailures() ([]Row, error) {
	const bytes = 4096 * 2000
	var rows []Row
	for _, c := range []struct {
		claim, sets string
		gone        []string
		left        float64
	}{
		{"one of two fabric links", "fabric.spines=2 fabric.uplinks=1 fabric.fabric_link.rate=1600Gbps",
			[]string{"seg-1-rail-1:Eth9"}, 0.5},
		{"one of eight", "", []string{"seg-1-rail-1:Eth9"}, 0.875},
		{"both to one fabric node", "", []string{"seg-1-rail-1:Eth9", "seg-1-rail-1:Eth10"}, 0.75},
	} {
		text := fmt.Sprintf(scheduledFabric, tight, transfers("8192000B", around()...)) + "failures: ["
		for _, l := range c.gone {
			text += "{link: '" + l + "'}, "
		}
		r := must(finish(text+"]\n", strings.Fields(c.sets)...))
		one := must(scheduledRun(tight, transfers("4096B", [2]int{1, 9}), strings.Fields(c.sets)...))
		first := took(one, 1, 9)
		whole := (scheduledFrame + wireGap) / cellLoad(scheduledFrame)
		slowest := func(from, to int) float64 { // the slowest flow of the node that has these hosts
			least := 1.0
			for i := range 8 {
				least = min(least, steady(r, from+i, to+i, bytes, first))
			}
			return least
		}
		const source = "docs/references.md, scheduled: input-balanced, the share of links that is left"
		rows = append(rows, within("an interface node without "+c.claim+": share of line rate it sends",
			source, c.left*whole, slowest(1, 9), 0.02, "%.4f"),
			within("the same: receives", source, c.left*whole, slowest(25, 1), 0.02, "%.4f"),
			within("the same: others among themselves", source, whole, slowest(9, 17), 0.02, "%.4f"))
	}
	return rows, nil
}

// scheduledBuffer computes the source's argument. Interface nodes queue for all GPUs of the cluster, and their
// egress ports reserve space for the bytes that arrive during credit's round trip.
func scheduledBuffer() ([]Row, error) {
	const source = "seed: ingress buffers for every GPU of the cluster, egress buffers for the round trip"
	var rows []Row
	const n, bytes = 24, 1024000
	r := must(scheduledRun(roomy, transfers("1024000B", into(n)...)))
	held := int64(0)
	for node := range r.Net.Sw {
		if s, ok := r.Net.Interface(int32(node)); ok {
			held += s.HeldPeak
		}
	}
	// When the last bit has arrived, the receiver has had line rate for as long, less the credit's first round trip,
	// and cells are ahead by the granted bytes.
	s := r.Plan.Scheduled
	frames := func(bytes int64) float64 { return float64(bytes/4096) * scheduledFrame }
	rows = append(rows, within(fmt.Sprintf("%d:1 of 1.02 MB each: all VOQs together, MB", n),
		source+": (N-1) x size", frames((n-1)*bytes)/1e6, float64(held)/1e6,
		float64(s.Egress)*2/frames((n-1)*bytes), "%.2f"))
	var all [][2]int
	for i := range 32 {
		for k := range 32 {
			if i != k {
				all = append(all, [2]int{i + 1, k + 1})
			}
		}
	}
	r = must(scheduledRun(roomy, transfers("8KiB", all...)))
	voqs := 0
	for node := range r.Net.Sw {
		s, _ := r.Net.Interface(int32(node))
		voqs += s.VOQs
	}
	rows = append(rows, exact("all to all among 32 GPUs: VOQs of the four interface nodes", source+
		": nodes x GPUs, per class", 4*32, voqs))
	for _, cable := range []string{"30m", "300m"} {
		for _, share := range []float64{1, 0.5} {
			rows = append(rows, must(egressRow(cable, share, source)))
		}
	}
	return rows, nil
}

// egressRow is a transfer alone with the computed egress buffer, or a share of it.
func egressRow(cable string, share float64, source string) (Row, error) {
	const bytes = 4096 * 1000
	run := func(size string, sets ...string) (*sim.Run, error) {
		return scheduledRun(roomy, transfers(size, [2]int{1, 9}), append(sets, "fabric.fabric_link.cable="+cable)...)
	}
	one := must(run("4096B"))
	room := unit.Bytes(float64(one.Plan.Scheduled.Egress) * share)
	r := must(run("4096000B", fmt.Sprintf("fabric.scheduled.egress=%dB", int64(room))))
	got := steady(r, 1, 9, bytes, took(one, 1, 9))
	claim := fmt.Sprintf("cables of %s, egress buffer of %v per port and class: share of line rate", cable, room)
	row := Row{Claim: claim, Source: source, Expected: ">= 0.995, computed", Ours: fmt.Sprintf("%.4f", got),
		Diff: "-", OK: got >= 0.995}
	if share < 1 {
		row.Expected, row.OK = "< 0.9, half as much", got < 0.9
	}
	return row, nil
}

// scheduledChassis is the source's complete chassis: every GPU sends to another one.
func scheduledChassis() ([]Row, error) {
	text := scenarios.Clusters()["clusters/chassis-1152.yaml"]
	r := must(finish(text))
	s, _, _ := r.Outcome("")
	x := s.Scheduled
	const source = "source document on large clusters, figure 13: 1,152 GPUs on a modular system"
	even := float64(x.LinkMost) / float64(x.LinkLeast)
	slow := float64(s.Slowest.Time) / float64(s.Slowest.Ideal)
	return []Row{
		{Claim: "chassis of 1,152 GPUs, permutation of 256 KiB: busiest over least busy link of a line card",
			Source: "docs/references.md, scheduled: 1-2 %", Expected: "<= 1.02", Ours: fmt.Sprintf("%.4f", even), Diff: "-",
			OK: even <= 1.02},
		{Claim: "the same: slowest message over its time alone", Source: source, Expected: "<= 1.02",
			Ours: fmt.Sprintf("%.4f", slow), Diff: "-", OK: slow <= 1.02},
		{Claim: "the same: packets lost, pauses inside", Source: source, Expected: "0, 0",
			Ours: fmt.Sprintf("%d, %d", s.Drops, s.PFCPauses), Diff: "-", OK: s.Drops+s.PFCPauses == 0},
	}, nil
}
