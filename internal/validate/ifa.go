package validate

import (
	"fmt"

	"railyard/roce"
	"railyard/unit"
)

// Bytes of the in-band flow analyzer (draft-kumar-ippm-ifa-08): two headers of a word of 4 bytes each, and the metadata
// of LNS 1, 8 words.
const (
	ifaHeaders = 4 + 4
	ifaSwitch  = 8 * 4
)

// threeSwitches is a path over three switches, with other flows on its cables.
const threeSwitches = `
fabric: {kind: graph, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 200Gbps, cable: 30m},
  graph: {
  hosts: [host-1, host-2, host-3, host-4], switches: [{name: leaf-1, role: leaf}, {name: leaf-2, role: leaf},
    {name: spine-1, role: spine}],
  links: [{from: host-1, to: leaf-1}, {from: leaf-1, to: spine-1}, {from: spine-1, to: leaf-2},
    {from: host-2, to: leaf-2}, {from: host-3, to: leaf-1}, {from: host-4, to: leaf-2}]}}
server: {gpus: 1, nics: 1}
cc: {algorithm: hpcc, hpcc: {ifa: true}}
`

// ifaRows holds IFA's bytes to closed forms and its metadata to captured frames, and compares HPCC by IFA with HPCC by
// INT.
func ifaRows() (rows []Row, err error) {
	const size, packets = 4_096_000, 1000
	r := must(finish("name: ifa" + threeSwitches +
		fmt.Sprintf("workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: %dB}]}}\n", size)))
	data := float64(size + packets*(middleFrame+ifaHeaders+wireGap) + 2*reth - reth)
	for hops, port := range []string{"host-1:nic1", "leaf-1:Eth2", "spine-1:Eth2", "leaf-2:Eth2"} {
		l, node, _ := r.Graph.FindPort(port)
		rows = append(rows, exact(fmt.Sprintf("IFA: bytes of 1,000 packets after %s, preamble and gap included", unit.Plural(hops, "switch")),
			"draft-kumar-ippm-ifa-08: 8 B, and 32 B of each switch", int(data)+packets*hops*ifaSwitch,
			int(r.Net.Ports[r.Port(l, node)].TxBytes)))
	}
	l, node, _ := r.Graph.FindPort("host-2:nic1")
	rows = append(rows, exact("IFA: bytes of 1,000 acknowledgements that return the metadata of three switches",
		"closed form: 66 B, 8 B of headers, 96 B of metadata, 20 B of preamble and gap",
		packets*(ackFrame+ifaHeaders+3*ifaSwitch+wireGap), int(r.Net.Ports[r.Port(l, node)].TxBytes)))
	right, all := must2(analyzedFrames())
	rows = append(rows, exact("IFA: metadata at the receiver that equals the frames captured at three ports: clock, bytes sent, port",
		"draft-kumar-ippm-ifa-08, LNS 1", all, right))
	more, err := hpccByIFA()
	return append(rows, more...), err
}

// hpccByIFA compares both kinds of telemetry in an incast and in a permutation.
func hpccByIFA() (rows []Row, err error) {
	slowest := func(traffic string, ifa bool) (us float64, err error) {
		r := must(finish(fmt.Sprintf(`
name: ifa
fabric: {kind: fat-tree, k: 4, host_link: {rate: 400Gbps, delay: 1us}}
server: {nic_latency: 0s}
cc: {algorithm: hpcc, hpcc: {ifa: %t}}
workload: {traffic: {%s}}
`, ifa, traffic)))
		s, _, _ := r.Outcome("")
		return float64(s.Flows.Max) / 1e6, nil
	}
	for _, c := range []struct{ name, traffic string }{
		{"15 to one", "incast: {bytes: 4MB, fan_in: 15}"}, {"permutation of 16 hosts", "permutation: {bytes: 16MB}"}} {
		byINT, byIFA := must(slowest(c.traffic, false)), must(slowest(c.traffic, true))
		// The receiver's link carries up to 168 B of IFA per packet, 42 B of INT.
		const frame = 4096 + middleFrame + wireGap
		form := float64(frame+ifaHeaders+5*ifaSwitch) / (frame + intHeader)
		rows = append(rows, within(fmt.Sprintf("HPCC by IFA, %s: slowest flow, us", c.name),
			"HPCC by INT next to it, by the bytes of both over five switches", byINT*form, byIFA, 0.03, "%.1f"))
	}
	return rows, nil
}

// analyzedFrames counts the packets whose metadata, as they leave the last switch, equals the frames captured at three
// ports, and all.
func analyzedFrames() (right, all int, err error) {
	r := must(start("name: metadata" + threeSwitches + `
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 4MB},
  {from: host-3/gpu-1, to: host-4/gpu-1, bytes: 2MB}, {from: host-4/gpu-1, to: host-2/gpu-1, bytes: 1MB}]}}
`))
	c := must(r.Capture([]string{"leaf-1:Eth2", "spine-1:Eth2", "leaf-2:Eth2"}, 0, unit.Second))
	do(r.Go(nil))
	type left struct {
		at   unit.Time
		sent uint32
	}
	var sent [3]uint32
	by := map[uint32][3]left{} // by PSN: departure time at each port, and the port's bytes sent
	c.Frames(func(at unit.Time, port int, out bool, b []byte, _ string) {
		var f roce.Frame
		if !out || f.Decode(b) != nil {
			return
		}
		if f.IP.Src == f.IP.Dst.Prev() { // host-1's, which pass all three
			l := by[f.BTH.PSN]
			l[port] = left{at / unit.Nanosecond * unit.Nanosecond, sent[port]}
			if by[f.BTH.PSN] = l; port == 2 {
				all++
				hops, ok := f.IFA.Hops()
				good := ok && len(hops) == 3 && f.IFA.Limit == 2
				for i := range hops {
					good = good && hops[i].At() == l[i].at && hops[i].Sent == l[i].sent && hops[i].Egress == 2 &&
						hops[i].Ingress == [3]uint16{1, 1, 1}[i]
				}
				if good {
					right++
				}
			}
		}
		sent[port] += uint32(len(b) + 4 + wireGap) // plus the FCS, which captures omit
	})
	return right, all, nil
}
