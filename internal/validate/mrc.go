package validate

import (
	"fmt"
	"strings"

	"railyard/internal/fabric"
	"railyard/internal/planner"
	"railyard/unit"
)

// mrcRows compares MRC with its publications (docs/references.md, mrc), on smaller fabrics: at most 64 NICs.
func mrcRows(large bool) (rows []Row, err error) {
	all := []func() ([]Row, error){mrcVictim, mrcRing, mrcPorts, mrcFailover}
	if large {
		all = append(all, mrcLoss, mrcPlanes)
	}
	for _, of := range all {
		rows = append(rows, must(of())...)
	}
	return append(rows, must(portCounts(large))...), nil
}

var (
	hashedVictim = reason("a victim's uplink by hash",
		"The victim has 0.98 of its rate where it hashes to an uplink that is not paused, and 0.2 to 0.5 elsewhere: a standard error of 0.13. The switches' thresholds are not published.",
		"switch.queues.3.wred_max=1MB", "0.733")
	tenVictims = reason("a victim's ten queue pairs",
		"Some of the ten hash to the paused uplink, and the last of them counts. How far senders fall between pauses depends on thresholds and DCQCN constants that are not published.",
		NoSetting, "cc.dcqcn.profile=paper has 131 Gbit/s and wred_max=1MB 82, with the published 100 between them")
	lateLoss = reason("time until MRC takes a packet for lost",
		"MRC 1.0 leaves to the implementation when a packet counts as lost. Here later packets and measured round trips decide; the published runs recover more slowly.",
		"transport.mrc.timeout=1.5ms", "0.328")
)

const mrcSource = "OCP MRC 1.0 and arXiv 2605.04333; docs/references.md, mrc"

// slowestOf runs a scenario to its end and returns how long its slowest message took.
func slowestOf(text string, sets ...string) (unit.Time, error) {
	r := must(start(text, sets...))
	do(r.Go(nil))
	do(r.Failed())
	var slowest unit.Time
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		slowest = max(slowest, m.Done-m.Posted)
	}
	return slowest, nil
}

// mrcVictim is seven senders to one NIC across the upper tier, and a flow to the NIC next to it. The hash decides
// whether that flow shares a paused cable, so RoCE's figure is the mean over eight seeds.
func mrcVictim() (rows []Row, err error) {
	var got []float64 // of 400 Gbit/s
	for _, c := range []struct {
		senders, seeds, qps int
		bytes               string
		sets                []string
	}{
		{0, 1, 1, "8MB", []string{"transport=mrc"}},
		{7, 1, 1, "8MB", []string{"transport=mrc"}},
		{0, 1, 1, "8MB", []string{"transport=roce"}},
		{7, 8, 1, "8MB", []string{"transport=roce"}},
		{7, 8, 10, "16MB", []string{"transport=roce"}},
		{7, 8, 1, "8MB", []string{"transport=roce", "cc.algorithm=none"}},
	} {
		sum := 0.0
		for seed := range c.seeds {
			rate := must(victimRate(c.senders, c.bytes, append(c.sets, fmt.Sprint("transport.qps=", c.qps),
				fmt.Sprint("seed=", seed+1))...))
			sum += rate
		}
		got = append(got, sum/float64(c.seeds))
	}
	dcqcn := within("7:1 incast, DCQCN, one queue pair: victim's share of its rate alone, mean of 8 seeds",
		mrcSource, 0.75, got[3]/got[2], 0.1, "%.3f")
	ten := within("the same, ten queue pairs each: victim, Gbit/s of 400", mrcSource, 100, got[4], 0.1, "%.0f")
	alone := Row{Claim: "7:1 incast, PFC alone: victim, Gbit/s of 400, mean of 8 seeds", Source: mrcSource,
		Expected: "30 to 100", Ours: fmt.Sprintf("%.0f", got[5]), Diff: "-",
		OK: got[5] >= 30 && got[5] <= 100}
	return []Row{
		atLeast("7:1 incast, MRC: victim's share of its rate alone", mrcSource, 0.97, got[1]/got[0]),
		dcqcn.because(hashedVictim), ten.because(tenVictims), alone}, nil
}

// victimRate is the goodput of a flow next to an incast.
func victimRate(senders int, bytes string, sets ...string) (gbps float64, err error) {
	const text = `
name: victim
fabric: {kind: rail, segments: 2, hosts: 8, spines: 2, uplinks: 1, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 1600Gbps, cable: 30m}, pipeline: 500ns}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [%s]}}
`
	var pairs [][2]int
	for i := range senders {
		pairs = append(pairs, [2]int{i + 1, 9})
	}
	r := must(finish(fmt.Sprintf(text, transfers(bytes, append(pairs, [2]int{8, 10})...)), sets...))
	var sum unit.Bytes
	end := unit.Time(0)
	for i := range r.Hosts.Messages {
		m := &r.Hosts.Messages[i]
		if _, dst := r.Hosts.Peers(m.Conn); dst == 9 {
			sum, end = sum+m.Bytes, max(end, m.Done-m.Posted)
		}
	}
	return float64(sum) * 8 / end.Seconds() / 1e9, r.Failed()
}

