package validate

import (
	"fmt"
	"math"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/unit"
)

// lonelySender runs one DCQCN reaction point. Each of its packets is marked with probability p, and a CNP follows
// at most every 50 us. lonelySender returns the mean rate after a tenth of the time. There is no network: only cc
// is tested.
func lonelySender(p float64, line unit.Rate, wire unit.Bytes, length unit.Time) float64 {
	par := cc.DCQCNPaper(line)
	c := cc.NewDCQCN(&par, line)
	r := rng.New(7, "marks")
	now, lastCNP, from := unit.Time(0), -unit.Second, unit.Time(-1)
	sent := unit.Bytes(0)
	left, cycle := par.ByteCounter, uint32(0)
	for now < length {
		d := c.Decision()
		for d.TimerAt <= now {
			c.OnTimer(d.TimerAt)
			d = c.Decision()
		}
		if d.Cycle != cycle {
			cycle, left = d.Cycle, par.ByteCounter
		}
		if left -= wire; left <= 0 {
			left += par.ByteCounter
			c.OnBytes(now, par.ByteCounter)
		}
		now += unit.Serialize(wire, c.Decision().Rate)
		sent += wire
		if r.Float64() < p && now-lastCNP >= par.CNPInterval {
			lastCNP = now
			c.OnCNP(now)
		}
		if from < 0 && now > length/10 {
			from, sent = now, 0
		}
	}
	return float64(sent) * 8 / (now - from).Seconds()
}

// balance finds the mark probability at which a single sender settles at a rate, by bisection within a fifth of the
// initial guess.
func balance(rate float64, line unit.Rate, wire unit.Bytes, near float64) float64 {
	lo, hi := near*0.8, near*1.2
	for range 7 {
		mid := (lo + hi) / 2
		if lonelySender(mid, line, wire, 2*unit.Second) > rate {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// fixedWire is the bytes on the wire of a packet of the fixed point's 1024 bytes.
const fixedWire = 1024 + middleFrame + wireGap

// senderRows compares the fluid model and cc's sender with the Monte Carlo's mark probability p for a share of 1/n.
func senderRows(n int, p float64) []Row {
	const source = "event-level Monte Carlo of Zhu et al. 2015, written apart from cc"
	claim := fmt.Sprintf("mark probability that holds a sender at 1/%d of 40 Gbit/s: ", n)
	fluid := within(claim+"fluid model", source, p, fluidAt(n), 0.05, "%.3g")
	alone := balance(40e9/float64(n), 40*unit.Gbps, fixedWire, p)
	return []Row{fluid.because(fluidIsLow), within(claim+"the simulator's sender alone", source, p, alone, 0.05, "%.3g")}
}

// fluidIsLow is why the fixed point of docs/references.md, dcqcn, is no reference for a packet simulation.
var fluidIsLow = reason("constant windows of the fluid model",
	"The fluid model reduces a rate once in each constant window of 50 us with a mark. A CNP starts 50 us at its own mark, so the same probability reduces it less often.",
	NoSetting, "the row judges the published model, not the simulator, whose sender agrees (next row)")

// fluidAt is p* for n flows of 1024-byte packets at 40 Gbit/s with the paper's
// parameters.
func fluidAt(n int) float64 {
	const w = float64(fixedWire)
	return FluidP(n, 40e9/8/w, 1e7/w, 40e6/8/w, 50e-6, 55e-6, 55e-6, 5)
}

// nicSender compares the NIC's form of DCQCN with HPCC's code for it (rdma-hw.cc 618 to 737, "mlx";
// docs/references.md, dcqcn-nic). The values are those of HPCC's runs.
func nicSender() ([]Row, error) {
	const line = 100 * unit.Gbps
	const source = "HPCC rdma-hw.cc, mlx"
	par := cc.DCQCNNIC(line)
	const g = 1.0 / 256
	par.G, par.AlphaInit, par.MinRate = g, 1, unit.Gbps

	c := cc.NewDCQCN(&par, line)
	c.OnCNP(0)
	rows := []Row{exact("rate right after the first CNP", source+": it only starts the timers", line,
		c.Decision().Rate)}
	first := c.Decision().TimerAt
	c.OnTimer(first)
	rows = append(rows, exact("first cut after the first CNP", source+": RateDecreaseInterval and 1 ns",
		4001*unit.Nanosecond, first),
		within("rate after it, share of line", source+": alpha has decayed four times",
			1-math.Pow(1-g, 4)/2,
			float64(c.Decision().Rate)/float64(line), 1e-6, "%.5f"))

	c = cc.NewDCQCN(&par, line)
	now := unit.Time(0)
	for ; now < 20*unit.Millisecond; now += 4 * unit.Microsecond {
		for d := c.Decision(); d.TimerAt <= now; d = c.Decision() {
			c.OnTimer(d.TimerAt)
		}
		c.OnCNP(now)
	}
	// One of four updates has the CNP: alpha = g + (1-g)^4 alpha after it.
	want := g / (1 - math.Pow(1-g, 4))
	rows = append(rows, within("alpha settles after a CNP every 4 us", source+": g / (1-(1-g)^4)", want,
		c.Alpha(now-3*unit.Microsecond), 0.005, "%.4f"),
		within("and before the next", source+": three decays lower", want*math.Pow(1-g, 3), c.Alpha(now),
			0.005, "%.4f"))

	// HPCC's values, packets and thresholds for 400G (run.py). Its code sends so much before the first reduction that
	// the receiver's port never runs empty.
	r := must(finish(`
name: incast
fabric: {kind: fat-tree, k: 8, host_link: {rate: 400Gbps, delay: 1us}}
server: {nic_latency: 0s}
switch: {buffer: 128MB,
  queues: {"3": {wred_min: 1600KB, wred_max: 6400KB, probability: 20, xoff: 20MB, xon: 19MB}}}
transport: {mtu: 1024, ack_every: 1}
cc: {dcqcn: {profile: nic, g: 0.00390625, alpha_init: 1, min_rate: 1Gbps, cnp_interval: 0s}}
workload: {traffic: {incast: {bytes: 1MB, fan_in: 32}}}
`))
	s, _, _ := r.Outcome("")
	return append(rows, within("incast of 32 x 1 MB at 400 Gbit/s with HPCC's values ends at line rate, us",
		"closed form: 32 x bytes / rate; HPCC's code in ns-3 holds line rate",
		32e6*8/400e9*1e6*(1024+82)/1024,
		unit.Time(s.StepTime).Seconds()*1e6, 0.01, "%.1f")), nil
}
