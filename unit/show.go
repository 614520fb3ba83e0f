package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// What people read has three significant digits, a space, and the unit that leaves 1 to 999 before it.
// String of the quantities is for files: it has no space and is read back by the parsers.

// NotApplicable is the cell of a value that does not apply.
const NotApplicable = "–"

// Digits formats x with three significant digits: 438, 17.5, 0.648, 10,300, 1.00e-09. Whole numbers below 100 and
// decimals that are exact in fewer digits, such as configured ones, are not rounded: 50, 1.5.
func Digits(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return NotApplicable
	}
	if x == 0 {
		return "0"
	}
	if s := strconv.FormatFloat(x, 'f', -1, 64); significant(s) <= 2 && math.Abs(x) >= 1e-3 {
		return grouped(s)
	}
	rounded := strconv.FormatFloat(x, 'e', 2, 64)
	if math.Abs(x) < 1e-6 {
		return grouped(rounded)
	}
	exponent, _ := strconv.Atoi(rounded[strings.IndexByte(rounded, 'e')+1:])
	y, _ := strconv.ParseFloat(rounded, 64)
	return grouped(strconv.FormatFloat(y, 'f', max(2-exponent, 0), 64))
}

// significant counts the digits of a decimal number from the first that is not 0, without zeros at its end.
func significant(s string) int {
	s = strings.Trim(strings.Replace(strings.TrimPrefix(s, "-"), ".", "", 1), "0")
	return len(s)
}

// grouped separates thousands with commas and writes a minus sign.
func grouped(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	whole, frac, point := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + frac
	}
	return sign + whole
}

// step is a unit and how many of the one before it make it.
type step struct {
	suffix string
	factor float64
}

var (
	timeSteps = []step{{"ps", 1}, {"ns", 1000}, {"µs", 1000}, {"ms", 1000}, {"s", 1000}, {"min", 60}, {"h", 60},
		{"days", 24}}
	rateSteps = []step{{"bit/s", 1}, {"kbit/s", 1000}, {"Mbit/s", 1000}, {"Gbit/s", 1000}, {"Tbit/s", 1000},
		{"Pbit/s", 1000}}
	byteSteps  = []step{{"B", 1}, {"KB", 1000}, {"MB", 1000}, {"GB", 1000}, {"TB", 1000}, {"PB", 1000}, {"EB", 1000}}
	busSteps   = []step{{"B/s", 1}, {"KB/s", 1000}, {"MB/s", 1000}, {"GB/s", 1000}, {"TB/s", 1000}, {"PB/s", 1000}}
	moneySteps = []step{{"", 1}, {"k", 1000}, {"M", 1000}, {"B", 1000}, {"T", 1000}}
	tallies    = []step{{"", 1}, {"k", 1000}, {"M", 1000}, {"G", 1000}, {"T", 1000}, {"P", 1000}}
)

// scaled formats x in the largest unit that leaves at least 1 after rounding. Minutes, hours and days need at least 2,
// so that 60 s and 90 s remain seconds.
func scaled(x float64, steps []step) string {
	i := 0
	for ; i+1 < len(steps); i++ {
		next := steps[i+1].factor
		least := next * (1 - 5e-4)
		if next != 1000 {
			least = 2 * next
		}
		if math.Abs(x) < least {
			break
		}
		x /= next
	}
	return strings.TrimSuffix(Digits(x)+" "+steps[i].suffix, " ")
}

// Show formats a time for people: 1.51 ms, 50 µs, 0 s, 10.1 min.
func (t Time) Show() string {
	switch t {
	case Never:
		return "never"
	case 0:
		return "0 s"
	}
	return scaled(float64(t), timeSteps)
}

// ShowSeconds formats a time in seconds for people, also one beyond Never: 134 days.
func ShowSeconds(s float64) string {
	if s == 0 {
		return "0 s"
	}
	return scaled(s*float64(Second), timeSteps)
}

// Show formats a rate for people: 200 Gbit/s, 12.8 Tbit/s.
func (r Rate) Show() string { return scaled(float64(r), rateSteps) }

// Show formats a measured size for people: 4.16 KB, 67.1 MB.
func (b Bytes) Show() string { return scaled(float64(b), byteSteps) }

// ShowSet formats a configured size for readers: in binary units if it is a whole number of them and not of decimal
// ones, 24 MiB.
func (b Bytes) ShowSet() string {
	if significant(strconv.FormatInt(int64(b), 10)) <= 3 {
		return b.Show()
	}
	if n, suffix, ok := b.binary(); ok && n < 1000*1024 {
		return grouped(strconv.FormatInt(n, 10)) + " " + suffix
	}
	return b.Show()
}

// ShowCount formats a count for people: exact to 99,999, then 46.8 M.
func ShowCount[T int | int32 | int64 | uint32 | uint64](n T) string {
	if x := float64(n); math.Abs(x) >= 1e5 {
		return scaled(x, tallies)
	}
	return grouped(strconv.FormatInt(int64(n), 10))
}

// ShowAmount formats a count of parameters or tokens as people write it: 406B, 15.6T.
func ShowAmount(x float64) string { return strings.ReplaceAll(scaled(x, moneySteps), " ", "") }

// ShowMoney formats an amount for people, in dollars or another currency: $2,260, $634 k, 2.31 M EUR.
func ShowMoney(x float64, currency string) string {
	s := Digits(x)
	if math.Abs(x) >= 1e5 {
		s = scaled(x, moneySteps)
	}
	if currency == "USD" {
		return "$" + s
	}
	return s + " " + currency
}

// ShowShare formats a share in percent with one decimal: 34.8 %.
func ShowShare(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return NotApplicable
	case share == 0 || share == 1:
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return strings.Replace(fmt.Sprintf("%.1f %%", 100*share), "-", "−", 1)
}

// ShowChange formats the difference of a value to its baseline, with its sign: −2.6 %; NotApplicable if the baseline is
// zero or the values are equal.
func ShowChange(value, baseline float64) string {
	if baseline == 0 || value == baseline {
		return NotApplicable
	}
	x := value/baseline - 1
	s := ShowShare(x)
	if math.Abs(x) >= 10 {
		s = Digits(100*x) + " %"
	}
	if !strings.HasPrefix(s, "−") && s != NotApplicable {
		s = "+" + s
	}
	return s
}

// ShowFactor formats a ratio for people: 4.38 ×.
func ShowFactor(x float64) string {
	if s := Digits(x); s != NotApplicable {
		return s + " ×"
	}
	return NotApplicable
}

// IsShown reports whether a word is a unit that Show writes after a number and that no line break may separate from it.
func IsShown(word string) bool {
	word = strings.TrimRight(word, ",.;:)")
	if word == "%" || word == "×" {
		return true
	}
	for _, steps := range [][]step{timeSteps, rateSteps, byteSteps, busSteps, tallies} {
		for _, s := range steps {
			if s.suffix != "" && s.suffix == word {
				return true
			}
		}
	}
	return word == "KiB" || word == "MiB" || word == "GiB"
}
