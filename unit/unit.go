// Package unit holds the three quantities everything in Railyard is measured
// in: Time in picoseconds, Rate in bits per second and Bytes.
//
// One byte at 400 Gbit/s takes exactly 20 ps, so integer picoseconds are exact on the simulated links. The core never
// uses floating point time.
package unit

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Time is a point in simulated time or a duration, in picoseconds. The range
// of an int64 is about 106 days.
type Time int64

// Multiples of a picosecond.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Never is later than every event.
const Never Time = 1<<63 - 1

// Rate is a data rate in bits per second.
type Rate int64

// Multiples of a bit per second.
const (
	BitPerSecond Rate = 1
	Kbps              = 1000 * BitPerSecond
	Mbps              = 1000 * Kbps
	Gbps              = 1000 * Mbps
	Tbps              = 1000 * Gbps
)

// Bytes is an amount of data.
type Bytes int64

// Multiples of a byte; KB and friends are decimal, KiB and friends binary.
const (
	Byte Bytes = 1
	KB         = 1000 * Byte
	MB         = 1000 * KB
	GB         = 1000 * MB
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
)

// Serialize returns the time of b bytes on a link of rate r, rounded up to a whole picosecond. It saturates at Never
// instead of overflowing. A rate of zero or less returns Never.
func Serialize(b Bytes, r Rate) Time {
	if b <= 0 {
		return 0
	}
	if r <= 0 {
		return Never
	}
	hi, lo := bits.Mul64(uint64(b), 8*uint64(Second))
	lo, carry := bits.Add64(lo, uint64(r)-1, 0)
	hi += carry
	if hi >= uint64(r) {
		return Never
	}
	q, _ := bits.Div64(hi, lo, uint64(r))
	if q > uint64(Never) {
		return Never
	}
	return Time(q)
}

// InTime returns the whole bytes transmitted at rate r in time t; zero for negative arguments, saturating at the
// largest Bytes.
func InTime(r Rate, t Time) Bytes {
	if r <= 0 || t <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(r), uint64(t))
	d := 8 * uint64(Second)
	if hi >= d {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, d)
	if q > 1<<63-1 {
		return 1<<63 - 1
	}
	return Bytes(q)
}

// FromSeconds converts floating point seconds to a Time, saturating at zero and Never: Go does not define out-of-range
// conversions. NaN converts to Never.
func FromSeconds(s float64) Time {
	ps := s * float64(Second)
	switch {
	case ps <= 0:
		return 0
	case ps < float64(Never):
		return Time(ps)
	}
	return Never
}

// Seconds returns the time as floating point seconds, for reports.
func (t Time) Seconds() float64 { return float64(t) / float64(Second) }

// Micros returns the time as floating point microseconds, for reports.
func (t Time) Micros() float64 { return float64(t) / float64(Microsecond) }

type scale struct {
	suffix string
	factor int64
}

// The first matching suffix wins, so longer ones precede the suffixes that they contain.
var (
	timeScales = []scale{
		{"ps", int64(Picosecond)}, {"ns", int64(Nanosecond)}, {"us", int64(Microsecond)},
		{"µs", int64(Microsecond)}, {"ms", int64(Millisecond)}, {"s", int64(Second)},
	}
	rateScales = []scale{
		{"Tbps", int64(Tbps)}, {"Gbps", int64(Gbps)}, {"Mbps", int64(Mbps)}, {"Kbps", int64(Kbps)},
		{"GB/s", 8 * int64(Gbps)}, {"MB/s", 8 * int64(Mbps)}, {"TB/s", 8 * int64(Tbps)},
		{"Tb/s", int64(Tbps)}, {"Gb/s", int64(Gbps)}, {"Mb/s", int64(Mbps)},
		{"Tbit/s", int64(Tbps)}, {"Gbit/s", int64(Gbps)}, {"Mbit/s", int64(Mbps)},
		{"tbps", int64(Tbps)}, {"gbps", int64(Gbps)}, {"mbps", int64(Mbps)}, {"kbps", int64(Kbps)},
		{"bps", 1},
		{"TbE", int64(Tbps)}, {"GbE", int64(Gbps)}, {"GE", int64(Gbps)},
		{"T", int64(Tbps)}, {"t", int64(Tbps)}, {"G", int64(Gbps)}, {"g", int64(Gbps)}, {"M", int64(Mbps)},
	}
	byteScales = []scale{
		{"KiB", int64(KiB)}, {"MiB", int64(MiB)}, {"GiB", int64(GiB)}, {"TiB", int64(GiB) * 1024},
		{"KB", int64(KB)}, {"MB", int64(MB)}, {"GB", int64(GB)}, {"TB", int64(GB) * 1000}, {"B", 1},
	}
	lengthScales = []scale{{"mm", 1}, {"cm", 10}, {"km", 1_000_000}, {"m", 1000}}
)

// RateWords is the units that ParseRate reads, as alternatives of a regular expression.
func RateWords() string {
	words := make([]string, len(rateScales))
	for i, s := range rateScales {
		words[i] = s.suffix
	}
	return strings.Join(words, "|")
}

// A ParseError describes what is wrong with a quantity and which form is accepted.
type ParseError struct {
	What   string // "time", "rate", "size" or "length"
	Found  string
	Reason string
	Accept string
}

func (e *ParseError) Error() string {
	found := e.Found
	if r := []rune(found); len(r) > 60 {
		found = string(r[:57]) + "..."
	}
	return fmt.Sprintf("%q is not a %s: %s; write for example %s", found, e.What, e.Reason, e.Accept)
}

