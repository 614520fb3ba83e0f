package validate

import (
	"fmt"
	"math"

	"railyard/internal/rng"
	"railyard/internal/route"
	"railyard/unit"
)

// breaks compares the effects of failures with closed forms.
func breaks() (rows []Row, err error) {
	rows = shrinking()
	for _, of := range []func() ([]Row, error){halfNIC, halfPlanes, blackHole, exhausted, stormBroken} {
		rows = append(rows, must(of())...)
	}
	return rows, nil
}

// shrinking returns which flows move when one of a group's eight ports fails. The hash has a region for each port.
// When one port fails, the regions of the other seven grow. A flow keeps its port where the old region of that port
// overlaps its new one (RFC 2992, section 3).
func shrinking() (rows []Row) {
	const n, flows = 8, 200_000
	whole := make([]int32, n)
	for i := range whole {
		whole[i] = int32(i)
	}
	for _, gone := range []int{7, 3} {
		live := append(append([]int32(nil), whole[:gone]...), whole[gone+1:]...)
		kept := 0.0
		for i := range n {
			switch {
			case i < gone:
				kept += float64(n-1-i) / (n * (n - 1))
			case i > gone:
				kept += float64(i) / (n * (n - 1))
			}
		}
		table, after := route.Refill(whole, whole, 128), route.Refill(whole, live, 128)
		moved, resilient := 0, 0
		r := rng.New(1, "flows")
		for range flows {
			flow := uint32(r.Uint64())
			if whole[route.Hashed(flow, 5, n)] != live[route.Hashed(flow, 5, n-1)] {
				moved++
			}
			if table[route.Hashed(flow, 5, 128)] != after[route.Hashed(flow, 5, 128)] {
				resilient++
			}
		}
		rows = append(rows,
			within(fmt.Sprintf("ECMP: share of flows that move when port %d of 8 fails", gone+1),
				"RFC 2992, section 3: overlap of regions", 1-kept, float64(moved)/flows, 0.02, "%.4f"),
			within(fmt.Sprintf("resilient ECMP: the same, port %d of 8", gone+1),
				"definition: those of the port that went, 1/8", 1.0/n, float64(resilient)/flows, 0.02,
				"%.4f"))
	}
	return rows
}

// halfNIC is a ring all-reduce in which one NIC of eight runs at half its rate. The ring passes each of its
// chunks through every NIC, so the step takes twice as long; one direction of it is enough.
func halfNIC() (rows []Row, err error) {
	const text = `
name: half
fabric: {kind: single-rail, hosts: 8, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {ring-allreduce: {bytes: 64MB}}}
`
	step := func(more string) (float64, error) {
		r := must(finish(text + more))
		s, _, _ := r.Outcome("")
		return float64(s.StepTime), r.Failed()
	}
	whole := must(step(""))
	for _, c := range [][2]string{{"", "both directions"}, {", direction: out", "one direction"}} {
		half := must(step("events: [{nic: host-3/nic-1, rate_share: 0.5" + c[0] + "}]\n"))
		rows = append(rows, within("ring all-reduce, one NIC of eight at half rate, "+c[1]+": times as long",
			"closed form: 2(n-1)/n of the bytes through each NIC", 2, half/whole, 0.02, "%.3f"))
	}
	return rows, nil
}

// halfPlanes is a ring all-reduce whose NICs have two planes. One plane fails after half of the time, and the
// remaining half takes twice as long.
func halfPlanes() ([]Row, error) {
	const text = `
name: planes
fabric:
  types: {host: {gpus: 1, nics: 1, nic_ports: 2, nic_rate: 100Gbps}, leaf: {ports: 64x100Gbps}}
  nodes: {host: {type: host, count: 4}, leaf: {type: leaf, per: {plane: 2}}}
  cables: [{from: host, to: leaf, match: {plane: port}, length: 3m}]
server: {bond: spray}
cc: {algorithm: none}
transport: {write: only, recovery: selective, window: 16384}
workload: {traffic: {ring-allreduce: {bytes: 64MB}}}
`
	step := func(more string) (unit.Time, error) {
		r := must(finish(text + more))
		s, _, _ := r.Outcome("")
		return unit.Time(s.StepTime), r.Failed()
	}
	whole := must(step(""))
	half := must(step(fmt.Sprintf("events: [{switch: leaf-1, at: %dps, up: false}]\n", int64(whole/2))))
	return []Row{within("ring all-reduce over two planes, one of which fails half way: slowdown",
		"closed form: 1/2 + 2 x 1/2", 1.5, float64(half)/float64(whole), 0.02, "%.3f")}, nil
}

