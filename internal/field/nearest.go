package field

import (
	"strings"
	"unicode/utf8"
)

// nearest is the accepted word that s resembles, "" when none does.
func nearest(s string, words []string) string {
	if len(s) > longest {
		return ""
	}
	best, least := "", 0
	for _, w := range words {
		d := Distance(strings.ToLower(s), strings.ToLower(w))
		if d >= 2+len(s)/4 || d >= max(len(s), len(w)) {
			continue
		}
		if d *= 4; within(s, w) { // letters are missing: llama-3-70b is llama-3.1-70b, not llama-2-70b
			d /= 4
		}
		if best == "" || d < least {
			best, least = w, d
		}
	}
	return best
}

// longest is the length of words that resemble no other; comparing longer ones takes a while.
const longest = 200

// within reports whether w has all letters of s in their order.
func within(s, w string) bool {
	for _, r := range w {
		if first, n := utf8.DecodeRuneInString(s); s != "" && r == first {
			s = s[n:]
		}
	}
	return s == ""
}

// Distance is Levenshtein's: the number of letters added, removed or changed.
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
