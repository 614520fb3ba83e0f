package swconf

import (
	"fmt"
	"strconv"
	"strings"
)

var dscpNames = map[string]int{"default": 0, "cs1": 8, "cs2": 16, "cs3": 24, "cs4": 32, "cs5": 40, "cs6": 48,
	"cs7": 56, "ef": 46,
	"af11": 10, "af12": 12, "af13": 14, "af21": 18, "af22": 20, "af23": 22, "af31": 26, "af32": 28,
	"af33": 30, "af41": 34, "af42": 36, "af43": 38}

// DSCPs reads a set of DSCPs: "24", "24-31", "24,26" and the names of RFC 4594.
func DSCPs(s string) (set [64]bool, err error) {
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		lo, hi, ranged := strings.Cut(part, "-")
		a, ok1 := dscpValue(lo)
		b, ok2 := a, true
		if ranged {
			b, ok2 = dscpValue(hi)
		}
		if !ok1 || !ok2 || a > b {
			return set, fmt.Errorf("%q is not a DSCP, they are 0 to 63", part)
		}
		for ; a <= b; a++ {
			set[a] = true
		}
	}
	return set, nil
}

var precedenceNames = map[string]int{
	"routine":        0,
	"priority":       1,
	"immediate":      2,
	"flash":          3,
	"flash-override": 4,
	"critical":       5,
	"internet":       6,
	"network":        7,
}

// Precedences reads a set of IP precedences as the DSCPs that have them (RFC 2474, 4.2.2).
func Precedences(s string) (set [64]bool, err error) {
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		a, named := precedenceNames[strings.ToLower(part)]
		b := a
		if !named {
			lo, hi, ranged := strings.Cut(part, "-")
			if !ranged {
				hi = lo
			}
			var err1, err2 error
			a, err1 = strconv.Atoi(lo)
			b, err2 = strconv.Atoi(hi)
			if err1 != nil || err2 != nil || a < 0 || b > 7 || a > b {
				return set, fmt.Errorf("%q is not a precedence, they are 0 to 7", part)
			}
		}
		for d := a * 8; d < b*8+8; d++ {
			set[d] = true
		}
	}
	return set, nil
}

func dscpValue(s string) (int, bool) {
	if n, ok := dscpNames[strings.ToLower(s)]; ok {
		return n, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n < 64
}

// DSCPSet writes the DSCPs of a queue: 24,26-29. "" when there are none.
func DSCPSet(m [64]uint8, q uint8) string {
	var d []int
	for i, to := range m {
		if to == q {
			d = append(d, i)
		}
	}
	return ranges(d)
}
