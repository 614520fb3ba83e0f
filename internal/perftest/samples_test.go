package perftest

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/verbs"

	"pgregory.net/rapid"
)

// Percentiles are those of the sorted latencies (nearest rank); mean and extremes are those of all.
func TestStatisticsOfFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.SliceOfN(rapid.Int64Range(1, 1e9), 1, 500).Draw(t, "latencies")
		s := newSamples()
		sum := 0.0
		for _, v := range ns {
			s.add(time.Duration(v))
			sum += float64(v)
		}
		var r Result
		s.into(&r, 0.5) // half a round trip
		slices.Sort(ns)
		at := func(q float64) float64 { return float64(ns[min(len(ns)-1, int(q*float64(len(ns))))]) / 2e3 }
		for what, pair := range map[string][2]float64{"min": {r.Min, float64(ns[0]) / 2e3},
			"max": {r.Max, float64(ns[len(ns)-1]) / 2e3}, "mean": {r.Mean, sum / float64(len(ns)) / 2e3},
			"p50": {r.P50, at(0.5)}, "p99": {r.P99, at(0.99)}, "p99.9": {r.P999, at(0.999)}} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
				t.Fatalf("%s is %g, want %g", what, pair[0], pair[1])
			}
		}
		if !(r.Min <= r.P50 && r.P50 <= r.P99 && r.P99 <= r.P999 && r.P999 <= r.Max) {
			t.Fatalf("%+v is out of order", r)
		}
	})
}

// Beyond a million latencies every Nth is kept. Memory is bounded, and percentiles stay those of all latencies,
// even with a drift. With only the first million kept the drift would be lost.
func TestStatisticsOfMany(t *testing.T) {
	s := newSamples()
	const n = 5 << 20
	for i := range n {
		s.add(time.Duration(1000 + i)) // ever slower
	}
	if len(s.ns) > maxSamples || len(s.ns) < maxSamples/2 {
		t.Fatalf("%d of %d are kept", len(s.ns), n)
	}
	var r Result
	s.into(&r, 1)
	for what, pair := range map[string][2]float64{"p50": {r.P50, (1000 + 0.5*n) / 1e3},
		"p99": {r.P99, (1000 + 0.99*n) / 1e3}, "p99.9": {r.P999, (1000 + 0.999*n) / 1e3},
		"max": {r.Max, (999 + n) / 1e3}} {
		if math.Abs(pair[0]/pair[1]-1) > 0.01 {
			t.Errorf("%s is %g us, want %g", what, pair[0], pair[1])
		}
	}
	var none Result
	newSamples().into(&none, 1)
	if none != (Result{}) {
		t.Errorf("nothing was measured: %+v", none)
	}
}

// An excessive session is rejected before memory is allocated.
func TestRequestsThatCannotBe(t *testing.T) {
	good := func() *Request {
		return &Request{Version: version, Op: OpWrite, Size: 1, QPs: make([]verbs.Info, 1)}
	}
	if err := good().check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(r *Request){
		"speaks version 7":                                 func(r *Request) { r.Version = 7 },
		`unknown test "flood"`:                             func(r *Request) { r.Op = "flood" },
		"message size 0 is out of range":                   func(r *Request) { r.Size = 0 },
		"message size 9223372036854775807 is out of range": func(r *Request) { r.Size = math.MaxInt64 },
		"queue pairs, found 0":                             func(r *Request) { r.QPs = nil },
		"more than the 4,294,967,296 bytes a session may have": func(r *Request) {
			r.Size, r.QPs = MaxSize, make([]verbs.Info, MaxMemory/MaxSize+1)
		},
	} {
		r := good()
		change(r)
		if err := r.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A server refuses what would eat the machine.
func TestServerRefuses(t *testing.T) {
	for what, r := range map[string]Request{
		"version": {Version: 9, Op: OpWrite, Size: 1, QPs: make([]verbs.Info, 1)},
		"op":      {Version: version, Op: "format", Size: 1, QPs: make([]verbs.Info, 1)},
		"size":    {Version: version, Op: OpWrite, Size: MaxSize + 1, QPs: make([]verbs.Info, 1)},
		"memory":  {Version: version, Op: OpWrite, Size: MaxSize, QPs: make([]verbs.Info, 100)},
		"no QP":   {Version: version, Op: OpWrite, Size: 1},
	} {
		if r.check() == nil {
			t.Errorf("%s: taken", what)
		}
	}
}
