package space

import (
	"math/rand/v2"

	"railyard/internal/field"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"
)

// halton takes a low-discrepancy sequence with randomized digits (Owen, A randomized Halton algorithm in R,
// arXiv:1706.02808). Points fill the space evenly, and a larger study begins with a smaller one.
var halton = Sampler{Name: "halton", Words: "low-discrepancy sequence that fills the space evenly", Grows: true,
	Draw: drawHalton}

// maxHalton is the number of axes that gonum has primes for.
const maxHalton = 1000

func drawHalton(s *Space, n int, seed uint64) (*Design, error) {
	dims := len(s.axes)
	if dims > maxHalton {
		return nil, field.New("vary", "%d axes, at most %d are accepted with the sampler halton", dims, maxHalton)
	}
	batch := mat.NewDense(n, dims, nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(dims, nil), Src: rand.NewPCG(seed, 2)}.Sample(batch)
	return &Design{n, batch.RawRowView}, nil
}
