package draw

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/long"
)

// TestDrawings checks that a seed and a number decide a scenario, that most drawings are scenarios, and that
// these keep to the bounds.
func TestDrawings(t *testing.T) {
	n := long.N(56, 700)
	refused := 0
	for i := range n {
		c, err := New(1, i)
		if err != nil {
			t.Fatal(err)
		}
		again, err := New(1, i)
		if err != nil || again.Text != c.Text {
			t.Fatalf("drawn twice, number %d differs", i)
		}
		refused += c.Tries
		for _, why := range c.Refuse {
			t.Logf("%d (%s): %s", i, c.Meant.Get().Name, why)
		}
		p, err := c.Plan()
		if err != nil || len(p.Graph.Hosts) > MostHosts {
			t.Errorf("%d hosts, %v", len(p.Graph.Hosts), err)
		}
	}
	for i := range long.N(4, 40) {
		c, err := Large(1, i)
		if err != nil {
			t.Fatalf("%v: %s", err, c.Text)
		}
		if again, _ := Large(1, i); again.Text != c.Text {
			t.Fatalf("drawn twice, large number %d differs", i)
		}
		if p, err := c.Plan(); err != nil || len(p.Graph.Hosts) > MostHosts {
			t.Errorf("large number %d: %v", i, err)
		}
	}
	if 4*refused > n {
		t.Errorf("%d drawings of %d scenarios are none", refused, n)
	}
	for i, id := range strata {
		if Meant(i) != id || id == cause.Compute {
			t.Errorf("%d is meant to lose time to %v", i, Meant(i))
		}
	}
}
