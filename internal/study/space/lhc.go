package space

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"
)

// lhc divides each axis into as many parts as there are points, and uses each part once (McKay, Beckman and
// Conover, A Comparison of Three Methods for Selecting Values of Input Variables, Technometrics 21, 1979).
var lhc = Sampler{Name: "lhc", Words: "Latin hypercube: each part of each axis once", Draw: drawLHC}

func drawLHC(s *Space, n int, seed uint64) (*Design, error) {
	dims := len(s.axes)
	batch := mat.NewDense(n, dims, nil)
	samplemv.LatinHypercube{Q: distmv.NewUnitUniform(dims, nil), Src: rand.NewPCG(seed, 1)}.Sample(batch)
	return &Design{n, batch.RawRowView}, nil
}
