package validate

import (
	"fmt"

	"railyard/roce"
	"railyard/unit"
)

var lessNews = reason("one signal for each packet",
	"A tag has the available bandwidth of one port over the last microsecond, or its delay in the next packet. INT has both, of every port.",
	"cc.hpcc.csig=0", "INT, and no difference; cc.hpcc.csig_interval from 250 ns to 2 us leaves +13 to +31 %")

// csigRows compares the tags of congestion signaling with the activity of the ports on the path, from frames
// captured there. It also compares HPCC by tags with HPCC by telemetry.
func csigRows() (rows []Row, err error) {
	for _, size := range []int{4, 8} {
		right, all := must2(tags(size))
		rows = append(rows, exact(fmt.Sprintf("CSIG, %d B: tags at the receiver that are the least over three ports of the quantised available share", size), "draft-ravi-ippm-csig", all, right))
	}
	slowest, carried := must2(bySignal("hpcc"))
	for _, size := range []int{4, 8} {
		// A host sends its own data and acknowledges the same number of packets.
		packets := 128 * 2e6 / 4096.0
		claim := fmt.Sprintf("HPCC with CSIG of %d B", size)
		saved := within(claim+", not INT: bytes saved per packet and its answer", "docs/references.md, hpcc and csig",
			2*float64(intHeader-size), (carried[0]-carried[size])/packets, 0.02, "%.1f")
		slower := within(claim+", permutation of 128 hosts: slowest flow, us", "HPCC with INT next to it",
			slowest[0], slowest[size], 0.1, "%.1f").because(lessNews)
		rows = append(rows, saved, slower)
	}
	more, err := swiftByTags(carried[0])
	return append(rows, more...), err
}

// bySignal returns the time of the slowest flow of a permutation in us and the bytes that hosts send. It runs an
// algorithm without a tag and with tags of each size.
func bySignal(algorithm string) (slowest, carried map[int]float64, err error) {
	slowest, carried = map[int]float64{}, map[int]float64{}
	for _, size := range []int{0, 4, 8} {
		r := must(finish(fmt.Sprintf(`
name: csig
fabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: 1us}}
server: {nic_latency: 0s}
cc: {algorithm: %s, %[1]s: {csig: %d}}
workload: {traffic: {permutation: {bytes: 2MB}}}
`, algorithm, size)))
		s, _, _ := r.Outcome("")
		slowest[size] = float64(s.Flows.Max) / 1e6
		for c := range int32(r.Hosts.Conns()) {
			carried[size] += float64(r.Net.Ports[r.Hosts.Port(c)].TxBytes)
		}
	}
	return slowest, carried, nil
}

// swiftByTags compares the equilibrium of Swift with tags with that of Swift by round trips, and both in a
// permutation. Here hpcc is the number of bytes that HPCC's hosts send there with INT.
func swiftByTags(hpcc float64) (rows []Row, err error) {
	alone := must(swiftIncast(1, 1, 0, 0))
	for _, n := range []int{2, 8, 32} {
		got := must(swiftIncast(n, 1, 8, 0))
		claim := fmt.Sprintf("Swift with CSIG of 8 B, %d flows: path's round trip and mean wait, us", n)
		rows = append(rows, within(claim, "Kumar et al. 2020, target delay", swiftDelay(n)*1e6,
			(alone.rtt+got.wait)*1e6, 0.1, "%.2f"))
	}
	slowest, carried := must2(bySignal("swift"))
	for _, size := range []int{4, 8} {
		claim := fmt.Sprintf("Swift with CSIG of %d B, permutation of 128 hosts: ", size)
		rows = append(rows,
			within(claim+"slowest flow, us", "Swift by round trips next to it", slowest[0], slowest[size],
				0.05, "%.1f"),
			within(claim+"bytes sent, of HPCC's with INT", "docs/references.md, hpcc and csig",
				swiftShare(size), carried[size]/hpcc, 0.005, "%.4f"))
	}
	return rows, nil
}

// swiftShare returns a Swift host's bytes per packet relative to HPCC's. Swift has a full packet with its tag and
// at most an eighth of an answer. HPCC has INT and one answer per packet.
func swiftShare(size int) float64 {
	const data, ack = swiftWire, ackFrame + wireGap
	return float64(data+size) / float64(data+ack+2*intHeader)
}

// tags counts the packets with a tag at the last switch. Among them, right counts those whose tag is the minimum of
// the three ports' available bandwidth. A port's available bandwidth is computed from the frames captured there. A
// port takes a sample when a tag leaves, at least an interval after its last sample.
func tags(size int) (right, all int, err error) {
	r := must(start(fmt.Sprintf(`
name: tags
fabric: {kind: graph, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 200Gbps, cable: 30m},
  graph: {
  hosts: [host-1, host-2, host-3, host-4], switches: [{name: leaf-1, role: leaf}, {name: leaf-2, role: leaf},
    {name: spine-1, role: spine}],
  links: [{from: host-1, to: leaf-1}, {from: leaf-1, to: spine-1}, {from: spine-1, to: leaf-2},
    {from: host-2, to: leaf-2}, {from: host-3, to: leaf-1}, {from: host-4, to: leaf-2}]}}
server: {gpus: 1, nics: 1}
cc: {algorithm: hpcc, hpcc: {csig: %d}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 4MB},
  {from: host-3/gpu-1, to: host-4/gpu-1, bytes: 2MB}, {from: host-4/gpu-1, to: host-2/gpu-1, bytes: 1MB}]}}
`, size)))
	ports := []string{"leaf-1:Eth2", "spine-1:Eth2", "leaf-2:Eth2"}
	rates := []unit.Rate{200 * unit.Gbps, 200 * unit.Gbps, 100 * unit.Gbps}
	c := must(r.Capture(ports, 0, unit.Second))
	do(r.Go(nil))
	type look struct {
		at         unit.Time
		sent, then int64
		free       float64
	}
	looks := []look{{free: 1}, {free: 1}, {free: 1}}
	least := map[uint32]roce.CSIG{}
	c.Frames(func(at unit.Time, port int, out bool, b []byte, _ string) {
		var f roce.Frame
		if !out || f.Decode(b) != nil {
			return
		}
		l := &looks[port]
		if f.Tagged && f.CSIG.Type == roce.SignalABWC {
			if gone := at - l.at; gone >= 1024*unit.Nanosecond {
				used := float64(l.sent-l.then) * 8 / (float64(rates[port]) * gone.Seconds())
				l.at, l.then, l.free = at, l.sent, min(1, max(0, 1-used))
			}
			if f.IP.Src == f.IP.Dst.Prev() { // host-1's, which pass all three
				tag, met := least[f.BTH.PSN]
				if !met {
					tag = roce.NewCSIG(size == roce.CSIGWideLen, roce.SignalABWC)
				}
				tag.Replace(l.free, 0)
				least[f.BTH.PSN] = tag
				if port == 2 {
					if all++; tag.Value == f.CSIG.Value {
						right++
					}
				}
			}
		}
		l.sent += int64(len(b) + 4 + wireGap) // plus the FCS, which captures omit
	})
	return right, all, nil
}
