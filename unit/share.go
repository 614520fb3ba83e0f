package unit

import (
	"fmt"
	"math"
)

// Share is a part of a whole, from 0 to 1, which people write in percent.
type Share float64

// Percent returns s in percent, without the noise of the last binary digits: 7, not 7.000000000000001.
func (s Share) Percent() float64 { return math.Round(float64(s)*1e14) / 1e12 }

func (s Share) String() string { return fmt.Sprint(s.Percent()) }
