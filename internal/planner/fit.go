package planner

import (
	"math"

	"railyard/internal/model"
	"railyard/internal/workload"
)

// Free is a parameter that a fit may change, of softwares that share it.
type Free struct {
	workload.Parameter
	Softwares []*workload.Software
	Prior     float64 // standard deviation of its logarithm around the initial value; 0: none
	begin     float64
}

func (f *Free) set(v float64) {
	for _, s := range f.Softwares {
		*f.Of(s) = v
	}
}

// Under returns the step time in seconds by a software.
func (m *Measured) Under(s *workload.Software) float64 {
	in := m.input
	in.Training.Software = s
	return in.Estimate(m.scored).Seconds
}

// off is the logarithm of estimate over measurement.
func (m *Measured) off(s *workload.Software) float64 { return math.Log(m.Under(s) / m.Seconds) }

// loss is the mean square of rows' errors plus a penalty for changes of the initial parameters. An error of 5 %,
// the median difference of one layout between containers, has the weight of one standard deviation.
func loss(rows []*Measured, of func(*Measured) *workload.Software, free []Free) float64 {
	sum := 0.0
	for _, m := range rows {
		e := m.off(of(m))
		sum += min(e*e, 0.25) * m.weight
	}
	for i := range free {
		if f := &free[i]; f.Prior > 0 {
			d := math.Log(*f.Of(f.Softwares[0])/f.begin) / f.Prior
			sum += d * d * 0.12 * 0.12
		}
	}
	return sum
}

// Fit moves free parameters to the minimum error of rows: each in turn along its logarithm, in shrinking steps. It
// returns the root mean square error.
func Fit(rows []*Measured, of func(*Measured) *workload.Software, free []Free) float64 {
	for i := range free {
		free[i].begin = *free[i].Of(free[i].Softwares[0])
	}
	best := loss(rows, of, free)
	for step := 1.6; step > 0.004; {
		better := false
		for i := range free {
			f := &free[i]
			for _, by := range []float64{math.Exp(step), math.Exp(-step)} {
				was := *f.Of(f.Softwares[0])
				f.set(min(max(was*by, f.Min), f.Max))
				if l := loss(rows, of, free); l < best-1e-9 {
					best, better = l, true
					break
				}
				f.set(was)
			}
		}
		if !better {
			step /= 2
		}
	}
	return RMS(rows, of)
}

// RMS is the root mean square of rows' relative errors.
func RMS(rows []*Measured, of func(*Measured) *workload.Software) float64 {
	sum := 0.0
	for _, m := range rows {
		e := m.Under(of(m))/m.Seconds - 1
		sum += e * e
	}
	return math.Sqrt(sum / float64(max(1, len(rows))))
}

// Cell is the key of rows that are fitted or held out together. Otherwise repetitions of a training with other
// containers or layouts would be on both sides.
func (m *Measured) Cell() string { return m.model + " " + m.gpu + " " + m.precision }

// Kind is a class of trainings with similar errors: a dense model or experts, in 16 bit or less.
func (m *Measured) Kind() string { return Kind(m.input.Training.Model, m.precision) }

// Kind is the class of a model in a precision, which has an interval of its own.
func Kind(m *model.Config, precision string) string {
	kind := "dense"
	if m.Experts > 0 {
		kind = "experts"
	}
	if precision == "" || precision == workload.BF16 {
		return kind + " bf16"
	}
	return kind + " fp8 or fp4"
}
