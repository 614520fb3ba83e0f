package goodput

import "math"

// Young is the interval between checkpoints that loses least of the time, of work between the end of one
// and the beginning of the next, where each keeps everybody for stall and failures come every mtbf on
// average (Young, Communications of the ACM 17(9), 1974). Seconds.
func Young(stall, mtbf float64) float64 { return math.Sqrt(2 * stall * mtbf) }

// Daly is the same to a higher order (Daly, Future Generation Computer Systems 22, 2006, equation 37).
func Daly(stall, mtbf float64) float64 {
	if stall >= 2*mtbf {
		return mtbf
	}
	x := stall / (2 * mtbf)
	return math.Sqrt(2*stall*mtbf)*(1+math.Sqrt(x)/3+x/9) - stall
}

// Expected is the share of the time that is useful with that interval, where a server can always be
// replaced and a checkpoint counts when its stall ends: Daly's complete model, in which failures happen
// at any time, also while a checkpoint is written and while the job starts again, which then is noticed
// and done anew. While a failure is not yet noticed others do no more harm.
//
// A segment of work and stall takes (e^(segment/mtbf) - 1) failures on average, each of which
// costs the time until it, mtbf less what a success has, and the way back.
func Expected(interval, stall, mtbf, detect, restart float64) float64 {
	if math.IsInf(mtbf, 1) {
		return interval / (interval + stall)
	}
	return interval / (math.Expm1((interval+stall)/mtbf) * math.Exp(restart/mtbf) * (mtbf + detect))
}
