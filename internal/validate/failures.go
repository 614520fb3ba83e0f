package validate

import (
	"fmt"

	"railyard/internal/result"
	"railyard/unit"
)

// failing is two rails under four spines; a cable from a rail to a spine breaks, and routes
// avoid it 20 ms later.
const failing = `
name: failures
fabric: {kind: rail, hosts: 4, spines: 4, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
transport: {timeout: 12}
workload: {traffic: {alltoall: {bytes: 16MB}}}
failures:
  - {link: 'rail-1:Eth5', at: 100us, converge: 20ms}
`

// holed is a flow sprayed over two links of which one fails.
const holed = `
name: holed
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 30m}}
lb: spray
cc: {algorithm: none}
transport: {timeout: 8}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-9/gpu-1, bytes: 4MB}]}}
failures:
  - {link: 'leaf-1-1:Eth3', at: 50us, converge: 3ms}
`

// failures: each broken link loses packets until its own convergence, independent of other failures.
func failures() ([]Row, error) {
	const source = "definition: routes avoid a link once its own convergence is over"
	times := func(text, more string) (first, both *result.Summary, err error) {
		a := must(finish(text))
		b := must(finish(text + more))
		first, _, _ = a.Outcome("validate")
		both, _, _ = b.Outcome("validate")
		return first, both, nil
	}
	one, two := must2(times(failing, "  - {link: 'rail-2:Eth6', at: 150us, converge: 100us}\n"))
	rows := []Row{{
		Claim:    "a second broken link that converges earlier does not repair the first: step time",
		Source:   source,
		Expected: fmt.Sprintf("at least %v", unit.Time(one.StepTime)), Ours: unit.Time(two.StepTime).String(),
		Diff: fmt.Sprintf("%+.2f %%", 100*float64(two.StepTime-one.StepTime)/float64(one.StepTime)),
		OK:   two.StepTime >= one.StepTime,
	}, {
		Claim: "the same, packets lost on broken links", Source: source,
		Expected: fmt.Sprintf("at least %d", one.DropsDown), Ours: fmt.Sprint(two.DropsDown),
		Diff: fmt.Sprintf("%+d", two.DropsDown-one.DropsDown), OK: two.DropsDown >= one.DropsDown,
	}}
	alone, other := must2(times(holed, "  - {link: 'leaf-1-2:Eth3', at: 60us, converge: 5us}\n"))
	flap := must(finish(narrowing+"failures: [{link: 's1:Eth1', at: 400us, until: 400050ns, converge: 1ms}]\n",
		"switch.queues.3.xoff=1MB", "switch.queues.3.xon=950KB"))
	rows = append(rows, exact("the cable of a paused sender flaps for 50 ns: lossless packets lost after it",
		"IEEE 802.1Q 36: a congested port pauses its peer",
		int64(0), flap.Net.Drops-flap.Net.DownDrops))
	broken := must(breaks())
	rows = append(rows, broken...)
	rows = append(rows, must(portsLost())...)
	return append(rows, exact("a flow alone, a broken cable on its path: another one breaks elsewhere", source,
		unit.Time(alone.StepTime).String(), unit.Time(other.StepTime).String())), nil
}

// portsLost returns the remaining rate of a NIC of several ports, each in a plane, when one of them fails at either
// end.
func portsLost() (rows []Row, err error) {
	const (
		source = "MRC, published results (docs/references.md, mrc): a port of 4 lost leaves 75 %, of 8 lost 87.5 %"
		text   = `
fabric:
  types: {host: {gpus: 1, nics: 1, nic_ports: %[1]d, nic_rate: 100Gbps}, leaf: {ports: 64x100Gbps}}
  nodes: {host: {type: host, count: 2}, leaf: {type: leaf, per: {plane: %[1]d}}}
  cables: [{from: host, to: leaf, match: {plane: port}, length: 5m}]
server: {bond: spray}
transport: {write: only, recovery: selective}
cc: {algorithm: none}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 16MiB}]}}
`
	)
	for _, n := range []int{4, 8} {
		whole := must(finish(fmt.Sprintf(text, n)))
		for _, end := range []string{"host-1:nic1p1", "host-2:nic1p2"} {
			r := must(finish(fmt.Sprintf(text, n) + "failures: [{link: '" + end + "', at: 0ns, converge: 0ns}]\n"))
			rows = append(rows, within(fmt.Sprintf("a NIC of %d ports that sprays, %s is down: percent of its rate",
				n, end), source, 100-100/float64(n), 100*float64(whole.Exec.End[0])/float64(r.Exec.End[0]),
				0.005,
				"%.1f"))
		}
	}
	return rows, nil
}
