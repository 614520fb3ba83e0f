package planner

import (
	"math"

	"railyard/internal/field"
)

// Racks is the plan of a hall, from which the lengths of a design's cables follow. The hosts that share a switch
// are in consecutive racks, row by row, and the switch is in the middle one. Its lengths are the lengths of a
// scenario's floor.
type Racks struct {
	Hosts  int     `json:"hosts"` // hosts of a rack: four, as in NVIDIA's DGX SuperPOD of H100 and B200
	Row    int     `json:"row"`   // racks of a row
	Rack   float64 `json:"rack_m"`
	Aisle  float64 `json:"row_m"`
	Rise   float64 `json:"rise_m"`
	Slack  float64 `json:"slack_m"`
	Inside float64 `json:"inside_m"`
}

// racks checks the racks of a price file. A file without racks has the default ones.
func (p *Prices) racks(name string) error {
	if p.Racks == nil {
		x, err := ParsePrices("", nil)
		if err == nil {
			p.Racks = x.Racks
		}
		return err
	}
	r := p.Racks
	for _, m := range []float64{r.Rack, r.Aisle, r.Rise, r.Slack, r.Inside} {
		if !(m >= 0.1 && m <= 1000) || r.Hosts < 1 || r.Hosts > 1024 || r.Row < 1 || r.Row > 10_000 {
			return &field.Error{File: name, Path: "racks",
				Msg: "out of range: hosts 1–1024, row 1–10000, and the lengths rack_m, row_m, rise_m, slack_m and inside_m 0.1–1000"}
		}
	}
	return nil
}

// count returns the racks of a number of hosts.
func (r *Racks) count(hosts int) int { return ceilInt(hosts, r.Hosts) }

// middle returns the length of a cable from the middle of the racks of some hosts to the farthest of them.
func (r *Racks) middle(hosts int) int { return r.cable(r.count(hosts), 2) }

// across returns the length of a cable from one end of the racks of some hosts to the other.
func (r *Racks) across(hosts int) int { return r.cable(r.count(hosts), 1) }

// cable returns the length of a cable over a part of a number of racks, as sold.
func (r *Racks) cable(racks, part int) int {
	if racks <= 1 {
		return sold(r.Inside)
	}
	rows, wide := ceilInt(racks, r.Row), min(racks, r.Row)
	over := func(n int) float64 { // the middle of two is one of them
		if part == 1 {
			return float64(n - 1)
		}
		return float64(n / part)
	}
	return sold(over(rows)*r.Aisle + over(wide)*r.Rack + 2*r.Rise + r.Slack)
}

// sold returns the shortest sold length of cables, in metres: 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100 and so on.
func sold(metres float64) int {
	for f := 1; ; f *= 10 {
		for _, n := range []float64{1, 1.5, 2, 3, 5, 7} {
			if m := n * float64(f); m >= metres-1e-9 && m == math.Trunc(m) {
				return int(m)
			}
		}
	}
}
