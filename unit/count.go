package unit

import "math/bits"

// Count is a number that is not negative and does not overflow: sums and products that
// would, stay at TooMany. Sizes that somebody else has written are multiplied as Counts
// and compared with what is taken before anything works with them.
type Count int64

// TooMany is more than can be counted.
const TooMany Count = 1<<63 - 1

// Times multiplies; a negative factor is nobody's count, and gives TooMany.
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
