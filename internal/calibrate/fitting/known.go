package fitting

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/internal/coll"
	"railyard/unit"
)

// Known is the largest known difference between an algorithm's simulated bus bandwidth and the measured one of a
// healthy cluster, as a share of the measured one.
type Known struct {
	Algorithm string
	Error     float64
	Least     unit.Bytes // smallest size that the report compares
	Row       string     // claim of its row in the validation report
}

// Validated lists the known differences; TestKnown compares them with the validation report.
var Validated = []Known{
	{coll.ByNVLSTree, -0.0237, 512 * unit.MiB, "2 x 8 h100: NVLSTree all-reduce of 512MiB, bus bandwidth"},
	{coll.ByNVLS, 0.0742, unit.MiB, "8 x h100: NVLS all-reduce of 16MiB, bus bandwidth"},
}

// known returns the known difference of a point's algorithm; its error is 0 if there is none.
func (p *Point) known() (k Known) {
	if i := slices.IndexFunc(Validated, func(k Known) bool { return k.Algorithm == p.Algorithm }); i >= 0 {
		k = Validated[i]
	}
	return k
}

// Untested returns the minimum size for which measurements test the simulator, for the algorithm of a smaller
// point. 0: there are no such measurements, or they also test the point's size.
func (p *Point) Untested() unit.Bytes {
	if k := p.known(); unit.Bytes(p.Bytes) < k.Least {
		return k.Least
	}
	return 0
}

// Range returns the expected times of a point in µs. They include the simulated time, the time with a known
// bandwidth that is measured instead, and the time of NCCL's tuning model.
func (p *Point) Range() (least, most float64) {
	real := p.Before * (1 + p.known().Error)
	least, most = min(p.Before, real), max(p.Before, real)
	if p.Model > 0 {
		least, most = min(least, p.Model), max(most, p.Model)
	}
	return least, most
}

// Excess returns the difference between the measured time and the nearest of the expected ones, as a share of the
// measured time. Above 0 the measurement is slower.
func (p *Point) Excess() float64 {
	least, most := p.Range()
	return (p.Measured - min(max(p.Measured, least), most)) / p.Measured
}

// Later returns by how many µs all sizes of a group are later than expected, if the largest is later by no more.
// Links, NICs and PCIe then have their rates. 0: the lateness grows with the size, or some size is on time. Points
// are in the order of sizes.
func Later(points []Point) float64 {
	least, last := math.Inf(1), &points[len(points)-1]
	for i := range points {
		_, most := points[i].Range()
		least = min(least, points[i].Measured-most)
	}
	_, most := last.Range()
	_, first := points[0].Range()
	some := len(points) > 2 && most >= 2*first && points[0].Group == last.Group // else bandwidth decides no size
	if !some || last.Excess() <= Expected || last.Measured-least > (1+Expected)*most {
		return 0
	}
	return least
}

// Carried reports whether the largest size of the points' group is as expected or faster, so that links, NICs and
// PCIe have their rates.
func Carried(points []Point, group string) bool {
	var last *Point
	for i := range points {
		if p := &points[i]; p.Group == group && (last == nil || p.Bytes >= last.Bytes) {
			last = p
		}
	}
	return last != nil && last.Excess() <= Expected
}

// Differs reports whether a point is farther from the expected times than repeated measurements are from each other.
func (p *Point) Differs() bool { return math.Abs(p.Excess()) > Expected }

// Basis describes what the expected times of points contain.
func Basis(points []Point) string {
	text := "expected: the simulated time"
	if slices.ContainsFunc(points, func(p Point) bool { return p.Model > 0 }) {
		text += " to the time of NCCL's tuning model"
	}
	var names []string
	for _, k := range Validated {
		if slices.ContainsFunc(points, func(p Point) bool { return p.Algorithm == k.Algorithm }) {
			more := "more"
			if k.Error < 0 {
				more = "less"
			}
			names = append(names, fmt.Sprintf("%.1f %% %s for %s, from %s on", 100*math.Abs(k.Error), more, k.Algorithm,
				k.Least.ShowSet()))
		}
	}
	if len(names) > 0 {
		text += ", and " + strings.Join(names, ", ") + " (the simulator's largest error in railyard validate and the sizes there)"
	}
	return fmt.Sprintf("%s, ± %.0f %% for repeated measurements", text, 100*Expected)
}
