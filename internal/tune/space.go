package tune

import (
	"fmt"
	"math"
	"strconv"

	"railyard/unit"
)

// Candidate is one setting of everything that is searched. Thresholds keep the
// source's rule xON < WRED minimum < WRED maximum < xOFF by construction.
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

	Knobs Settings `json:"knobs,omitzero"` // parameters of another congestion control, in the order of Space.Knobs
}

// MostKnobs is the largest number of parameters of a congestion control that are searched.
const MostKnobs = 12

// Settings are values of knobs.
type Settings [MostKnobs]float64

// Knob is a parameter of a congestion control that is searched between two values, evenly in the logarithm.
type Knob struct {
	Name     string  `json:"name"`
	From, To float64 // above zero
}

// Space bounds the search.
type Space struct {
	Largest unit.Bytes // of xOFF
	Line    unit.Rate  // of a NIC
	DCQCN   bool       // whether DCQCN's steps and timers are searched; otherwise thresholds, and Knobs

	Knobs [MostKnobs]Knob `json:"knobs,omitzero"` // parameters with a name
}

// Own are the knobs that are searched.
func (s *Space) Own() []Knob {
	n := 0
	for n < MostKnobs && s.Knobs[n].Name != "" {
		n++
	}
	return s.Knobs[:n]
}

// smallest xOFF that is tried: a few packets.
const smallest = 40 * unit.KB

// Numbers in 0..1 that decide a candidate: of thresholds, of DCQCN beside them, and at most.
const (
	thresholds = 5
	withDCQCN  = thresholds + 4
	dims       = thresholds + MostKnobs
)

// dims returns the number of parameters that count.
func (s *Space) dims() int {
	if n := len(s.Own()); n > 0 {
		return thresholds + n
	}
	return withDCQCN
}

// at turns a point of the unit cube into a candidate.
func (s Space) at(p [dims]float64) Candidate {
	xoff := round(logScale(p[0], float64(smallest), float64(s.Largest)))
	most := round(float64(xoff) * between(p[1], 0.1, 0.95))
	least := round(float64(most) * between(p[2], 0.02, 0.9))
	c := Candidate{XOff: xoff, WREDMax: min(most, xoff-unit.KB), Probability: int(math.Round(logScale(p[4], 1, 100)))}
	c.WREDMin = max(min(least, c.WREDMax-unit.KB), 2*unit.KB)
	c.XOn = max(min(round(float64(c.WREDMin)*between(p[3], 0.1, 0.95)), c.WREDMin-unit.KB), unit.KB)
	for i, k := range s.Own() {
		c.Knobs[i] = digits(logScale(p[thresholds+i], k.From, k.To))
	}
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

// digits keeps three of them: what people write.
func digits(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil {
		return x
	}
	return y
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