// mrcRing is a step of a ring of 64 NICs in random order.
func mrcRing() ([]Row, error) {
	step := func(sets ...string) (float64, error) {
		t, err := slowestOf(`
name: ring
fabric: {kind: rail, segments: 4, hosts: 16, spines: 8, uplinks: 2, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}, pipeline: 500ns}
server: {gpus: 1, nics: 1}
workload: {traffic: {permutation: {bytes: 4MB}}}
`, sets...)
		return t.Micros(), err
	}
	mrc := must(step("transport=mrc"))
	var roce [3]float64
	for i, qps := range []int{1, 8, 16} {
		roce[i] = must(step("transport=roce", fmt.Sprint("transport.qps=", qps)))
	}
	return []Row{
		atMost("a ring's step over 64 NICs: one MRC queue pair over 16 of RoCE, time", mrcSource, 1,
			mrc/roce[2], "%.3f"),
		atMost("the same over one of RoCE", mrcSource, 1, mrc/roce[0], "%.3f"),
		atLeast("RoCE: gain of 8 queue pairs over that of 16", mrcSource+", little beyond 8", 0.9,
			(roce[0]-roce[1])/(roce[0]-roce[2]))}, nil
}

// mrcLoss is a ring all-reduce of 64 NICs with packet losses, whose steps depend on one another. A packet lost at a
// message's end has no later packet, so go-back-N waits for a timeout. Few runs have such a loss. The mean over
// several runs corresponds to the iterations of a benchmark.
func mrcLoss() ([]Row, error) {
	took := func(loss float64, preset string, runs int) (us float64, err error) {
		for seed := range runs {
			r := must(finish(fmt.Sprintf(`
name: loss
fabric: {kind: rail, segments: 4, hosts: 16, spines: 8, uplinks: 2,
  host_link: {rate: 400Gbps, cable: 3m, bit_error_rate: %.4g}, fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {ring-allreduce: {bytes: 16MB}}}
`, loss/2/8/(4096+82)), "transport="+preset, fmt.Sprint("seed=", seed+1)))
			do(r.Failed())
			us += r.Net.Q.Now().Micros() / float64(runs)
		}
		return us, nil
	}
	var got [5]float64
	for i, c := range []struct {
		loss   float64
		preset string
		runs   int
	}{{0, "mrc", 1}, {0.001, "mrc", 1}, {0.01, "mrc", 1}, {0, "roce", 1}, {0.001, "roce", 12}} {
		got[i] = must(took(c.loss, c.preset, c.runs))
	}
	worse := within("MRC, 1 % lost: the same", mrcSource, 1./3, got[0]/got[2], 0.1, "%.3f")
	back := atMost("RoCE with go-back-N at 0.1 %, collapses: the same, mean of 12 seeds", mrcSource, 0.5,
		got[3]/got[4], "%.3f")
	back.Note = "a gap costs go-back-N a round trip of 37 packets, 1 %; the collapse is a timeout of 67 ms where the last packet is lost, which some runs have"
	return []Row{
		atLeast("ring all-reduce of 64 NICs, MRC, 0.1 % of packets lost: rate over that without loss",
			mrcSource+", near line rate", 0.7, got[0]/got[1]),
		back, worse.because(lateLoss)}, nil
}

// planed is two servers whose NIC has n ports of 100G in separate planes, with their traffic.
func planed(ports, messages int, bytes unit.Bytes, more string) string {
	flow := fmt.Sprintf("{from: host-1/gpu-1, to: host-2/gpu-1, bytes: %dB}", bytes)
	return fmt.Sprintf(`
name: planes
fabric:
  types:
    host: {gpus: 1, nics: 1, nic_ports: %d, nic_rate: 100Gbps}
    leaf: {ports: 64x100Gbps}
    spine: {like: leaf, role: spine}
  nodes:
    host: {type: host, count: 2}
    leaf: {type: leaf, per: {plane: %d, leaf: 2}}
    spine: {type: spine, per: {plane: %d}, count: 2}
  cables:
    - {from: host, to: leaf, match: {plane: port, leaf: n}, length: 5m}
    - {from: leaf, to: spine, same: plane, count: 4, length: 30m}
  fabric_link: {rate: 100Gbps}
transport: mrc
%sworkload: {traffic: {flows: [%s]}}
`, ports, ports, ports, more, strings.TrimSuffix(strings.Repeat(flow+", ", messages), ", "))
}

