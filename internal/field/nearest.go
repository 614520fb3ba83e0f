package field

// nearest is the accepted word that s resembles, "" when none does.
func nearest(s string, words []string) string {
	if len(s) > 200 { // resembles nothing, and comparing takes a while
		return ""
	}
	best, least := "", 2+len(s)/4
	for _, w := range words {
		if d := Distance(s, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// Distance is Levenshtein's: how many letters are added, taken away or changed.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, prev+1)
		}
	}
	return row[len(b)]
}
