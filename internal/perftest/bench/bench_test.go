package bench

import (
	"io"
	"strings"
	"testing"
)

// A ratio is of medians, and 0 where the other row was not measured.
func TestRatio(t *testing.T) {
	rows := []Row{{Median: 6}, {Median: 4}, {}}
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 1, 1.5}, {1, 0, 4.0 / 6}, {0, 2, 0}, {2, 0, 0}} {
		if got := Ratio(rows, c.a, c.b); got != c.want {
			t.Errorf("row %d over %d: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// The median of an even number of values is the mean of the middle two; the order of the values does not change.
func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{8, 1, 2, 100}, 5}} {
		first := append([]float64{0}, c.values...)
		if got := median(first[1:]); got != c.want || len(c.values) > 0 && first[1] != c.values[0] {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

// iperf3 -s is ready when it prints its line. If it ends without the line, that is an error.
func TestListening(t *testing.T) {
	from := strings.NewReader("warning: x\n-----\nServer listening on 5299 (test #1)\n")
	if err := listening(from); err != nil {
		t.Error(err)
	}
	if err := listening(strings.NewReader("iperf3: error - unable to start listener\n")); err == nil {
		t.Error("one that does not listen is ready")
	}
}

func TestServeRefuses(t *testing.T) {
	if err := Serve(io.Discard, "sctp"); err == nil || err.Error() != "--peer: unknown value \"sctp\"; accepted: udp4, tcp4, stream" {
		t.Error(err)
	}
}
