package validate

import (
	"fmt"
	"math"
	"strings"

	"railyard/cc"
	"railyard/internal/exec"
	"railyard/internal/sim"
	"railyard/scenarios"
	"railyard/unit"
)

// Story runs one of the source's two sequences, which are shipped scenarios, and returns the events of its report in
// order: of queues, pauses and rates, each at its first occurrence.
func Story(name string) (lines []string, r *sim.Run, err error) {
	defer caught(&err)
	r = must(finish(scenarios.Texts()[name+".yaml"]))
	s, _, _ := r.Outcome("validate")
	for _, h := range s.Story {
		lines = append(lines, fmt.Sprintf("%12v  %s", unit.Time(h.At), h.What))
	}
	return lines, r, nil
}

// order reports which of the wanted phrases appear in the story in order.
func order(lines, want []string) (reached int) {
	for _, l := range lines {
		if reached < len(want) && strings.Contains(l, want[reached]) {
			reached++
		}
	}
	return reached
}

func sequence(claim, source, name string, want []string) ([]Row, error) {
	lines, r := must2(Story(name))
	got := order(lines, want)
	row := exact(claim, source, fmt.Sprintf("%d steps in order", len(want)), fmt.Sprintf("%d steps in order", got))
	if got < len(want) {
		row.Note = "missing: " + want[got]
	}
	return []Row{row, exact(claim+": drops", "lossless", int64(0), r.Net.Drops)}, nil
}

func cascade() ([]Row, error) {
	return sequence("PFC spreads rail C, spine 1, rails A and B, senders, and resumes in that order",
		"seed, PFC steps 1-14", "pfc-cascade", []string{
			"rail-C:Eth2: ingress bytes of class 3 reach xOFF", "spine-1:Eth3 stops sending",
			"spine-1:Eth1: ingress bytes of class 3 reach xOFF", "rail-A:Eth2 stops sending",
			"rail-C:Eth2: ingress bytes of class 3 fall to xON",
			"spine-1:Eth3 resumes priority 3 to rail-C",
			"spine-1:Eth1: ingress bytes of class 3 fall to xON",
			"rail-A:Eth2 resumes priority 3 to spine-1"})
}

func dcqcnSequence() ([]Row, error) {
	return sequence("DCQCN: WRED min, marks, CNP, rate cut, xOFF, pause, drain, xON, resume, recovery",
		"seed, DCQCN t1-t8", "dcqcn-sequence", []string{
			"packets to host-3 are marked CE", "receives a CNP from host-3/nic-1",
			"rail-1:Eth2: ingress bytes of class 3 reach xOFF", "spine-A:Eth1 stops sending",
			"rail-1:Eth2: ingress bytes of class 3 fall to xON",
			"spine-A:Eth1 resumes priority 3 to rail-1", "increases the rate of queue pair 0"})
}

// headroom pauses a line-rate sender in the worst case and counts losses. The computed headroom must suffice, and
// one MTU less must not.
func headroom() ([]Row, error) {
	var rows []Row
	for _, cable := range []string{"3m", "40m", "150m"} {
		drops := map[int]int64{}
		for _, less := range []int{0, 1} {
			d := must(HeadroomDrops(cable, less))
			drops[less] = d
		}
		rows = append(rows, exact("drops with the computed headroom, cable of "+cable,
			"docs/references.md, headroom, zero-loss test", int64(0), drops[0]))
		rows = append(rows, Row{Claim: "drops with one MTU less, cable of " + cable,
			Source: "docs/references.md, headroom, tightness test", Expected: "> 0",
			Ours: fmt.Sprint(drops[1]), Diff: "-", OK: drops[1] > 0})
	}
	return rows, nil
}

