package workload

import (
	"math"
	"strings"
	"testing"

	"railyard/internal/rng"
	"railyard/unit"

	"pgregory.net/rapid"
)

// webSearch is the measured distribution of DCTCP's authors (Alizadeh et al., SIGCOMM 2010, figure 4), in the form
// of HPCC's generator.
const webSearch = "# bytes, percent\n0 0\n10000 15\n20000 20\n30000 30\n50000 40\n80000 53\n200000 60\n" +
	"1e+06 70\n2e+06 80\n5e+06 90\n1e+07 97\n3e+07 100\n"

func TestSizes(t *testing.T) {
	d, err := ParseSizes("ws.txt", []byte(webSearch))
	if err != nil {
		t.Fatal(err)
	}
	// by hand: 0.15*5 + 0.05*15 + 0.1*25 + 0.1*40 + 0.13*65 + 0.07*140 + 0.1*600 + 0.1*1500 + 0.1*3500 +
	// 0.07*7500 + 0.03*20000 KB
	if mean := d.Mean(); math.Abs(mean-1_711_250) > 1 {
		t.Errorf("mean %f", mean)
	}
	for share, want := range map[float64]unit.Bytes{0: 1, 0.15: 10_000, 0.175: 15_000, 0.53: 80_000,
		0.985: 20 * unit.MB, 1: 30 * unit.MB} {
		if got := d.At(share); got != want {
			t.Errorf("%.0f %% are up to %v, want %v", 100*share, got, want)
		}
	}
	if d := Always(64 * unit.KB); d.Mean() != 64_000 || d.At(0) != 64*unit.KB || d.At(0.999) != 64*unit.KB {
		t.Error("one size is not always that")
	}
}

func TestBadSizes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "ws.txt:1:1: has no line of a size and a share",
		"# nothing\n":                        "ws.txt:1:1: has no line",
		"10 50\n":                            "ws.txt:1:1: ends at 50 percent, expected 100",
		"10 50\n5 100\n":                     "ws.txt:2:1: 5 100 is below the line before",
		"10 50\n20 40\n":                     "ws.txt:2:1: 20 40 is below the line before",
		"10\n":                               `ws.txt:1:1: found "10", expected a size in bytes`,
		"10 50 7\n":                          "expected a size in bytes",
		"ten 100\n":                          "expected a size in bytes",
		"NaN 100\n":                          "expected a size in bytes",
		"10 NaN\n":                           "expected a size in bytes",
		"-1 100\n":                           "expected a size in bytes",
		"10 101\n":                           "expected a size in bytes",
		"1e300 100\n":                        "expected a size in bytes",
		"0 100\n":                            "its messages have 0 bytes in the mean",
		strings.Repeat("1 1\n", maxPoints+1): "more than 100000 points",
	} {
		if _, err := ParseSizes("ws.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// pairsOf has two ranks in each server.
func pairsOf(a, b int) bool { return a/2 == b/2 }

// The drawn messages match the request. Bytes match the load within four deviations, and no message is to its
// sender or within a server. Starts are within the time and in order, and equal streams give equal messages.
func TestBackgroundKeepsItsLoad(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := Background{Load: rapid.Float64Range(0.05, 1.5).Draw(rt, "load"), Beside: pairsOf,
			For: 4 * unit.Millisecond}
		d, err := ParseSizes("x", []byte("1000 30\n4000 60\n20000 100\n"))
		if err != nil {
			rt.Fatal(err)
		}
		b.Sizes = d
		for range 2 * rapid.IntRange(2, 6).Draw(rt, "servers") {
			b.Rates = append(b.Rates, unit.Rate(rapid.SampledFrom([]int{25, 100}).Draw(rt, "rate"))*unit.Gbps)
		}
		seed := rapid.Uint64().Draw(rt, "seed")
		flows, err := b.Flows(rng.New(seed, "x"))
		if err != nil {
			rt.Fatal(err)
		}
		sent, wanted := 0.0, 0.0
		for i, f := range flows {
			if f.Src == f.Dst || pairsOf(f.Src, f.Dst) || f.Start < 0 || f.Start >= b.For || f.Bytes < 1 ||
				i > 0 && (flows[i-1].Src > f.Src || flows[i-1].Src == f.Src && flows[i-1].Start > f.Start) {
				rt.Fatalf("message %d: %+v", i, f)
			}
			sent += float64(f.Bytes)
		}
		for _, r := range b.Rates {
			wanted += b.Load * float64(r) / 8 * b.For.Seconds()
		}
		// a compound Poisson sum: its variance is the number of messages times E[size²], at most 20 KB x mean
		if dev := math.Sqrt(wanted * 20_000); math.Abs(sent-wanted) > 5*dev {
			rt.Errorf("%.0f bytes of %.0f, deviation %.0f", sent, wanted, dev)
		}
		again, _ := b.Flows(rng.New(seed, "x"))
		for i := range flows {
			if flows[i] != again[i] {
				rt.Fatal("drawn otherwise again")
			}
		}
	})
}

func TestBadBackground(t *testing.T) {
	b := Background{Sizes: Always(1000), Load: 0.5, For: unit.Second, Beside: pairsOf,
		Rates: []unit.Rate{400 * unit.Gbps, 400 * unit.Gbps, 400 * unit.Gbps, 400 * unit.Gbps}}
	if _, err := b.Flows(rng.New(1, "x")); err == nil || !strings.Contains(err.Error(),
		"for: 1s of such messages would be about 1e+08, at most 10000000 are taken") {
		t.Error(err)
	}
	b.For = unit.Nanosecond
	if _, err := b.Flows(rng.New(1, "x")); err == nil || !strings.Contains(err.Error(), "no message "+
		"was sent within 1ns") {
		t.Error(err)
	}
	b.For, b.Rates = unit.Millisecond, b.Rates[:2]
	if _, err := b.Flows(rng.New(1, "x")); err == nil || !strings.Contains(err.Error(), "no peer") {
		t.Error(err)
	}
}
