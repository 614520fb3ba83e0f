package space

import "math/rand/v2"

// random draws points independently, each with its own stream, so that a larger study begins with a smaller one.
var random = Sampler{Name: "random", Words: "independent points", Grows: true, Draw: drawRandom}

func drawRandom(s *Space, n int, seed uint64) (*Design, error) {
	return &Design{n, func(i int) []float64 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		u := make([]float64, len(s.axes))
		for axis := range u {
			u[axis] = r.Float64()
		}
		return u
	}}, nil
}