// HeadroomDrops runs an incast against traffic in the other direction, so that pause frames wait for a frame that
// is being sent. The headroom is the computed one less a number of MTUs. HeadroomDrops tries many phases and
// returns the number of lost packets.
func HeadroomDrops(cable string, less int) (drops int64, err error) {
	defer caught(&err)
	text := `
name: headroom
fabric: {kind: rail-only, hosts: 4, host_link: {rate: 100Gbps, cable: ` + cable + `}, pipeline: 300ns}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {mtu: 4096}
switch:
  mtu: 4178B
  queues: {"3": {xoff: 100KB, xon: 50KB, wred_max: 0B, wred_min: 0B}}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-4/gpu-1, bytes: 3MB}
      - {from: host-2/gpu-1, to: host-4/gpu-1, bytes: 3MB, start: 37ns}
      - {from: host-3/gpu-1, to: host-4/gpu-1, bytes: 3MB, start: 61ns}
      - {from: host-4/gpu-1, to: host-1/gpu-1, bytes: 1MB, start: %s}
      - {from: host-4/gpu-1, to: host-2/gpu-1, bytes: 1MB, start: %s}
      - {from: host-3/gpu-1, to: host-1/gpu-1, bytes: 1MB, start: %s}
`
	var sets []string
	if less > 0 {
		r := must(start(fmt.Sprintf(text, "0ps", "0ps", "0ps")))
		sets = []string{fmt.Sprintf("switch.queues.3.headroom=%dB",
			int64(r.Net.HeadroomLimit(1, 3)-unit.Bytes(less)*4178))}
	}
	for phase := range 80 {
		p := fmt.Sprintf("%dps", 4300*phase)
		drops += must(finish(fmt.Sprintf(text, p, p, p), sets...)).Net.Drops
	}
	return drops, nil
}

