package calibrate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"railyard/unit"
)

// Param is a parameter to fit.
type Param struct {
	Name  string
	Unit  string  // unit of its values: us, or percent
	Start float64 // value before any measurement
	Least float64
	Most  float64
	// Step is a noticeable change: the parameter is varied by it to measure its effect. Of a share, by which times are
	// divided, it is a share of the value.
	Step  float64
	Share bool
}

// in and out convert between a value and the coordinate in which logarithms of times are nearly straight.
func (p *Param) in(v float64) float64 {
	if p.Share {
		return math.Log(v)
	}
	return v
}

func (p *Param) out(u float64) float64 {
	if p.Share {
		u = math.Exp(u)
	}
	return min(max(u, p.Least), p.Most)
}

// Point is a measured time.
type Point struct {
	Name     string
	Measured float64 // seconds, above 0
	Held     bool    // held out: compared and not fitted
}

// Model returns the time of each point for given values of the parameters, in seconds; unneeded points may be skipped.
type Model func(values []float64, want func(point int) bool) ([]float64, error)

// Value is a fitted parameter.
type Value struct {
	Param
	Value float64
	Error float64 // standard error
}

// Fit is the outcome. Errors are root mean squares of ln(simulated/measured), so about relative.
type Fit struct {
	Values  []Value
	Refused []Refusal

	Before, After         []float64 // seconds by point
	FittedWas, FittedIs   float64   // mean error of the fitted points
	HeldWas, HeldIs       float64   // mean error of the held-out points; NaN without any
	Rounds, Points, Aside int
}

// Refusal is a parameter that the points do not constrain, with the reason.
type Refusal struct{ Name, Why string }

// Limits for usable points.
const (
	// a noticeable change that changes the times of the points by less than this on average proves nothing
	faint    = 0.003
	parallel = 0.97 // beyond this cosine two parameters count as collinear
	rounds   = 8
	tries    = 6
	enough   = 0.002 // the fit ends when the error improves by less than this share
)

// Run fits. With must, a parameter that cannot be fitted is an error; otherwise it is dropped and reported. m is
// accurate enough for the fit. The times and errors of the outcome are those of exact, if that is not nil.
func Run(params []Param, points []Point, must bool, m, exact Model) (*Fit, error) {
	f := &fitting{params: params, points: points, model: m, Fit: Fit{HeldWas: math.NaN(), HeldIs: math.NaN()}}
	for i := range points {
		if !(points[i].Measured > 0) {
			return nil, fmt.Errorf("%s: a time above 0 is expected, found %g s", points[i].Name, points[i].Measured)
		}
		if points[i].Held {
			f.Aside++
		} else {
			f.Points++
		}
	}
	x := make([]float64, len(params))
	for i, p := range params {
		x[i] = p.in(p.Start)
	}
	var err error
	if f.Before, err = f.run(x, nil); err != nil {
		return nil, err
	}
	if err := f.choose(x, must); err != nil {
		return nil, err
	}
	start := slices.Clone(x)
	if x, err = f.settle(x, must); err != nil {
		return nil, err
	}
	if exact != nil {
		f.model = exact
		if f.Before, err = f.run(start, nil); err != nil {
			return nil, err
		}
	}
	if f.After, err = f.run(x, nil); err != nil {
		return nil, err
	}
	f.FittedWas, f.FittedIs = f.rms(f.Before, false), f.rms(f.After, false)
	if f.Aside > 0 {
		f.HeldWas, f.HeldIs = f.rms(f.Before, true), f.rms(f.After, true)
	}
	return &f.Fit, nil
}

// fitting is a fit in progress.
type fitting struct {
	Fit
	params []Param
	points []Point
	model  Model
	free   []int // parameters being fitted
}

// run evaluates the model at coordinates.
func (f *fitting) run(x []float64, want func(int) bool) ([]float64, error) {
	values := make([]float64, len(x))
	for i := range x {
		values[i] = f.params[i].out(x[i])
	}
	return f.model(values, want)
}

func (f *fitting) fitted(i int) bool { return !f.points[i].Held }

// residuals are ln(simulated/measured) of the fitted points.
func (f *fitting) residuals(times []float64) (out []float64) {
	for i := range f.points {
		if f.fitted(i) {
			out = append(out, math.Log(times[i]/f.points[i].Measured))
		}
	}
	return out
}

