package validate

import (
	"fmt"

	"railyard/cc"
	"railyard/internal/rng"
	"railyard/unit"
)

// lonelySender runs one DCQCN reaction point whose packets are marked
// independently with probability p, a CNP at most every 50 us, and returns its
// mean rate. There is no network: what is left is the algorithm alone.
func lonelySender(p float64, line unit.Rate, wire unit.Bytes, length unit.Time) float64 {
	par := cc.DCQCNPaper(line)
	c := cc.NewDCQCN(&par, line)
	r := rng.New(7, "marks")
	now, lastCNP := unit.Time(0), -unit.Second
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
	}
	return float64(sent) * 8 / now.Seconds()
}

// balance finds the mark probability at which a lonely sender settles at a
// rate, by bisection.
func balance(rate float64, line unit.Rate, wire unit.Bytes, near float64) float64 {
	lo, hi := near/3, near*3
	for range 10 {
		mid := (lo + hi) / 2
		if lonelySender(mid, line, wire, unit.Second) > rate {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// senderRows compares the algorithm alone with the fluid model.
func senderRows() []Row {
	var rows []Row
	const wire = 1024 + 82
	for _, n := range []int{2, 4, 8, 10} {
		p := fluidAt(n)
		got := balance(40e9/float64(n), 40*unit.Gbps, wire, p)
		rows = append(rows, within(fmt.Sprintf("one sender alone, marked at random: p that holds it at 1/%d of 40 Gbit/s", n),
			"HANDBOOK 2.3 fluid model, +-25 %", p, got, 0.25, "%.3g"))
	}
	return rows
}

// fluidAt is p* for n flows of 1024-byte packets at 40 Gbit/s with the paper's
// parameters.
func fluidAt(n int) float64 {
	const wire = 1024.0 + 82
	return FluidP(n, 40e9/8/wire, 1e7/wire, 40e6/8/wire, 50e-6, 55e-6, 55e-6, 5)
}
