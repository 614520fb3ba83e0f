package validate

import (
	"fmt"
	"strings"

	"railyard/unit"
)

// creditRows holds credit to what csg-htsim and uet-htsim print for it (docs/references.md, htsim-outputs): 100 Gbit/s,
// 1 us per hop, three tiers, 2 MB a flow, queues of 35 packets (EQDS) and of one path's worth (RCCC) that trim, and
// mark between a fifth and four fifths. There a flow ends with the acknowledgement of its last packet, so the return
// path of one is added here. Their packets take turns on paths that a NIC chooses; here switches choose the least
// loaded one, which is about as even.
func creditRows(large bool) ([]Row, error) {
	const (
		eqds = "csg-htsim, 4000 B packets; docs/references.md, htsim-outputs"
		rccc = "uet-htsim, validate_uec_rcv.out; docs/references.md, htsim-outputs"
		both = "uet-htsim, validate_uec_both.out; docs/references.md, htsim-outputs"
		all  = sameMatrix
	)
	var rows []Row
	for _, c := range []struct {
		claim, source, algorithm string
		k                        int
		traffic, lb              string
		queue                    int // packets
		want, tolerance          float64
		mean                     float64 // 0: not compared
	}{
		{"EQDS, permutation of 16 hosts", eqds, "eqds", 4, permutation16(), "", 35, 201.6, 0.08, 0},
		{"EQDS, permutation of 1,024 hosts", eqds, "eqds", 16, all, "", 35, 205.8, 0.08, 197.8},
		{"RCCC, one flow", rccc, "rccc", 4, flows16(0, 15), "", 43, 177.4, 0.01, 0},
		{"RCCC, two hosts to one another", rccc, "rccc", 4, flows16(0, 15, 15, 0), "", 43, 178.2, 0.01, 0},
		{"RCCC, permutation of 16 hosts", rccc, "rccc", 4, permutation16(), "", 43, 195.7, 0.08, 0},
		{"RCCC, permutation of 1,024 hosts", rccc, "rccc", 16, all, "", 43, 203.4, 0.08, 0},
		{"NSCC with RCCC, one flow", both, "uec", 4, flows16(0, 15), "", 43, 177.4, 0.01, 0},
		{"NSCC with RCCC, permutation of 16 hosts", both, "uec", 4, permutation16(), "", 43, 196.8, 0.08, 0},
		{"NSCC with RCCC, permutation of 1,024 hosts", both, "uec", 16, all, "", 43, 202.6, 0.08, 0},
		{"RCCC, permutation of 1,024 hosts, a path each", rccc, "rccc", 16, all, "ecmp", 43, 1063, 0.1, 0},
	} {
		if c.k == 16 && !large {
			continue
		}
		got := must(onCredit(c.k, c.algorithm, c.traffic, c.lb, c.queue))
		row := func(what string, want, got float64) {
			rows = append(rows, within(c.claim+what, c.source, want, got, c.tolerance, "%.1f"))
		}
		if row(": slowest, us", c.want, got.slowest); c.mean > 0 {
			row(": mean, us", c.mean, got.mean)
		}
	}
	for _, c := range []struct {
		claim, source, algorithm string
		want                     float64
	}{{"RCCC, 15 to one", rccc, "rccc", 2464.4}, {"NSCC with RCCC, 15 to one", both, "uec", 2462.9}} {
		incast := must(onCredit(4, c.algorithm, "incast: {bytes: 2MB, fan_in: 15}", "", 43))
		const bound = 15*162.5 + 13
		rows = append(rows,
			within(c.claim+": slowest, us", c.source, c.want, incast.slowest, 0.02, "%.1f"),
			atMost(c.claim+": slowest over what the link must carry", c.source, 1.03, incast.slowest/bound, "%.4f"),
			exact(c.claim+": drops", "trimming", 0, incast.drops))
	}
	more, err := seedIncasts()
	if err != nil || !large {
		return append(rows, more...), err
	}
	roce := must(pausedPermutation())
	deep, err := deepIncasts()
	return append(append(append(rows, more...), roce), deep...), err
}

// permutation16 is perm_16n_16c_2MB.cm of both repositories.
func permutation16() string {
	return flows16(7, 5, 15, 1, 0, 13, 14, 8, 1, 3, 6, 7, 5, 11, 9, 12, 11, 4, 3, 14, 12, 15, 2, 10, 13, 2,
		10, 6, 4, 0, 8, 9)
}

// flows16 are flows of 2 MB between pairs of hosts, which there count from 0.
func flows16(pairs ...int) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "{from: host-%d/gpu-1, to: host-%d/gpu-1, bytes: 2MB}, ", pairs[i]+1, pairs[i+1]+1)
	}
	return "flows: [" + strings.TrimSuffix(b.String(), ", ") + "]"
}

// creditRun is the times of flows on credit, in us until the last acknowledgement.
type creditRun struct {
	slowest, mean float64
	drops         int
}

// ackBack is the time of an acknowledgement over six hops, in us.
const ackBack = 6 * (1 + (ackFrame+wireGap)*8/100e3)

// trimPacket is a full packet without the preamble and gap, which switches do not store.
const trimPacket = 4096 + middleFrame

