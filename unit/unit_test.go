package unit

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSerialize(t *testing.T) {
	for _, c := range []struct {
		b    Bytes
		r    Rate
		want Time
	}{{1, 400 * Gbps, 20}, {4178, 400 * Gbps, 83560}, {1, 3, 2666666666667}, {0, 1, 0}, {1, 0, Never},
		{1 << 62, BitPerSecond, Never}, {8 * GB, 400 * Gbps, 160 * Millisecond}} {
		if got := Serialize(c.b, c.r); got != c.want {
			t.Errorf("Serialize(%d, %v) = %d, want %d", c.b, c.r, got, c.want)
		}
	}
}

// InTime undoes Serialize: after exactly the serialisation time, all bytes and
// no more have passed.
func TestInTimeUndoesSerialize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Bytes(rapid.Int64Range(1, 1e9).Draw(t, "bytes"))
		r := Rate(rapid.Int64Range(1e6, 4e12).Draw(t, "rate"))
		d := Serialize(b, r)
		if got := InTime(r, d); got < b || got > b+Bytes(r/8e12)+1 {
			t.Fatalf("%d bytes at %d take %d ps, in which %d pass", b, r, d, got)
		}
		if got := InTime(r, d-1); got > b {
			t.Fatalf("one picosecond less passes %d", got)
		}
	})
}

func TestParse(t *testing.T) {
	for in, want := range map[string]int64{
		"600ns": 600_000,
		"1.5ms": 1_500_000_000,
		"55us":  55_000_000,
		"2 s":   2e12,
		"20ps":  20,
	} {
		if got, err := ParseTime(in); err != nil || int64(got) != want {
			t.Errorf("ParseTime(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for in, want := range map[string]int64{
		"400Gbps":   4e11,
		"3.2Tbps":   32e11,
		"450GB/s":   36e11,
		"40Mbps":    4e7,
		"400G":      4e11,
		"400g":      4e11,
		"400GbE":    4e11,
		"100GE":     1e11,
		"1.6T":      16e11,
		"400gbps":   4e11,
		"400Gb/s":   4e11,
		"50GB/s":    4e11,
		"200Gbit/s": 2e11,
		"100 M":     1e8,
	} {
		if got, err := ParseRate(in); err != nil || int64(got) != want {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"400GBps", "400GB", "400gb/s", "400Gi", "400m", "G"} { // bits or bytes?
		if got, err := ParseRate(in); err == nil {
			t.Errorf("ParseRate(%q) = %d", in, got)
		}
	}
	for in, want := range map[string]int64{"24MiB": 24 << 20, "150KB": 150_000, "4096B": 4096, "0B": 0} {
		if got, err := ParseBytes(in); err != nil || int64(got) != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for in, want := range map[string]string{"400": "unit is missing", "": "unit is not known",
		"4 parsec": `unknown unit "parsec"; write for example 600ns`,
		"3 NS":     `unknown unit "NS", did you mean "ns"?`,
		"parsec":   "unit is not known", ".5ns": "cannot be read",
		"5 ms/s":  `unknown unit "ms/s"`,
		"1.2.3ns": "cannot be read", "-5ns": "cannot be read", "5-ns": "cannot be read",
		"99999999999999999999s": "too large",
		"0.0001ps":              "finer"} {
		if _, err := ParseTime(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseTime(%q): %v, want %q", in, err, want)
		}
	}
}

// A unit that is written with other letters is named, with those that were meant perhaps; bits and bytes
// are not the same.
func TestUnitsInOtherLetters(t *testing.T) {
	if _, err := ParseRate("100GBps"); err == nil || !strings.Contains(err.Error(),
		`unknown unit "GBps", did you mean "GB/s" or "Gbps"`) {
		t.Error(err)
	}
	for in, want := range map[string]string{"100kB": `unknown unit "kB", did you mean "KB"?`,
		"100 mib": `unknown unit "mib", did you mean "MiB"?`, "5b": `unknown unit "b", did you mean "B"?`,
		"1.5XB": `unknown unit "XB"; write`} {
		if _, err := ParseBytes(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseBytes(%q): %v, want %s", in, err, want)
		}
	}
	if _, err := ParseRate("400gb/s"); err == nil || !strings.Contains(err.Error(), `"GB/s" or "Gb/s"`) {
		t.Error(err)
	}
}

// What String prints exactly, Parse reads back.
func TestRoundTrip(t *testing.T) {
	for b, want := range map[Bytes]string{256 * KB: "256KB", 512 * KB: "512KB", 8 * GB: "8GB", 128 * MB: "128MB",
		1000 * KiB: "1000KiB", 64 * KiB: "64KiB", 24 * MiB: "24MiB", 1500: "1.5KB"} {
		if got := b.String(); got != want {
			t.Errorf("%d: %s, want %s", b, got, want)
		}
	}
	for _, b := range []Bytes{1, 999, 4096, 150 * KB, 64 * MiB, 8 * GB} {
		if got, err := ParseBytes(b.String()); err != nil || got != b {
			t.Errorf("%d prints as %q, read back as %d, %v", b, b.String(), got, err)
		}
	}
	for _, r := range []Rate{25 * Gbps, 400 * Gbps, 3200 * Gbps, 40 * Mbps} {
		if got, err := ParseRate(r.String()); err != nil || got != r {
			t.Errorf("%d prints as %q, read back as %d, %v", r, r.String(), got, err)
		}
	}
}

// Counts stay at TooMany where 64 bits end, times at Never.
func TestNothingWrapsAround(t *testing.T) {
	for got, want := range map[Count]Count{
		Count(3).Times(4).Plus(5): 17, Count(1 << 32).Times(1 << 31): TooMany, (TooMany - 1).Plus(1): TooMany,
		Count(5).Times(0): 0,
	} {
		if got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	if Count(5).Times(-1) != TooMany || TooMany.Plus(1) != TooMany || TooMany.Times(2) != TooMany {
		t.Error("a count wrapped around")
	}
	nan := math.NaN()
	for s, want := range map[float64]Time{
		-1:           0,
		1e-12:        1,
		1:            Second,
		1e300:        Never,
		math.Inf(1):  Never,
		math.Inf(-1): 0,
	} {
		if got := FromSeconds(s); got != want {
			t.Errorf("%g s are %v, want %v", s, got, want)
		}
	}
	if FromSeconds(nan) != Never {
		t.Error("what is not a number is a time")
	}
}
