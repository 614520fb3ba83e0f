package rng

import "math/bits"

// Stream is a splitmix64 generator (Steele, Lea and Flood, OOPSLA 2014): eight
// bytes of state, no allocation, the same sequence on every platform.
type Stream struct{ state uint64 }

// New returns the stream of the element called name under seed.
func New(seed uint64, name string) Stream {
	h := uint64(14695981039346656037) // FNV-1a over the name
	for i := 0; i < len(name); i++ {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return Stream{state: Mix64(seed*0x9e3779b97f4a7c15 ^ h)}
}

// Uint64 returns the next 64 random bits.
func (s *Stream) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	return Mix64(s.state)
}

// Mix64 is the finaliser of splitmix64: a bijection in which every input bit
// reaches every output bit.
func Mix64(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Intn returns a number in [0,n), n > 0, without modulo bias worth speaking of.
func (s *Stream) Intn(n int) int {
	hi, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int(hi)
}

// Float64 returns a number in [0,1) with 53 random bits.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// Perm fills p with a random permutation of 0..len(p)-1.
func (s *Stream) Perm(p []int) {
	for i := range p {
		j := s.Intn(i + 1)
		p[i] = p[j]
		p[j] = i
	}
}
