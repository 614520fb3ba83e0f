package unit

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestShow checks quantities as people read them: three digits, a space, the unit that leaves 1 to 999 before it.
func TestShow(t *testing.T) {
	for got, want := range map[string]string{
		Time(1_513_251_000).Show():      "1.51 ms",
		(50 * Microsecond).Show():       "50 µs",
		(6_800_300 * Nanosecond).Show(): "6.80 ms",
		Time(999_600_000).Show():        "1.00 ms",
		Time(0).Show():                  "0 s",
		Never.Show():                    "never",
		ShowSeconds(0):                  "0 s",
		ShowSeconds(0.0068):             "6.8 ms",
		ShowSeconds(11_527_000):         "133 days",
		ShowSeconds(2.5e9):              "28,900 days",
		Time(-51_700_001_000).Show():    "−51.7 ms",
		(60 * Second).Show():            "60 s",
		(603 * Second).Show():           "10.1 min",
		(200 * Gbps).Show():             "200 Gbit/s",
		(12_800 * Gbps).Show():          "12.8 Tbit/s",
		Bytes(4160).Show():              "4.16 KB",
		Bytes(0).Show():                 "0 B",
		(16 * MiB).Show():               "16.8 MB",
		(16 * MiB).ShowSet():            "16 MiB",
		(80 * MB).ShowSet():             "80 MB",
		(4 * KiB).ShowSet():             "4 KiB",
		(150 * KB).ShowSet():            "150 KB",
		ShowCount(99_999):               "99,999",
		ShowCount(int64(46_812_345)):    "46.8 M",
		ShowCount(100_000):              "100 k",
		ShowCount(999_960):              "1.00 M",
		ShowCount(-1234):                "−1,234",
		ShowShare(0.3484):               "34.8 %",
		ShowAmount(999.7e6):             "1.00B",
		ShowAmount(15.6e12):             "15.6T",
		ShowMoney(2256, "USD"):          "$2,260",
		ShowMoney(633_600, "USD"):       "$634 k",
		ShowMoney(2.314e9, "EUR"):       "2.31 B EUR",
		ShowShare(0):                    "0 %",
		ShowShare(1):                    "100 %",
		ShowShare(math.NaN()):           "–",
		ShowChange(1.4737, 1.5133):      "−2.6 %",
		ShowChange(1.01, 1):             "+1.0 %",
		ShowChange(1, 1):                "–",
		ShowChange(12, 1):               "+1,100 %",
		ShowChange(1, 0):                "–",
		ShowFactor(4.382):               "4.38 ×",
		Digits(7466.2):                  "7,470",
		Digits(10_259):                  "10,300",
		Digits(9.996):                   "10.0",
		Digits(0.6478):                  "0.648",
		Digits(17):                      "17",
		Digits(-0.000123456):            "−0.000123",
		Digits(math.Inf(1)):             "–",
		(2 * Second).Show():             "2 s",
		(1500 * Millisecond).Show():     "1.5 s",
		(Picosecond * 20).Show():        "20 ps",
		Rate(0).Show():                  "0 bit/s",
		Bytes(1<<62 + 12345).Show():     "4.61 EB",
		(3 * GiB).ShowSet():             "3 GiB",
	} {
		if got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	for word, want := range map[string]bool{"µs,": true, "%": true, "ms)": true, "KiB": true, "hosts": false, "": false} {
		if IsShown(word) != want {
			t.Errorf("IsShown(%q) is %t", word, !want)
		}
	}
}

// TestShowAnything checks the form and the error of any quantity: at most three digits that count.
func TestShowAnything(t *testing.T) {
	form := regexp.MustCompile(`^−?[0-9]{1,3}(\.[0-9]{1,2})? (ps|ns|µs|ms|s|min|h|days)$`)
	rapid.Check(t, func(t *rapid.T) {
		x := Time(rapid.Int64Range(-int64(100*Second), int64(100*Second)).Draw(t, "ps"))
		s := x.Show()
		if !form.MatchString(s) {
			t.Fatalf("%d ps: %q", x, s)
		}
		d := rapid.Float64Range(1e-6, 1e12).Draw(t, "x")
		back, err := strconv.ParseFloat(strings.ReplaceAll(Digits(d), ",", ""), 64)
		if err != nil || math.Abs(back-d) > 0.0051*d {
			t.Fatalf("%g: %q %v", d, Digits(d), err)
		}
	})
}