// onCredit runs flows on credit; lb is empty for all paths.
func onCredit(k int, algorithm, traffic, lb string, packets int) (c creditRun, err error) {
	if lb == "" {
		lb = "spray-least"
	}
	r := must(finish(fmt.Sprintf(`
name: credit
fabric: {kind: fat-tree, k: %d, pipeline: 0s, host_link: {rate: 100Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
switch: {trim: {size: 64B, either: true}, queues: {3: {lossless: false, trim: true, limit: %dB, ecn: true,
  wred_min: %dB, wred_max: %dB, probability: 100}}}
cc: {algorithm: %s}
lb: %s
transport: {recovery: selective, write: only}
workload: {traffic: {%s}}
`, k, packets*trimPacket, packets*trimPacket/5, packets*trimPacket*4/5, algorithm, lb, traffic)))
	s, _, _ := r.Outcome("")
	us := func(t int64) float64 { return unit.Time(t).Seconds()*1e6 + ackBack }
	return creditRun{us(int64(s.Flows.Max)), us(int64(s.Flows.Mean)), int(r.Net.Drops)}, nil
}

// seedIncasts are the two places of the source's incast without trimming, with all data on credit. At four senders
// to one NIC, no more is queued than each sender's last grant. Twice the rate of a spine's link to a leaf, for four
// receivers that cannot see it, is queued up to the senders' windows.
func seedIncasts() ([]Row, error) {
	const fabric = `
name: incast
fabric: {kind: rail, hosts: 8, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 100m},
  fabric_link: {rate: 100Gbps, cable: 100m}}
server: {gpus: 3, nics: 3}
cc: {algorithm: eqds, eqds: {profile: request}}
transport: {recovery: selective}
workload: {traffic: {flows: [%s]}}
`
	var rows []Row
	for _, c := range []struct {
		place, port, flows string
		windows            bool // bound what waits; else grants of a packet each do
	}{
		{"leaf to NIC", "rail-3", flowsOf("1/1 8/3, 2/1 8/3, 3/2 8/3, 4/2 8/3"), false},
		{"spine to leaf", "spine-1", flowsOf("1/1 5/3, 2/1 6/3, 3/2 7/3, 4/2 8/3"), true},
	} {
		r := must(finish(fmt.Sprintf(fabric, c.flows)))
		s, _, _ := r.Outcome("")
		most, bound := 0.0, 0.0
		for port := range int32(len(r.Net.Ports)) {
			if strings.HasPrefix(r.PortName(port), c.port+":") {
				most = max(most, float64(r.Net.QueuePeak(port, int(r.Hosts.Service(0).Class)))/trimPacket)
			}
		}
		for conn := range int32(r.Hosts.Conns()) {
			if bound++; c.windows {
				bound += float64(r.Hosts.Controller(conn).Decision().Window)/4096 - 1
			}
		}
		const line = 4 * 4e6 * 4174 / 4096 * 8 / 100e3 // us
		what := "EQDS, incast from " + c.place
		rows = append(rows,
			atMost(what+": most that waits, packets", "each sender's grant, or window", bound, most, "%.1f"),
			within(what+": slowest, us", "the link's rate", line, float64(s.Flows.Max)/1e6, 0.03, "%.0f"),
			exact(what+": drops", "credit", 0, int(r.Net.Drops)))
	}
	return rows, nil
}

// flowsOf are flows of 4 MB between GPUs, as "host/gpu host/gpu".
func flowsOf(pairs string) string {
	var b strings.Builder
	for i, pair := range strings.Split(pairs, ", ") {
		var from, gpu, to, far int
		fmt.Sscanf(pair, "%d/%d %d/%d", &from, &gpu, &to, &far)
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "{from: host-%d/gpu-%d, to: host-%d/gpu-%d, bytes: 4MB}", from, gpu, to, far)
	}
	return b.String()
}

// pausedPermutation is csg-htsim's RoCE: no congestion control, PFC from 15 packets on an ingress down to 12, and
// one path for each flow by its hash. Runs there, each with another hash, took between 518 and 553.
func pausedPermutation() (Row, error) {
	r := must(finish(`
name: roce
fabric: {kind: fat-tree, k: 16, pipeline: 0s, host_link: {rate: 100Gbps, delay: 1us}}
server: {gpus: 1, nics: 1, nic_latency: 0s}
switch: {queues: {3: {xoff: 60KB, xon: 48KB}}}
cc: {algorithm: none}
lb: ecmp
workload: {traffic: {matrix: perm1024.cm}}
`))
	s, _, _ := r.Outcome("")
	mean := float64(s.Flows.Mean)/1e6 + ackBack
	return within("RoCE with PFC, permutation of 1,024 hosts on one path each: mean, us",
		"csg-htsim, 518 to 553; docs/references.md, htsim-outputs", (518+553)/2., mean, 0.1, "%.1f"), nil
}

// atMost is a row with a bound.
func atMost(claim, source string, bound, got float64, format string) Row {
	return Row{Claim: claim, Source: source, Expected: "<= " + fmt.Sprintf(format, bound),
		Ours: fmt.Sprintf(format, got), Diff: fmt.Sprintf("%+.1f %%", 100*(got/bound-1)), OK: got <= bound}
}
