package rng

import (
	"math"
	"slices"
	"testing"
)

// The generator is splitmix64: its first five values from seed 1234567, as
// published with the reference C code of Vigna (Rosetta Code lists them).
func TestIsSplitmix64(t *testing.T) {
	s := Stream{state: 1234567}
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423,
		4593380528125082431, 16408922859458223821} {
		if got := s.Uint64(); got != want {
			t.Errorf("value %d is %d, want %d", i, got, want)
		}
	}
}

// Seed and name decide a stream, and nothing else does: what others draw in
// between does not reshuffle it.
func TestStreamsAreNamed(t *testing.T) {
	draw := func(seed uint64, name string, between func()) (x [4]uint64) {
		s := New(seed, name)
		for i := range x {
			between()
			x[i] = s.Uint64()
		}
		return x
	}
	other := New(1, "spine-2")
	alone := draw(1, "spine-1", func() {})
	if with := draw(1, "spine-1", func() { other.Uint64() }); with != alone {
		t.Errorf("%v with another stream drawn in between, %v alone", with, alone)
	}
	seen := map[uint64]string{}
	for _, name := range []string{"", "a", "b", "ab", "ba", "spine-1", "spine-10", "spine-11"} {
		for seed := range uint64(100) {
			s := New(seed, name)
			x := s.Uint64()
			if first, twice := seen[x]; twice {
				t.Errorf("%q under seed %d begins as %s does", name, seed, first)
			}
			seen[x] = name
		}
	}
}

// A bijection in which every input bit reaches every output bit: flipping any one
// bit of the input flips each bit of the output about half of the time.
func TestMix64Avalanches(t *testing.T) {
	const n = 4000
	s := New(1, "avalanche")
	flips := [64][64]int{}
	for range n {
		x := s.Uint64()
		y := Mix64(x)
		for i := range 64 {
			for d, j := Mix64(x^1<<i)^y, 0; j < 64; d, j = d>>1, j+1 {
				flips[i][j] += int(d & 1)
			}
		}
	}
	for i := range 64 {
		for j := range 64 { // six standard deviations of n coins
			if d := math.Abs(float64(flips[i][j]) - n/2); d > 6*math.Sqrt(n)/2 {
				t.Errorf("input bit %d flips output bit %d in %d of %d cases", i, j, flips[i][j], n)
			}
		}
	}
}

// Numbers, fractions and permutations stay in their range and come up evenly.
func TestDrawsAreEven(t *testing.T) {
	const n = 60_000
	s := New(7, "even")
	numbers, tenths, firsts := [6]int{}, [10]int{}, [5]int{}
	p := make([]int, 5)
	for range n {
		numbers[s.Intn(6)]++
		f := s.Float64()
		if f < 0 || f >= 1 {
			t.Fatalf("%v lies outside [0,1)", f)
		}
		tenths[int(f*10)]++
		s.Perm(p)
		firsts[p[0]]++
		if slices.Sort(p); !slices.Equal(p, []int{0, 1, 2, 3, 4}) {
			t.Fatalf("%v is not a permutation", p)
		}
	}
	for what, counts := range map[string][]int{"Intn": numbers[:], "Float64": tenths[:], "Perm": firsts[:]} {
		want := n / float64(len(counts))
		for i, got := range counts {
			if math.Abs(float64(got)-want) > 6*math.Sqrt(want) {
				t.Errorf("%s: %d came up %d times of %d, want about %.0f", what, i, got, n, want)
			}
		}
	}
}
