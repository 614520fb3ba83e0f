package validate

import (
	"fmt"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/unit"
)

// lonelySender runs one DCQCN reaction point whose packets are marked
// independently with probability p, a CNP at most every 50 us, and returns its
// mean rate after a tenth of the time. There is no network: what is left is cc.
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

// balance finds the mark probability at which a lonely sender settles at a
// rate, by bisection within a fifth of where it is looked for.
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

// fixedWire is what a packet of the fixed point's 1024 bytes occupies.
const fixedWire = 1024 + middleFrame + wireGap

// senderRows puts the fluid model and cc's sender beside the Monte Carlo's mark
// probability p for a share of 1/n.
func senderRows(n int, p float64) []Row {
	const source = "event-level Monte Carlo of Zhu et al. 2015, written apart from cc"
	claim := fmt.Sprintf("mark probability that holds a sender at 1/%d of 40 Gbit/s: ", n)
	fluid := within(claim+"fluid model", source, p, fluidAt(n), 0.05, "%.3g")
	fluid.Note = fluidIsLow
	alone := balance(40e9/float64(n), 40*unit.Gbps, fixedWire, p)
	return []Row{fluid, within(claim+"the simulator's sender alone", source, p, alone, 0.05, "%.3g")}
}

// fluidIsLow says why docs/references.md, dcqcn's fixed point is no reference for a packet
// simulation.
const fluidIsLow = "the fluid model cuts once per 50 us in which a mark fell, windows that stand still; a CNP starts a new 50 us at its own mark, so the same p cuts less often"

// fluidAt is p* for n flows of 1024-byte packets at 40 Gbit/s with the paper's
// parameters.
func fluidAt(n int) float64 {
	const w = float64(fixedWire)
	return FluidP(n, 40e9/8/w, 1e7/w, 40e6/8/w, 50e-6, 55e-6, 55e-6, 5)
}
