package space

import (
	"math"
	"math/rand/v2"

	"railyard/internal/field"
)

// morris draws trajectories in which every axis moves once, for elementary effects (Morris, Factorial Sampling
// Plans for Preliminary Computational Experiments, Technometrics 33, 1991).
var morris = Sampler{Name: "morris", Words: "trajectories that move one parameter at a time (elementary effects)",
	Draw: drawMorris}

// A trajectory moves on a grid of morrisLevels levels by morrisStep, which makes all levels equally likely.
const (
	morrisLevels = 4
	morrisStep   = morrisLevels / 2.0 / (morrisLevels - 1)
)

// drawMorris returns the number of whole trajectories that fit n points.
func drawMorris(s *Space, n int, seed uint64) (*Design, error) {
	dims := len(s.axes)
	switch {
	case s.Constrained():
		return nil, field.New("require", "is not accepted with the sampler morris, whose trajectories need all their points")
	case n < 2*(dims+1):
		return nil, field.New("samples", "%d are too few for 2 trajectories of %d points; accepted: %d and more", n, dims+1,
			2*(dims+1))
	}
	n -= n % (dims + 1)
	points := make([][]float64, 0, n)
	for i := range n / (dims + 1) {
		points = append(points, trajectory(dims, rand.New(rand.NewPCG(seed, uint64(i))))...)
	}
	return &Design{n, func(i int) []float64 { return points[i] }}, nil
}

// trajectory returns a base point and one more for each axis, in a random order and direction.
func trajectory(dims int, r *rand.Rand) (points [][]float64) {
	u := make([]float64, dims)
	for axis := range u {
		u[axis] = float64(r.IntN(morrisLevels)) / (morrisLevels - 1)
	}
	points = append(points, append([]float64{}, u...))
	for _, axis := range r.Perm(dims) {
		if u[axis] < 0.5 {
			u[axis] += morrisStep
		} else {
			u[axis] -= morrisStep
		}
		u[axis] = math.Round(u[axis]*(morrisLevels-1)) / (morrisLevels - 1)
		points = append(points, append([]float64{}, u...))
	}
	return points
}

// Effect is the effect of one axis on a figure: the change of the figure when the axis moves over its whole range.
type Effect struct {
	Mean    float64 // mu
	MeanAbs float64 // mu*, of the amounts (Campolongo, Cariboni and Saltelli, Environ. Modell. Softw. 22, 2007)
	Spread  float64 // sigma: standard deviation, of interactions and bends
	N       int     // elementary effects
}

// Effects returns the effect of each axis, from the coordinates of trajectories and the figure at each point. A NaN is
// a point without a figure; its two elementary effects are left out.
func Effects(u [][]float64, y []float64) []Effect {
	if len(u) == 0 {
		return nil
	}
	dims := len(u[0])
	all := make([][]float64, dims)
	for i := range u {
		if i%(dims+1) == 0 {
			continue
		}
		for axis := range dims {
			if step := u[i][axis] - u[i-1][axis]; step != 0 {
				if e := (y[i] - y[i-1]) / step; !math.IsNaN(e) {
					all[axis] = append(all[axis], e)
				}
			}
		}
	}
	effects := make([]Effect, dims)
	for axis, list := range all {
		e := &effects[axis]
		e.N = len(list)
		for _, x := range list {
			e.Mean += x / float64(e.N)
			e.MeanAbs += math.Abs(x) / float64(e.N)
		}
		for _, x := range list {
			e.Spread += (x - e.Mean) * (x - e.Mean)
		}
		if e.Spread = math.Sqrt(e.Spread / float64(max(e.N-1, 1))); e.N < 2 {
			e.Spread = 0
		}
	}
	return effects
}
