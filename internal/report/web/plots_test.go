package web

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestPlots checks that plots of a run have the page's values: ports over time, as shares of line rate and in
// bytes, and the causes of collectives as shares of their time.
func TestPlots(t *testing.T) {
	s, name := server(t, "")
	r, err := Open(filepath.Join(s.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	curves, err := r.Hottest(3, false)
	if err != nil || len(curves) != 3 {
		t.Fatalf("%d curves, %v", len(curves), err)
	}
	for _, c := range curves {
		var v PortView
		port := slices.IndexFunc(r.ports, func(p result.PortRow) bool { return p.Name == c.Name })
		viewed(t, r, "port", fmt.Sprintf("id=%d", port), &v)
		if len(v.Series) != len(c.Points) || len(c.Points) == 0 {
			t.Fatalf("%s has %d samples, its plot %d", c.Name, len(v.Series), len(c.Points))
		}
		for i, p := range c.Points {
			x := v.Series[i]
			if x[0] != p.At || x[1] != p.Length || math.Abs(x[2]-p.Use) > 1e-9 || x[3] != p.Queue {
				t.Errorf("%s: the page draws %v, the plot %+v", c.Name, x, p)
			}
		}
	}
	n, of := r.Queued(0)
	peaks, switches := 0, 0
	for _, p := range r.ports {
		if p.Role != "host" {
			switches++
			if p.QueuePeak > 0 {
				peaks++
			}
		}
	}
	if n != peaks || of != switches || n == 0 {
		t.Errorf("%d of %d switch ports queue, want %d of %d", n, of, peaks, switches)
	}
	// A port that sends at line rate from 60 to 80 of 100 ps, and then not.
	c := Curve{Mean: 0.2, Points: []Point{{At: 60, Length: 20, Use: 1}, {At: 80, Length: 20}}}
	if from, to, share := c.Busy(100); from != 60 || to != 80 || math.Abs(share-1) > 1e-9 {
		t.Errorf("busy from %f to %f, %f of line rate", from, to, share)
	}
	if _, _, share := c.Busy(30); share != -1 {
		t.Errorf("a port that sends for most of the run: %f", share)
	}
	parts, err := r.Parts()
	if err != nil {
		t.Fatal(err)
	}
	var v Collectives
	viewed(t, r, "collectives", "", &v)
	if len(parts) != len(v.Sums) || len(parts) == 0 {
		t.Fatalf("%d collectives on the page, %d in the plot", len(v.Sums), len(parts))
	}
	for _, x := range v.Sums {
		p := parts[slices.IndexFunc(parts, func(p Part) bool { return p.Name == x.Name })]
		if p.Time != float64(x.End-x.Start) {
			t.Errorf("%s takes %d in all on the page, %f in the plot", x.Name, x.End-x.Start, p.Time)
		}
		for _, c := range cause.All() {
			page := float64(x.Lost.Costs(c.ID)) / float64(x.End-x.Start)
			if math.Abs(page-p.Shares[c.ID]) > 1e-9 {
				t.Errorf("%s, %s: %.4f on the page, %.4f in the plot", x.Name, c.Key, page, p.Shares[c.ID])
			}
		}
	}
}