func parse(s, what, accept string, scales []scale) (int64, error) {
	fail := func(reason string) (int64, error) {
		return 0, &ParseError{What: what, Found: s, Reason: reason, Accept: accept}
	}
	t := strings.TrimSpace(s)
	for _, sc := range scales {
		num, ok := strings.CutSuffix(t, sc.suffix)
		if !ok {
			continue
		}
		num = strings.TrimSpace(num)
		whole, frac, _ := strings.Cut(num, ".")
		if whole == "" || !digits(whole) || !digits(frac) || len(frac) > 12 {
			return fail(unread(t, scales, "the number before the unit cannot be read"))
		}
		w, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return fail("the number is too large")
		}
		hi, lo := bits.Mul64(uint64(w), uint64(sc.factor))
		if hi != 0 || lo > 1<<62 {
			return fail("the number is too large")
		}
		v := int64(lo)
		if frac != "" {
			f, _ := strconv.ParseInt(frac, 10, 64)
			div := uint64(1)
			for range frac {
				div *= 10
			}
			hi, lo := bits.Mul64(uint64(f), uint64(sc.factor))
			q, rem := bits.Div64(hi, lo, div)
			if rem != 0 {
				return fail("it is finer than the smallest step")
			}
			v += int64(q)
		}
		return v, nil
	}
	if t != "" && digits(strings.Replace(t, ".", "", 1)) {
		return fail("the unit is missing")
	}
	return fail(unread(t, scales, "the unit is not known"))
}

// unread reports that a string is not a quantity because of the word after its number: in 100kB the k belongs to the
// unit. Units that differ from it in the case of letters alone are named, for GBps GB/s first.
func unread(t string, scales []scale, otherwise string) string {
	num := strings.TrimRight(t, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ/")
	word := t[len(num):]
	if num = strings.TrimSpace(num); num == "" || !digits(strings.Replace(num, ".", "", 1)) {
		return otherwise
	}
	var like []string
	perSecond := strings.Replace(word, "Bps", "B/s", 1)
	for _, s := range scales {
		if s.suffix == word {
			return otherwise
		}
		if perSecond != word && strings.HasSuffix(s.suffix, "B/s") && strings.EqualFold(s.suffix, perSecond) {
			like = slices.Insert(like, 0, strconv.Quote(s.suffix))
		} else if strings.EqualFold(s.suffix, word) {
			like = append(like, strconv.Quote(s.suffix))
		}
	}
	if like == nil {
		return fmt.Sprintf("unknown unit %q", word)
	}
	return fmt.Sprintf("unknown unit %q, did you mean %s?", word, strings.Join(like, " or "))
}

func digits(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// ParseTime reads "600ns", "55us", "1.5ms" or "2s".
func ParseTime(s string) (Time, error) {
	v, err := parse(s, "time", "600ns, 55us, 1.5ms or 2s", timeScales)
	return Time(v), err
}

// ParseRate parses "400Gbps", "3.2Tbps" or, for NVLink and PCIe, "450GB/s". It also accepts port speeds, which are in
// bits: "400G", "400GbE", "1.6T". Bytes need B/s.
func ParseRate(s string) (Rate, error) {
	v, err := parse(s, "rate", "400Gbps, 40Mbps or 450GB/s", rateScales)
	return Rate(v), err
}

// ParseBytes reads "4096B", "150KB" (decimal) or "24MiB" (binary).
func ParseBytes(s string) (Bytes, error) {
	v, err := parse(s, "size", "4096B, 150KB or 24MiB", byteScales)
	return Bytes(v), err
}

// ParseLength reads "30m" or "50cm" and returns millimetres.
func ParseLength(s string) (int64, error) { return parse(s, "length", "3m, 50cm or 2km", lengthScales) }

func trim(f float64, prec int) string {
	s := strconv.FormatFloat(f, 'f', prec, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// inLargest formats x in the first of units, largest first, that size has one of, with three decimals at most, or in
// the smallest.
func inLargest(x, size int64, smallest string, units ...scale) string {
	for _, u := range units {
		if size >= u.factor {
			return trim(float64(x)/float64(u.factor), 3) + u.suffix
		}
	}
	return strconv.FormatInt(x, 10) + smallest
}

// String prints the time in the largest unit that keeps it above one, with
// three decimals at most.
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return inLargest(int64(t), max(int64(t), -int64(t)), "ps", scale{"s", int64(Second)}, scale{"ms", int64(Millisecond)},
		scale{"us", int64(Microsecond)}, scale{"ns", int64(Nanosecond)})
}

// String prints the rate in the largest decimal unit that keeps it above one.
func (r Rate) String() string {
	return inLargest(int64(r), int64(r), "bps", scale{"Tbps", int64(Tbps)}, scale{"Gbps", int64(Gbps)},
		scale{"Mbps", int64(Mbps)}, scale{"Kbps", int64(Kbps)})
}

// binary returns the size in the largest binary unit of which it is a whole number; false if there is none.
func (b Bytes) binary() (n int64, suffix string, ok bool) {
	for _, u := range []scale{{"GiB", int64(GiB)}, {"MiB", int64(MiB)}, {"KiB", int64(KiB)}} {
		if int64(b) >= u.factor && int64(b)%u.factor == 0 {
			return int64(b) / u.factor, u.suffix, true
		}
	}
	return 0, "", false
}

// String formats the size in binary units if it is a whole number of them and not of customary decimal ones, 256KB or
// 8GB; otherwise in decimal units.
func (b Bytes) String() string {
	if n, suffix, ok := b.binary(); ok && significant(strconv.FormatInt(int64(b), 10)) > 3 {
		return strconv.FormatInt(n, 10) + suffix
	}
	return inLargest(int64(b), int64(b), "B", scale{"GB", int64(GB)}, scale{"MB", int64(MB)}, scale{"KB", int64(KB)})
}
