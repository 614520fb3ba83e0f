package unit

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Count is a non-negative number that saturates at TooMany: sums and products never overflow. Sizes from untrusted
// input are multiplied as Counts and compared with limits before use.
type Count int64

// TooMany is more than can be counted.
const TooMany Count = 1<<63 - 1

// Times multiplies; a negative factor is invalid and returns TooMany.
func (c Count) Times(n int64) Count {
	if c < 0 || n < 0 {
		return TooMany
	}
	hi, lo := bits.Mul64(uint64(c), uint64(n))
	if hi != 0 || lo > uint64(TooMany) {
		return TooMany
	}
	return Count(lo)
}

// Plus adds.
func (c Count) Plus(d Count) Count {
	if c < 0 || d < 0 || c > TooMany-d {
		return TooMany
	}
	return c + d
}

// Plural is a number with its noun: 1 cable, 3 cables, 2 switches, 16,384 GPUs.
func Plural[T int | int32 | int64 | uint32 | uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch last := noun[len(noun)-1]; {
	case last == 's' || last == 'x' || strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "sh"):
		noun += "es"
	case last == 'y' && !strings.ContainsRune("aeiou", rune(noun[len(noun)-2])):
		noun = noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "leaf"):
		noun = noun[:len(noun)-1] + "ves"
	default:
		noun += "s"
	}
	return grouped(strconv.FormatInt(int64(n), 10)) + " " + noun
}

// Share is a part of a whole, from 0 to 1, written as a percentage.
type Share float64

// Percent returns s in percent, without the noise of the last binary digits: 7, not 7.000000000000001.
func (s Share) Percent() float64 { return math.Round(float64(s)*1e14) / 1e12 }

func (s Share) String() string { return fmt.Sprint(s.Percent()) }