// mrcPorts are NICs of 800G and 400G with and without one of their ports.
func mrcPorts() (rows []Row, err error) {
	const bytes = 32 * unit.KiB
	const messages = 2000
	for _, c := range []struct {
		ports int
		want  float64
	}{{8, 0.875}, {4, 0.75}} {
		var rate [2]float64
		for i, more := range []string{"", "failures: [{link: 'leaf-1-1:Eth1', at: 0s}]\n"} {
			r := must(start(planed(c.ports, messages, bytes, more)))
			do(r.Go(nil))
			var end unit.Time
			for m := range r.Hosts.Messages {
				end = max(end, r.Hosts.Messages[m].Done)
			}
			rate[i] = float64(messages*bytes) * 8 / end.Seconds() / float64(c.ports) / 100e9
		}
		if c.ports == 8 {
			rows = append(rows, atLeast("32 KB messages, 8 x 100G: share of 800G", mrcSource, 0.94, rate[0]))
		}
		rows = append(rows, within(fmt.Sprintf("one port of %d lost: share of the remaining rate", c.ports),
			mrcSource, c.want, rate[1]/rate[0], 0.02, "%.3f"))
	}
	return rows, nil
}

// mrcFailover is a cable between switches that breaks under load, which no route ever avoids.
func mrcFailover() ([]Row, error) {
	whole := must(slowestOf(planed(8, 1, 20*unit.MB, "")))
	const breaks = 50 * unit.Microsecond
	r := must(start(planed(8, 1, 20*unit.MB, fmt.Sprintf(
		"failures: [{link: 'leaf-1-1:Eth2', at: %v, converge: 1s}]\n", breaks))))
	var last unit.Time // a packet was sent into the cable
	r.Net.OnDrop = func(p *fabric.Packet, _ int32) {
		if p.Payload > 0 {
			last = r.Net.Q.Now()
		}
	}
	do(r.Go(nil))
	if r.Hosts.Finish(); last == 0 || r.Hosts.Count.Retransmissions == 0 {
		return nil, fmt.Errorf("no flow used the cable that broke")
	}
	broken := r.Hosts.Messages[0].Done - r.Hosts.Messages[0].Posted
	under := func(claim string, t unit.Time) Row {
		return Row{Claim: claim, Source: mrcSource + ", tens of us", Expected: "< 100", Diff: "-",
			Ours: fmt.Sprintf("%.1f", t.Micros()), OK: t < 100*unit.Microsecond}
	}
	return []Row{
		under("a cable of many breaks, no route avoids it: until the last data go into it, us", last-breaks),
		under("the same: time lost by a message of 20 MB, us", broken-whole)}, nil
}

// mrcPlanes counts switches of eight planes.
func mrcPlanes() ([]Row, error) {
	prices := must(planner.ParsePrices("", nil))
	s := planner.SwitchModel{Ports: 64, Rate: 800} // of 512 ports of 100G, broken out
	designs := map[string]planner.Design{}
	for _, gpus := range []int{65_536, 131_072} {
		all := must(planner.Fabrics(planner.FabricInput{GPUs: gpus, PerServer: 8, NICRate: 800, NICPorts: 8,
			Leaf: s, Top: s, Ratio: 1, Prices: prices}))
		for _, d := range all {
			designs[fmt.Sprint(d.Name, gpus)] = d
		}
	}
	optics := func(d planner.Design) (gbps int) { // two per link, by its rate
		for _, c := range d.Cables {
			gbps += 2 * c.Count * 800
		}
		return gbps
	}
	whole, half, tree := designs["port-planes131072"], designs["port-planes65536"], designs["fat-tree65536"]
	if len(whole.Tiers) < 2 || len(half.Tiers) < 2 || len(tree.Tiers) < 3 {
		return nil, fmt.Errorf("a design of eight planes is missing")
	}
	return []Row{
		exact("131,072 GPUs on 512-port switches, eight planes: T0 of a plane", mrcSource, 512,
			whole.Tiers[0].Count/8),
		exact("ports of each to GPUs", mrcSource, 256, whole.Tiers[0].Down),
		within("switches of eight planes, relative to three tiers, 65,536 GPUs", mrcSource, 0.6,
			float64(half.Switches())/float64(tree.Switches()), 0.01, "%.3f"),
		within("optics, by what they carry", mrcSource, 0.67, float64(optics(half))/8/float64(optics(tree)),
			0.01, "%.3f"),
	}, nil
}
