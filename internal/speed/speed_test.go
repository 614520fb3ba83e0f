package speed

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Of several rounds the fastest counts, progress goes from none to all, and an error comes with what was measured.
func TestBench(t *testing.T) {
	n, shares := 0, []float64{}
	b := &Bench{Rounds: 3, Run: func(_ context.Context, c *Case) (*Run, error) {
		n++
		r := &Run{Wall: float64(10 - n%3), CPU: 1, Memory: 5}
		r.Summary.SimSeconds, r.Summary.PacketHops = 2, 6e6
		return r, nil
	}, Tell: func(share float64, _ string) { shares = append(shares, share) }}
	rows, err := b.Go(context.Background())
	cases, _ := b.Cases()
	if err != nil || len(rows) != len(cases) || n != 3*len(rows) {
		t.Fatalf("%d rows of %d cases, %d runs, %v", len(rows), len(cases), n, err)
	}
	for i, r := range rows {
		if r.Wall != 8 || r.Rate != 3e6 || r.Name != cases[i].Name || r.Peers == nil {
			t.Errorf("%+v", r)
		}
	}
	for i := 1; i < len(shares); i++ {
		if shares[i] <= shares[i-1] || shares[i] >= 1 {
			t.Errorf("progress %v", shares)
		}
	}
	left := 4
	b.Run = func(context.Context, *Case) (*Run, error) {
		if left--; left < 0 {
			return nil, errors.New("no room")
		}
		return &Run{}, nil
	}
	if rows, err := b.Go(context.Background()); err == nil || len(rows) != 1 ||
		!strings.HasPrefix(err.Error(), rows[0].Name[:4]) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// Cases are told apart by their names, and large ones are left out unless asked for.
func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Cases() {
		if seen[c.Name] || c.Text == "" || c.About <= 0 || c.Large != (c.About > 10) {
			t.Errorf("%s: about %v s, large %v", c.Name, c.About, c.Large)
		}
		seen[c.Name] = true
		for _, p := range c.Peers {
			if p.Source == "" || p.Wall+p.Rate == 0 {
				t.Errorf("%s: %+v", c.Name, p)
			}
		}
	}
	few, err := (&Bench{Only: "uec"}).Cases()
	many, err2 := (&Bench{Only: "uec", Large: true}).Cases()
	if err != nil || err2 != nil || len(few) != 1 || len(many) != 2 {
		t.Errorf("%d and %d cases of UEC: %v, %v", len(few), len(many), err, err2)
	}
	if _, err := (&Bench{Only: "16,000"}).Cases(); err == nil || !strings.Contains(err.Error(), "RoCE permutation, 128 hosts") {
		t.Error(err)
	}
}
