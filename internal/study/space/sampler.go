package space

import (
	"iter"

	"railyard/internal/field"
)

// Sampler is a method to choose points of a space.
type Sampler struct {
	Name  string
	Words string // description for help
	// Whole: it takes all points and no number of samples.
	Whole bool
	// Grows reports that a larger number of samples begins with the points of a smaller one.
	Grows bool
	// Draw returns the coordinates of n points of a seed.
	Draw func(s *Space, n int, seed uint64) (*Design, error)
}

// Samplers lists the samplers by name.
var Samplers = []*Sampler{&grid, &random, &lhc, &halton, &morris}

// SamplerNames returns their names.
func SamplerNames() (names []string) {
	for _, s := range Samplers {
		names = append(names, s.Name)
	}
	return names
}

// Lookup returns a sampler by its name; the error has the path sampler.
func Lookup(name string) (*Sampler, error) {
	for _, s := range Samplers {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, field.Choice("sampler", name, SamplerNames(), "unknown sampler %s", field.Quote(name))
}

// Design holds the coordinates of points, by number from 0.
type Design struct {
	N  int
	At func(i int) []float64
}

// MaxPoints bounds the points of a design before requirements and seeds.
const MaxPoints = 100_000_000

// Points returns the points of a space that a sampler chooses and the space accepts, with their coordinates. n is the
// number of samples. A sampler whose designs grow draws on until n are accepted.
func Points(s *Space, by *Sampler, n int, seed uint64) (iter.Seq2[Point, []float64], error) {
	d, err := by.Draw(s, n, seed)
	if err != nil {
		return nil, err
	}
	if s.Constrained() && by.Grows {
		if d, err = enough(s, by, n, seed, d); err != nil {
			return nil, err
		}
	}
	return func(yield func(Point, []float64) bool) {
		left := d.N
		if by.Grows {
			left = n
		}
		for i := 0; i < d.N && left > 0; i++ {
			u := d.At(i)
			if p := s.At(u); s.Accepts(p) {
				left--
				if !yield(p, u) {
					return
				}
			}
		}
	}, nil
}

// patience is the number of draws, as a multiple of n, after which requirements are assumed to exclude nearly all
// points.
const patience = 1024

// enough draws designs of double size until n points are accepted.
func enough(s *Space, by *Sampler, n int, seed uint64, d *Design) (*Design, error) {
	for {
		accepted := 0
		for i := range d.N {
			if s.Accepts(s.At(d.At(i))) {
				accepted++
			}
		}
		switch {
		case accepted >= n:
			return d, nil
		case d.N >= patience*n || 2*d.N > MaxPoints:
			return nil, field.New("require", "%d of %d points drawn meet all requirements, %d are needed", accepted, d.N, n)
		}
		var err error
		if d, err = by.Draw(s, 2*d.N, seed); err != nil {
			return nil, err
		}
	}
}
