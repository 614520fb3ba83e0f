package route

import "railyard/unit"

// maxShares is the maximum number of entries of a port in its group, as in hardware tables of weighted next hops.
const maxShares = 16

// Shares returns how often each of several equal-cost ports occurs in its group, in proportion to their rates: 100G
// and 150G occur two and three times. A hash, or spraying in turn, thus loads links of different speed equally
// (WCMP, Zhou et al., EuroSys 2014).
func Shares(rates []unit.Rate) []int {
	common, fastest := unit.Rate(0), unit.Rate(0)
	for _, r := range rates {
		fastest = max(fastest, r)
		for common, r = r, common; r != 0; {
			common, r = r, common%r
		}
	}
	common = max(common, (fastest+maxShares-1)/maxShares)
	shares := make([]int, len(rates))
	for i, r := range rates {
		shares[i] = max(1, int((r+common/2)/common))
	}
	return shares
}