// blackHole is a flow at line rate whose spine fails. Its leaf sends into the failed link until it detects the
// failure. Later convergence of routes costs no more time, because the leaf has another spine.
func blackHole() (rows []Row, err error) {
	for _, detect := range []unit.Time{20 * unit.Microsecond, 80 * unit.Microsecond} {
		r := must(finish(fmt.Sprintf(`
name: hole
fabric: {kind: rail, hosts: 1, segments: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}, routing: {detect: %v, converge: 50ms}}
server: {gpus: 1, nics: 1}
lb: spray
cc: {algorithm: none}
transport: {recovery: selective, write: only, window: 16384}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 10MB}]}}
events: [{switch: spine-1, at: 100us, up: false}]
`, detect)))
		s, _, _ := r.Outcome("")
		const frame = 4096 + firstFrame + wireGap // a WRITE Only of a whole packet
		want := detect.Seconds() * 50e9 / 8 / frame
		rows = append(rows, within(fmt.Sprintf("packets of a flow at 100 Gbit/s over two spines lost until the leaf detects the failure of one, %v", detect),
			"closed form: half the rate times the time, a frame of 4,194 B", want, float64(s.DropsDown), 1/want,
			"%.0f")) // one packet
	}
	return rows, nil
}

// exhausted returns when a rank is lost: all tries of the transport's last packet are unanswered.
func exhausted() (rows []Row, err error) {
	for _, exponent := range []int{8, 12} {
		r := must(finish(fmt.Sprintf(`
name: lost
fabric: {kind: single-rail, hosts: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
transport: {timeout: %d}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 64MB}]}}
events: [{nic: host-2/nic-1, at: 1ms, up: false}]
`, exponent)))
		s, _, _ := r.Outcome("")
		at := 0.0
		if s.Outcome != nil {
			at = unit.Time(s.Outcome.At-int64(unit.Millisecond)).Seconds() * 1e3
		}
		rows = append(rows, within(fmt.Sprintf("a NIC's cable breaks: ms until its peer gives up, timeout %d, 7 retries", exponent), "IBTA: 8 tries of 4.096 us x 2^n",
			8*4.096e-3*math.Exp2(float64(exponent)), at, 0.01, "%.3f"))
	}
	return rows, nil
}

// stormBroken is a NIC that pauses without end. Its queued packets wait for the watchdog's detection time and at
// most one more poll.
func stormBroken() (rows []Row, err error) {
	r := must(finish(`
name: storm
fabric: {kind: single-rail, hosts: 3, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {timeout: 10}
switch: {watchdog: {poll: 1ms, detect: 2ms, restore: 2ms}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 10MB},
  {from: host-1/gpu-1, to: host-3/gpu-1, bytes: 10MB}]}}
events: [{nic: host-2/nic-1, at: 300us, storm: true}]
`))
	victim := (r.Hosts.Messages[1].Done - 300*unit.Microsecond).Seconds() * 1e3
	return []Row{{Claim: "a NIC pauses continuously: ms until its victim, a flow of the same sender, is through",
		Source:   "docs/references.md, watchdog: detection of 2 to 3 polls of 1 ms, and what it then still sends",
		Expected: "2 to 4.7", Ours: fmt.Sprintf("%.2f", victim), Diff: "-",
		OK: victim >= 2 && victim <= 4.7}}, nil
}
