package validate

import (
	"fmt"
	"strings"

	"railyard/internal/planner"
	"railyard/unit"
)

// circuitRows are fabrics with an optical circuit switch: a dragonfly that grows, and a ring of cubes that loses a
// cube.
func circuitRows() ([]Row, error) {
	const (
		kim = "Kim et al. 2008: L global links of a group in a balanced dragonfly, L/(g-1) to each other"
		tpu = "Jouppi et al. 2023, TPU v4: OCSes route around what fails"
	)
	grow := planner.CircuitInput{Groups: 4, Fibres: 12, Pattern: planner.EvenPattern, Grow: 5}
	g := must(grow.Plan())
	const first, later = "{from: h1/gpu-1, to: h2/gpu-1, bytes: 50MB}", ", start: 20ms}"
	var rows []Row
	rate := func(in planner.CircuitInput, c *planner.Circuits, flow, more string) (float64, error) {
		r := must(finish(optical(in, c, flow, more)))
		last := len(r.Exec.End) - 1
		return 50e6 * 8 / (r.Exec.End[last] - r.Exec.Start[last]).Seconds() / 1e9, nil
	}
	for _, x := range []struct {
		claim, flow string
		fibres      float64
	}{{"dragonfly of 4 groups on an OCS, 12 fibres of 100G each: one group to another", first, 4},
		{"the same when it has grown to 5", strings.Replace(first, "}", later, 1), 3},
		{"the new group to an old one", strings.NewReplacer("h1", "h5", "}", later).Replace(first), 3}} {
		got := must(rate(grow, g, x.flow, ""))
		rows = append(rows, within(x.claim+", Gbit/s", kim, x.fibres*100*4096/4178, got, 0.02, "%.1f"))
	}
	rows = append(rows, exact("circuits that move when it grows, of 24; no cable does",
		"half of the new group's fibres", 6,
		g.Dark))
	lose := planner.CircuitInput{Groups: 5, Fibres: 8, Pattern: planner.RingPattern, Without: 3}
	l := must(lose.Plan())
	const fails = "events: [{switch: s3, at: 4ms, up: false}]\n"
	for _, x := range []struct{ claim, from, to string }{
		{"ring of 5 cubes, 4 fibres of 100G each way: a cube to the next, whole", "h2", "h3"},
		{"the same across a cube that has failed", "h2", "h4"}} {
		flow, more := fmt.Sprintf("{from: %s/gpu-1, to: %s/gpu-1, bytes: 50MB", x.from, x.to), ""
		if x.to == "h4" {
			flow, more = flow+", start: 20ms", fails
		}
		got := must(rate(lose, l, flow+"}", more))
		rows = append(rows, within(x.claim+", Gbit/s", tpu, 400*4096.0/4178, got, 0.02, "%.1f"))
	}
	more, err := cubeRows(tpu)
	return append(rows, more...), err
}

// cubeRows compares a torus of cubes in which a spare cube replaces a failed one. The same traffic among the
// connected cubes takes equal times before the failure, after it, and on a torus of fixed links.
func cubeRows(tpu string) ([]Row, error) {
	four := must((planner.CubeInput{Along: [3]int{4, 4, 4}, Side: 4, Spares: 1, Without: 7}).Plan())
	rows := []Row{
		exact("circuit switches of 64 cubes of 4 x 4 x 4", "TPU v4 has 48 (docs/references.md, deadlock-free)", 48, four.Switches),
		exact("circuits that move round a failed cube, of 3,072", "a cube's 96 fibres", 96, four.Moved)}
	const text = `
fabric: {kind: cubes, k: 2, %s host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, delay: 100ns}}
server: {gpus: 1, nics: 1}
lb: dimension-order
cc: {algorithm: none}
transport: {recovery: selective, write: only}
jobs:
  - {name: all, on: [%s], start: %s, traffic: {alltoall: {bytes: 1MB}}}
events: [%s]
`
	took := func(hosts, start, events string) (unit.Time, error) {
		r := must(finish(fmt.Sprintf(text, "cubes: [3, 1, 1], optics: {spares: 1, swaps: [{at: 2ms, out: cube-2, in: cube-4}]},", hosts, start, events)))
		return r.Exec.End[len(r.Exec.End)-1] - r.Plan.Jobs[0].Start, nil
	}
	before := must(took("\"host-[1-24]\"", "0s", ""))
	after := must(took(`"host-[1-8]", "host-[25-32]", "host-[17-24]"`, "20ms", "{cube: cube-2, at: 1ms, up: false}"))
	return append(rows, within("all-to-all of 24 switches in 3 cubes, with a spare one for the second, us",
		tpu+"; as with all three whole", float64(before)/1e6, float64(after)/1e6, 0.001, "%.2f")), nil
}

// optical is a scenario of groups, each a switch with a server and its fibres, whose circuits move at 5 ms.
func optical(in planner.CircuitInput, c *planner.Circuits, flow, more string) string {
	n := max(in.Groups, in.Grow)
	var hosts, switches, links []string
	for g := 1; g <= n; g++ {
		hosts = append(hosts, fmt.Sprintf("h%d", g))
		switches = append(switches, fmt.Sprintf("{name: s%d, role: leaf}", g))
		links = append(links, fmt.Sprintf("{from: h%d, to: s%[1]d}, {from: s%[1]d, to: ocs-1, count: %d}",
			g, in.Fibres))
	}
	words := func(list []planner.Circuit) string {
		var all []string
		for _, x := range list {
			all = append(all, x.String())
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf(`
fabric:
  kind: graph
  allow_deadlock: true
  host_link: {rate: 800Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  graph:
    hosts: [%s]
    switches: [%s]
    links: [%s]
    ocs: [{name: ocs-1, ports: %d, reconfigure: %v, circuits: [%s],
      schedule: [{at: 5ms, circuits: [%s]}]}]
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
lb: spray
transport: {recovery: selective, write: only}
workload: {traffic: {flows: [%s]}}
%s`, strings.Join(hosts, ", "), strings.Join(switches, ", "), strings.Join(links, ", "), c.Ports,
		10*unit.Millisecond,
		words(c.Before), words(c.After), flow, more)
}