// FluidP solves DCQCN's fixed point for the mark probability (Zhu et al. 2015, fluid model; docs/references.md,
// dcqcn). The n flows share c packets per second, b is the byte counter in packets, and ai is the additive increase
// in packets per second.
func FluidP(n int, c, b, ai, tau, tauPrime, timer, f float64) float64 {
	r := c / float64(n)
	g := func(p float64) float64 {
		surv := func(k float64) float64 { return math.Exp(k * math.Log1p(-p)) }
		alpha := 1 - surv(tauPrime*r)
		a := 1 - surv(tau*r)
		bb := p / (1/surv(b) - 1)
		tt := p / (1/surv(timer*r) - 1)
		return alpha*a*a/(tau*tau*(bb+tt)) - ai*r*(surv(f*b)*bb+surv(f*timer*r)*tt)
	}
	lo, hi := 1e-7, 0.5
	for range 200 {
		mid := math.Sqrt(lo * hi)
		if g(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

func fixedPoint(large bool) ([]Row, error) {
	var rows []Row
	// The solver against the handbook's table, at its 1000-byte packets.
	for _, x := range []struct {
		n int
		p float64
	}{{2, 7.77e-4}, {4, 1.89e-3}, {8, 4.55e-3}, {10, 6.03e-3}} {
		got := FluidP(x.n, 40e9/8000, 1e4, 40e6/8000/55e-6*55e-6, 50e-6, 55e-6, 55e-6, 5)
		rows = append(rows, within(fmt.Sprintf("fluid model, %d flows: mark probability p*", x.n),
			"docs/references.md, dcqcn, table", x.p, got, 0.02, "%.3g"))
	}
	held := map[int]float64{} // results of the Monte Carlo, by number of flows
	for _, n := range []int{2, 4, 8, 10} {
		if n > 4 && !large {
			continue
		}
		held[n] = monteCarlo(n, fixedWire)
		rows = append(rows, senderRows(n, held[n])...)
	}
	for _, x := range []struct{ n, ramp int }{{2, 1}, {4, 1}, {8, 1}, {10, 1}, {8, 10}, {10, 10}} {
		if x.n > 4 && !large {
			continue
		}
		rows = append(rows, must(packetFixedPoint(x.n, x.ramp, held[x.n]))...)
	}
	d := cc.DCQCNPaper(40 * unit.Gbps)
	c := cc.NewDCQCN(&d, 40*unit.Gbps)
	c.OnCNP(0)
	for k, want := range []float64{.5, .75, .875, .9375} {
		got, _ := c.Rates()
		rows = append(rows,
			within(fmt.Sprintf("rate after a cut at alpha 1 and %d recovery steps, share of line", k),
				"docs/references.md, dcqcn: 1 - 2^-(k+1)", want, float64(got)/40e9, 1e-9, "%.4f"))
		c.OnTimer(unit.Time(k+1) * 55 * unit.Microsecond)
	}
	return rows, nil
}

// window is the counts at a time.
type window struct {
	marks, packets int64
	waited         unit.Time
}

var rampEnds = reason("queue beyond the marking ramp",
	"The queue exceeds wred_max at times, where the switch marks every packet. The Monte Carlo has a ramp without end.",
	"switch.queues.3.wred_max=1955KB switch.queues.3.probability=10",
	"the same slope, ten times as long: within 10 % (rows \"on a ramp 10 times as long\")")

// packetFixedPoint runs n DCQCN senders into one 40 Gbit/s port for a quarter of a second. It compares marks and
// queue with the p at which the Monte Carlo of one sender settles, and the flows with each other. The paper's ramp
// reaches 1 % at 200 KB; one extended at its slope is longer by that factor.
func packetFixedPoint(n, ramp int, p float64) ([]Row, error) {
	text := fmt.Sprintf(`
name: fixed-point
fabric: {kind: rail-only, hosts: %d, host_link: {rate: 40Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
transport: {mtu: 1024}
cc: {dcqcn: {profile: paper}}
switch: {queues: {"3": {wred_min: 5KB, wred_max: %dKB, probability: %d, xoff: 4MB, xon: 1KB}}}
workload: {traffic: {incast: {bytes: %dB, fan_in: %d}}}
`, n+1, 5+195*ramp, ramp, int64(2e9)/int64(n), n)
	r := must(start(text))
	// The fixed point does not hold at the start, when all senders burst at line rate, or after the end of the
	// first flow.
	port := r.Port(r.Graph.NICs[0].Links[0], r.Graph.Links[r.Graph.NICs[0].Links[0]].B)
	var from, to window
	do(r.Go(func(p exec.Progress) bool {
		if p.OpsLeft == p.Ops && p.Now > 30*unit.Millisecond {
			to = window{r.Net.Marks, r.Hosts.Count.DataPackets, r.WaitSum(port)}
			if from.packets == 0 {
				from = to
			}
		}
		return true
	}))
	_, t, _ := r.Outcome("")
	q := 5e3 + p*195e3/0.01
	packets := float64(to.packets - from.packets)
	gotP := float64(to.marks-from.marks) / packets
	gotQ := (to.waited - from.waited).Seconds() / packets * 40e9 / 8 * 1086 / fixedWire
	lo, hi := int64(1<<62), int64(0)
	for _, f := range t.Flows {
		lo, hi = min(lo, f.Done), max(hi, f.Done)
	}
	const source = "Monte Carlo of the sender; Zhu et al. 2015"
	flows := fmt.Sprintf("%d DCQCN flows", n)
	if ramp > 1 {
		flows += fmt.Sprintf(" on a ramp %d times as long", ramp)
	}
	pRow := within(flows+": share of packets marked", source, p, gotP, 0.1, "%.3g")
	qRow := within(flows+": mean queue, KB", source, q/1e3, gotQ/1e3, 0.1, "%.1f")
	if ramp > 1 {
		return []Row{pRow, qRow}, nil
	}
	if n >= 8 && gotP > p && gotP < 1.25*p && !pRow.OK {
		pRow = pRow.because(rampEnds)
	}
	fair := within(fmt.Sprintf("%d DCQCN flows are fair: last end over first", n),
		"Zhu et al. 2015: flows converge to equal rates", 1, float64(hi)/float64(lo), 0.1, "%.3f")
	return []Row{pRow, qRow, fair}, nil
}
