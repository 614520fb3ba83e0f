// Package tune searches the thresholds of ECN and PFC and the parameters of
// DCQCN for a scenario, with a simulation of each candidate as the judge. The
// search itself simulates nothing: its evaluator is passed in.
package tune

import (
	"fmt"
	"math"

	"railyard/unit"
)

// Candidate is one setting of everything that is searched. Thresholds keep the
// seed's rule xON < WRED minimum < WRED maximum < xOFF by construction.
type Candidate struct {
	XOn         unit.Bytes `json:"xon"`
	WREDMin     unit.Bytes `json:"wred_min"`
	WREDMax     unit.Bytes `json:"wred_max"`
	XOff        unit.Bytes `json:"xoff"`
	Probability int        `json:"probability"` // percent
	AI          unit.Rate  `json:"ai"`
	RateTimer   unit.Time  `json:"rate_timer"`
	AlphaTimer  unit.Time  `json:"alpha_timer"`
	G           float64    `json:"g"`
}

// Space bounds the search.
type Space struct {
	Largest unit.Bytes // of xOFF
	Line    unit.Rate  // of a NIC
	DCQCN   bool       // false: no congestion control, thresholds only
}

// smallest xOFF that is tried: a few packets.
const smallest = 40 * unit.KB

// dims is how many numbers in 0..1 decide a candidate.
const dims = 9

// at turns a point of the unit cube into a candidate.
func (s Space) at(p [dims]float64) Candidate {
	xoff := round(logScale(p[0], float64(smallest), float64(s.Largest)))
	most := round(float64(xoff) * between(p[1], 0.1, 0.95))
	least := round(float64(most) * between(p[2], 0.02, 0.9))
	c := Candidate{XOff: xoff, WREDMax: min(most, xoff-unit.KB),
		Probability: int(math.Round(logScale(p[4], 1, 100)))}
	c.WREDMin = max(min(least, c.WREDMax-unit.KB), 2*unit.KB)
	c.XOn = max(min(round(float64(c.WREDMin)*between(p[3], 0.1, 0.95)), c.WREDMin-unit.KB), unit.KB)
	if !s.DCQCN {
		return c
	}
	line := float64(s.Line)
	c.AI = unit.Rate(math.Round(logScale(p[5], line/10_000, line/20)/1e6)) * unit.Mbps
	c.RateTimer = unit.Time(math.Round(logScale(p[6], 5, 1000))) * unit.Microsecond
	c.AlphaTimer = unit.Time(math.Round(logScale(p[7], 1, 500))) * unit.Microsecond
	c.G = 1 / math.Round(logScale(p[8], 8, 1024))
	return c
}

// logScale spreads 0..1 over lo..hi evenly in the logarithm.
func logScale(x, lo, hi float64) float64 { return lo * math.Pow(hi/lo, x) }

func between(x, lo, hi float64) float64 { return lo + x*(hi-lo) }

// round keeps whole kilobytes: what configuration texts write.
func round(b float64) unit.Bytes { return unit.Bytes(math.Round(b/1000)) * unit.KB }

// Check refuses a candidate that breaks the ordering rule.
func (c Candidate) Check() error {
	if !(c.XOn > 0 && c.XOn < c.WREDMin && c.WREDMin < c.WREDMax && c.WREDMax < c.XOff) {
		return fmt.Errorf("xON %v < WRED minimum %v < WRED maximum %v < xOFF %v does not hold",
			c.XOn, c.WREDMin, c.WREDMax, c.XOff)
	}
	return nil
}
