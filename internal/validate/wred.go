package validate

import (
	"fmt"
	"strings"

	"railyard/internal/result"
	"railyard/unit"
)

// seedQueues is the RoCE queue after the six DCQCN steps of the source document.
const seedQueues = `class-map type qos match-any ROCEv2
  match dscp 24
class-map type qos match-any CNP
  match dscp 48
policy-map type qos QOS_CLASSIFICATION
  class ROCEv2
    set qos-group 3
  class CNP
    set qos-group 7
policy-map type queuing QOS_EGRESS_PORT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes drop-probability 7 weight 0 ecn
  class type queuing c-out-8q-q7
    priority level 1
policy-map type network-qos qos_network
  class type network-qos c-8q-nq3
   mtu 9216
   pause pfc-cos 3
system qos
  service-policy type network-qos qos_network
  service-policy type queuing output QOS_EGRESS_PORT
interface Ethernet 2/24
  priority-flow-control mode on
  service-policy type qos input QOS_CLASSIFICATION
`

// threeFlows is the source's figure 12-4 on switches that run seedQueues.
const threeFlows = `
name: three-flows
seed: 14
fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
switches: {config: queues.cfg}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-4/gpu-2, bytes: 16MiB}
      - {from: host-2/gpu-1, to: host-4/gpu-2, bytes: 16MiB}
      - {from: host-3/gpu-1, to: host-4/gpu-2, bytes: 16MiB}
`

// turnedAround sends data and CNPs through the same congested queues.
const turnedAround = `
name: turned-around
fabric: {kind: rail, hosts: 4, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
workload: {traffic: {alltoall: {bytes: 32MB}}}
`

// wredDrops: WRED marks or drops by its configuration, also where PFC is on, and drops packets that cannot be
// marked.
func wredDrops() ([]Row, error) {
	run := func(config string) (*result.Summary, unit.Bytes, error) {
		r := must(startWith(threeFlows, func(string) ([]byte, error) { return []byte(config), nil }))
		do(r.Go(nil))
		peak := unit.Bytes(0)
		for port := range r.Net.Ports {
			peak = max(peak, r.Net.QueuePeak(int32(port), 3))
		}
		s, _, _ := r.Outcome("validate")
		return s, peak, nil
	}
	good, _ := must2(run(seedQueues))
	bad, peak := must2(run(strings.Replace(seedQueues, " ecn\n", "\n", 1)))
	const seed = "source document, step 3; NX-OS random-detect without ecn drops, PFC or not"
	drops := func(s *result.Summary) string { return fmt.Sprintf("%d", s.Drops) }
	rows := []Row{
		exact("the source's configuration: drops", seed, "0", drops(good)),
		{Claim: "the source's configuration without ecn: drops, all by WRED", Source: seed, Expected: "> 0",
			Ours: drops(bad), Diff: "-",
			OK: bad.Drops > 0 && bad.Drops == bad.DropsWRED},
		{Claim: "the same: marks", Source: seed, Expected: "0", Ours: fmt.Sprint(bad.ECNMarks), Diff: "-",
			OK: bad.ECNMarks == 0},
		{Claim: "the same: longest queue", Source: seed, Expected: "WRED's maximum and one frame at most",
			Ours: peak.String(), Diff: "-", OK: peak <= 3000*unit.KB+9216},
		{Claim: "the same: step time, go-back-N", Source: seed,
			Expected: fmt.Sprintf("more than %v, with ecn", unit.Time(good.StepTime)),
			Ours:     unit.Time(bad.StepTime).String(), Diff: "-", OK: bad.StepTime > good.StepTime},
	}
	for _, c := range []struct {
		queue int
		lost  bool
	}{{7, false}, {3, true}} {
		r := must(finish(turnedAround, fmt.Sprintf("switch.dscp.48=%d", c.queue)))
		want := "0"
		if c.lost {
			want = "> 0, no data packet"
		}
		rows = append(rows, Row{Claim: fmt.Sprintf("CNPs, which are Not-ECT, in queue %d: dropped", c.queue),
			Source:   "RFC 3168, sections 5 and 7: dropped where an ECN-capable packet is marked",
			Expected: want, Ours: fmt.Sprintf("%d of %d", r.Net.WREDDrops, r.Hosts.Count.CNPs), Diff: "-",
			OK: (r.Net.WREDDrops > 0) == c.lost && r.Net.Drops == r.Net.WREDDrops &&
				r.Hosts.Count.Retransmissions == 0})
	}
	return rows, nil
}
