package validate

import (
	"fmt"

	"railyard/unit"
)

// trimRows compares trimming switches with closed forms, and NDP with csg-htsim. For 1,024 hosts see
// docs/references.md, htsim-outputs. The figures for 16 hosts are runs of its main_ndp that were made for these
// rows, with an initial window of 50 packets and queues of 8. The options are -strat ecmp_host -paths 128 for the
// permutation and -strat perm for the incast. Packets of htsim have 4,000 bytes, and no gap between them. A flow of
// htsim ends with the acknowledgement of its last packet, so the time of one acknowledgement is added here.
func trimRows(large bool) ([]Row, error) {
	const (
		csg  = "csg-htsim, 4000 B packets; docs/references.md, htsim-outputs"
		runs = "csg-htsim, main_ndp -cwnd 50 -q 8"
	)
	var rows []Row
	for _, c := range []struct {
		claim, source   string
		k               int
		traffic, lb     string
		mean, slowest   float64
		within, slowTol float64
	}{
		{"NDP, permutation of 1,024 hosts", csg, 16, sameMatrix, "lb: spray", 206.8, 231.1, 0.05, 0.08},
		{"NDP, permutation of 16 hosts, 128 paths", runs, 4, permutation16(),
			"lb: entropy\nlb_options: {source_ports: 128}", 193.8, 206.2, 0.08, 0.08},
		{"NDP, 15 to one", runs, 4, "incast: {bytes: 2MB, fan_in: 15}", "lb: spray", 2459.9, 2481.1, 0.03, 0.02},
	} {
		if c.k == 16 && !large {
			continue
		}
		r := must(finish(fmt.Sprintf(ndpText, c.k, 7*trimFrame, c.lb, c.traffic)))
		s, _, _ := r.Outcome("")
		us := func(t int64) float64 { return unit.Time(t).Seconds()*1e6 + ackBack }
		rows = append(rows,
			within(c.claim+": mean, us", c.source, c.mean, us(int64(s.Flows.Mean)), c.within, "%.1f"),
			within(c.claim+": slowest, us", c.source, c.slowest, us(int64(s.Flows.Max)), c.slowTol, "%.1f"),
			exact(c.claim+": time-outs and drops", "headers get through", 0, s.Timeouts+s.Drops))
	}
	more, err := trimmedIncasts()
	return append(rows, more...), err
}

// trimFrame is a full packet in a switch's queue.
const trimFrame = 4096 + firstFrame

const ndpText = `
name: ndp
fabric: {kind: fat-tree, k: %d, pipeline: 0s, host_link: {rate: 100Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
switch: {pfc: false, trim: {size: 64B, either: true},
  queues: {3: {trim: true, limit: %dB, wred_max: 0B, wred_min: 0B}, 7: {limit: 64KB}}}
cc: {algorithm: ndp}
%s
transport: {recovery: selective, write: only, ack_every: 1, acks: cnp}
workload: {traffic: {%s}}
`

// trimmedIncasts are senders at line rate, without any congestion control, to one receiver of the same switch. The
// queue of data holds its limit and no more. While a frame leaves, each sender delivers another. While their
// headers take less time than the frame, at most two per sender are queued. The arrivals equal the sent packets,
// and the receiver's link carries only them and the headers of the rest.
func trimmedIncasts() ([]Row, error) {
	var rows []Row
	for _, n := range []int{4, 15, 40} {
		const limit, bytes = 12 * trimFrame, 400 * 4096
		r := must(finish(fmt.Sprintf(`
name: incast
fabric: {kind: rail-only, hosts: %d, pipeline: 0s, host_link: {rate: 100Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
switch: {pfc: false, trim: {size: 64B}, queues: {3: {trim: true, limit: %dB, wred_max: 0B, wred_min: 0B}}}
cc: {algorithm: none}
transport: {recovery: selective, write: only}
workload: {traffic: {incast: {bytes: %dB, fan_in: %d}}}
`, n+1, limit, bytes, n)))
		s, _, _ := r.Outcome("")
		var data, heads unit.Bytes
		for port := range int32(len(r.Net.Ports)) {
			data = max(data, r.Net.QueuePeak(port, 3))
			heads = max(heads, r.Net.QueuePeak(port, 7))
		}
		claim := fmt.Sprintf("trimming, %d to one at line rate", n)
		wire := float64(n*400)*(trimFrame+wireGap) + float64(s.Trims)*(64+wireGap)
		rows = append(rows,
			exact(claim+": most data that waits, bytes", "the queue's limit", unit.Bytes(limit), data),
			atMost(claim+": most headers that wait, bytes", "two headers of each sender", float64(2*64*n),
				float64(heads), "%.0f"),
			within(claim+": time, us", "data and headers at line rate", wire*8/100e3,
				float64(s.Flows.Max)/1e6, 0.02, "%.1f"),
			exact(claim+": payload trimmed and retransmitted, bytes", "conservation", s.TrimmedBytes,
				s.Retransmissions*4096),
			exact(claim+": drops", "trimming", 0, s.Drops))
	}
	return rows, nil
}