func (f *fitting) rms(times []float64, held bool) float64 {
	sum, n := 0.0, 0
	for i, p := range f.points {
		if p.Held == held {
			d := math.Log(times[i] / p.Measured)
			sum += d * d
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}

// shifts returns the change of each residual by a noticeable change of a parameter.
func (f *fitting) shifts(x, times []float64, k int) ([]float64, error) {
	p := f.params[k]
	y := slices.Clone(x)
	if y[k] = x[k] + p.Step; y[k] > p.in(p.Most) {
		y[k] = x[k] - p.Step
	}
	moved, err := f.run(y, f.fitted)
	if err != nil {
		return nil, err
	}
	out := f.residuals(moved)
	for i, r := range f.residuals(times) {
		out[i] = (out[i] - r) * p.Step / (y[k] - x[k])
	}
	return out, nil
}

// noticed is the change that one would notice, in words.
func (p *Param) noticed() string {
	if p.Share {
		return fmt.Sprintf("%g %%", 100*p.Step)
	}
	return fmt.Sprintf("%g %s", p.Step, strings.Replace(p.Unit, "us", "µs", 1))
}

// choose keeps the parameters that the points constrain, in their order. They must change the times of the points,
// must not be collinear with another, and must be fewer than the points.
func (f *fitting) choose(x []float64, must bool) error {
	var kept [][]float64
	for k, p := range f.params {
		shift, err := f.shifts(x, f.Before, k)
		if err != nil {
			return err
		}
		why := ""
		if n := norm(shift) / math.Sqrt(float64(len(shift))); n < faint {
			if why = fmt.Sprintf("no effect (a change of %s moves no point)", p.noticed()); n >= 5e-5 {
				why = fmt.Sprintf("no effect (a change of %s moves the points by %.2f %% on average)", p.noticed(), 100*n)
			}
		}
		for i, other := range kept {
			if c := cosine(shift, other); why == "" && math.Abs(c) > parallel {
				why = fmt.Sprintf("collinear with %s (cosine %.3f)", f.params[f.free[i]].Name, c)
			}
		}
		if why == "" && len(kept)+1 >= f.Points {
			why = fmt.Sprintf("%d points determine at most %s", f.Points,
				unit.Plural(max(0, f.Points-1), "parameter"))
		}
		if why == "" {
			if s := remainder(shift, kept); s < 0.1 {
				why = fmt.Sprintf("other parameters explain all but %.0f %% of its effect", 100*s)
			}
		}
		switch {
		case why == "":
			f.free, kept = append(f.free, k), append(kept, shift)
		case must:
			return fmt.Errorf("the measurements do not determine %s: %s", p.Name, why)
		default:
			f.Refused = append(f.Refused, Refusal{p.Name, why})
		}
	}
	if len(f.free) == 0 {
		var why []string
		for _, r := range f.Refused {
			why = append(why, r.Name+": "+r.Why)
		}
		return fmt.Errorf("the measurements determine no parameter: %s", strings.Join(why, "; "))
	}
	return nil
}

// settle fits, and fits again without parameters whose standard error is too large. It removes one at a time, the
// largest first, because the others may improve without it.
func (f *fitting) settle(start []float64, must bool) ([]float64, error) {
	for {
		f.Values, f.Rounds = nil, 0
		x, err := f.descend(start)
		if err != nil {
			return nil, err
		}
		worst, by := -1, 1.0
		for c, v := range f.Values {
			if l := v.looseness(); l > by {
				worst, by = c, l
			}
		}
		if worst < 0 {
			return x, nil
		}
		v := f.Values[worst]
		why := fmt.Sprintf("%.3g ± %.2g %s, not constrained by the points", v.Value, v.Error,
			v.Unit)
		if must {
			return nil, fmt.Errorf("the measurements do not determine %s: %s", v.Name, why)
		}
		f.Refused = append(f.Refused, Refusal{v.Name, why})
		if f.free = slices.Delete(f.free, worst, worst+1); len(f.free) == 0 {
			return nil, fmt.Errorf("the measurements determine no parameter: %s: %s", v.Name, why)
		}
	}
}

// looseness is the standard error relative to its limit. The limit of a share is half of it; that of a time is its
// own value, or five noticeable changes.
func (v *Value) looseness() float64 {
	if v.Share {
		return v.Error / (v.Value / 2)
	}
	return v.Error / max(v.Value, 5*v.Step)
}

// descend is Gauss-Newton with Levenberg's damping, within bounds.
func (f *fitting) descend(x []float64) ([]float64, error) {
	times, damp := f.Before, 1e-3
	best := square(f.residuals(times))
	var j *mat.Dense
	for f.Rounds < rounds {
		f.Rounds++
		r := f.residuals(times)
		j = mat.NewDense(len(r), len(f.free), nil)
		for c, k := range f.free {
			shift, err := f.shifts(x, times, k)
			if err != nil {
				return nil, err
			}
			j.SetCol(c, shift)
		}
		was := best
		for range tries {
			y := f.step(x, r, j, damp)
			moved, err := f.run(y, f.fitted)
			if err != nil {
				return nil, err
			}
			if s := square(f.residuals(moved)); s < best {
				x, times, best, damp = y, moved, s, damp/10
				break
			}
			damp = max(damp, 1e-2) * 10
		}
		if was-best <= 2*enough*was {
			break
		}
	}
	f.values(x, best, j)
	return x, nil
}

// step solves for the next values; values at a bound stay there.
func (f *fitting) step(x, r []float64, j *mat.Dense, damp float64) []float64 {
	y := slices.Clone(x)
	held := make([]bool, len(f.free))
	for range f.free {
		if !f.move(y, x, r, j, damp, held) {
			break
		}
	}
	return y
}

// move solves for the free parameters, and reports whether one of them reached a bound, which then fixes it.
func (f *fitting) move(y, x, r []float64, j *mat.Dense, damp float64, held []bool) (again bool) {
	var cols []int
	for c := range f.free {
		if !held[c] {
			cols = append(cols, c)
		}
	}
	if len(cols) == 0 {
		return false
	}
	// The effect of the fixed ones is subtracted first.
	rest := mat.NewVecDense(len(r), nil)
	for i, v := range r {
		for c, k := range f.free {
			if held[c] {
				v += j.At(i, c) * (y[k] - x[k]) / f.params[k].Step
			}
		}
		rest.SetVec(i, -v)
	}
	sub := mat.NewDense(len(r), len(cols), nil)
	for s, c := range cols {
		sub.SetCol(s, mat.Col(nil, c, j))
	}
	var normal mat.Dense
	normal.Mul(sub.T(), sub)
	for i := range cols {
		normal.Set(i, i, normal.At(i, i)*(1+damp)+1e-12)
	}
	var side, d mat.VecDense
	side.MulVec(sub.T(), rest)
	if d.SolveVec(&normal, &side) != nil {
		return false
	}
	for s, c := range cols {
		k := f.free[c]
		p := f.params[k]
		want := x[k] + d.AtVec(s)*p.Step
		y[k] = min(max(want, p.in(p.Least)), p.in(p.Most))
		if y[k] != want {
			held[c], again = true, true
		}
	}
	return again
}

// values are the outcome with standard errors from the last Jacobian.
func (f *fitting) values(x []float64, left float64, j *mat.Dense) {
	n, p := j.Dims()
	var normal, inverse mat.Dense
	normal.Mul(j.T(), j)
	known := inverse.Inverse(&normal) == nil
	for c, k := range f.free {
		v := Value{Param: f.params[k], Value: f.params[k].out(x[k]), Error: math.NaN()}
		if known && n > p {
			v.Error = math.Sqrt(left/float64(n-p)*inverse.At(c, c)) * v.Step
			if v.Share {
				v.Error *= v.Value
			}
		}
		f.Values = append(f.Values, v)
	}
}

func square(v []float64) (s float64) {
	for _, x := range v {
		s += x * x
	}
	return s
}

func norm(v []float64) float64 { return math.Sqrt(square(v)) }

func cosine(a, b []float64) float64 {
	dot := 0.0
	for i := range a {
		dot += a[i] * b[i]
	}
	return dot / (norm(a) * norm(b))
}

// remainder is the share of a vector that others do not span.
func remainder(v []float64, others [][]float64) float64 {
	rest := slices.Clone(v)
	var base [][]float64
	for _, o := range others {
		base = append(base, without(slices.Clone(o), base))
	}
	return norm(without(rest, base)) / norm(v)
}

// without subtracts from a vector its components along others, which must be orthogonal.
func without(v []float64, base [][]float64) []float64 {
	for range 2 { // twice is enough (Kahan)
		for _, b := range base {
			n := square(b)
			if n == 0 {
				continue
			}
			dot := 0.0
			for i := range v {
				dot += v[i] * b[i]
			}
			for i := range v {
				v[i] -= dot / n * b[i]
			}
		}
	}
	return v
}
