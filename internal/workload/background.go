package workload

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/rng"
	"railyard/unit"
)

// Sizes is a distribution of message sizes. Between two points of its cumulative distribution sizes are uniform, as
// in HPCC's and htsim's generators.
type Sizes struct {
	bytes  []float64
	shares []float64 // 0 to 1, rising
}

// Always is one size.
func Always(size unit.Bytes) *Sizes {
	return &Sizes{bytes: []float64{float64(size)}, shares: []float64{1}}
}

// maxPoints bounds a file.
const maxPoints = 100_000

// ParseSizes parses a cumulative distribution in the format of HPCC's traffic generator and ns-3: a size in bytes
// and a share in percent per line, both rising, up to 100.
func ParseSizes(file string, text []byte) (*Sizes, error) {
	d := &Sizes{}
	fail := func(line int, format string, args ...any) error {
		e := field.New("", format, args...)
		e.File, e.Line, e.Col = file, line, 1
		return e
	}
	last := 0
	for n, line := range bytes.Split(text, []byte("\n")) {
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if last = n + 1; len(d.bytes) == maxPoints {
			return nil, fail(last, "more than %d points", maxPoints)
		}
		if len(words) != 2 {
			return nil, fail(last, "found %s, expected a size in bytes and the share of messages up to it in percent", field.Quote(string(line)))
		}
		size, err1 := strconv.ParseFloat(words[0], 64)
		percent, err2 := strconv.ParseFloat(words[1], 64)
		if err1 != nil || err2 != nil || !(size >= 0 && size <= 1e15) || !(percent >= 0 && percent <= 100) {
			return nil, fail(last, "found %s, expected a size in bytes and the share of messages up to it in percent", field.Quote(string(line)))
		}
		if k := len(d.bytes); k > 0 && (size < d.bytes[k-1] || percent/100 < d.shares[k-1]) {
			return nil, fail(last, "%s %s is below the line before: sizes and shares rise", words[0], words[1])
		}
		d.bytes, d.shares = append(d.bytes, size), append(d.shares, percent/100)
	}
	switch k := len(d.bytes); {
	case k == 0:
		return nil, fail(1, "has no line of a size and a share")
	case d.shares[k-1] != 1:
		return nil, fail(last, "ends at %v percent, expected 100", 100*d.shares[k-1])
	case d.Mean() < 1:
		return nil, fail(last, "its messages have %.3g bytes in the mean", d.Mean())
	}
	return d, nil
}

// Mean returns the mean size, in bytes.
func (d *Sizes) Mean() float64 {
	sum := float64(d.bytes[0] * d.shares[0])
	for i := 1; i < len(d.bytes); i++ {
		mid := (d.bytes[i] + d.bytes[i-1]) / 2
		sum += float64(mid * (d.shares[i] - d.shares[i-1]))
	}
	return sum
}

// At is the size that a share of all messages stays below, at least a byte.
func (d *Sizes) At(share float64) unit.Bytes {
	i, _ := slices.BinarySearch(d.shares, share)
	if i == 0 || i == len(d.shares) {
		return max(1, unit.Bytes(math.Round(d.bytes[min(i, len(d.shares)-1)])))
	}
	of := (share - d.shares[i-1]) / (d.shares[i] - d.shares[i-1])
	return max(1, unit.Bytes(math.Round(d.bytes[i-1]+float64(of*(d.bytes[i]-d.bytes[i-1])))))
}

// Background is messages at random times: at each rank as a Poisson process, each to another rank at random, for
// some time.
type Background struct {
	Sizes  *Sizes
	Load   float64 // mean share of a rank's line rate that its messages take
	For    unit.Time
	Rates  []unit.Rate         // by rank: its line rate
	Beside func(a, b int) bool // ranks that do not use the network among themselves
	To     func(src int) []int // receivers of a rank; nil: all others
}

// Flows draws the messages, in the order of ranks and times.
func (b *Background) Flows(r rng.Stream) ([]Flow, error) {
	expected := 0.0
	for _, rate := range b.Rates {
		expected += b.Load * float64(rate) / 8 / b.Sizes.Mean() * b.For.Seconds()
	}
	if expected > MaxOps/2 {
		return nil, field.New("for", "%v of such messages would be about %.3g, at most %d are taken", b.For,
			expected, MaxOps/2)
	}
	all, to := seq(len(b.Rates)), b.To
	if to == nil {
		to = func(int) []int { return all }
	}
	var flows []Flow
	for src, rate := range b.Rates {
		among := to(src)
		if !b.others(src, among) {
			return nil, field.New("", "rank %d has no peer over the network", src)
		}
		gap := b.Sizes.Mean() * 8 / (b.Load * float64(rate)) * float64(unit.Second)
		for at := 0.0; ; {
			at -= float64(gap * math.Log(1-r.Float64()))
			if at >= float64(b.For) {
				break
			}
			dst := among[r.Intn(len(among))]
			for dst == src || b.Beside(src, dst) {
				dst = among[r.Intn(len(among))]
			}
			flows = append(flows, Flow{Src: src, Dst: dst, Bytes: b.Sizes.At(r.Float64()), Start: unit.Time(at)})
		}
	}
	if len(flows) == 0 {
		return nil, field.New("for", "no message was sent within %v: the mean time between two of a rank is %v",
			b.For, unit.Time(b.Sizes.Mean()*8/(b.Load*float64(b.Rates[0]))*float64(unit.Second)))
	}
	return flows, nil
}

// others reports whether a rank has a destination.
func (b *Background) others(src int, to []int) bool {
	return slices.ContainsFunc(to, func(dst int) bool { return dst != src && !b.Beside(src, dst) })
}
