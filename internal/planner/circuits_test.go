package planner

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever happens, both maps are matchings of the ports that there are; a group that comes takes apart
// one circuit for each two of its fibres and no more; one that goes takes its own and no others.
func TestCircuitsAreMatchings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := CircuitInput{Groups: rapid.IntRange(3, 12).Draw(t, "groups"), Fibres: 2 * rapid.IntRange(1,
			24).Draw(t, "f"),
			Pattern: rapid.SampledFrom([]string{EvenPattern, RingPattern}).Draw(t, "pattern")}
		if rapid.Bool().Draw(t, "grow") {
			in.Grow = in.Groups + 1
		} else if in.Groups > 3 {
			in.Without = rapid.IntRange(1, in.Groups).Draw(t, "without")
		}
		c, err := in.Plan()
		if err != nil {
			t.Fatal(err)
		}
		group := func(port int) int { return (port - 1) / in.Fibres }
		for k, all := range [][]Circuit{c.Before, c.After} {
			used := map[int]bool{}
			for _, x := range all {
				if x[0] >= x[1] || x[0] < 1 || x[1] > c.Ports || used[x[0]] || used[x[1]] ||
					group(x[0]) == group(x[1]) {
					t.Fatalf("%+v: map %d: %v of %v", in, k, x, all)
				}
				if used[x[0]], used[x[1]] = true, true; k == 1 && (group(x[0]) == in.Without-1 ||
					group(x[1]) == in.Without-1) {
					t.Fatalf("%+v: %v leads to the group that failed", in, x)
				}
			}
		}
		if c.Stay+c.Dark != len(c.Before) || in.Grow+in.Without > 0 && c.Stay+c.New != len(c.After) {
			t.Fatalf("%+v: %+v", in, c)
		}
		switch {
		case in.Grow > 0 && in.Pattern == RingPattern:
			if c.Dark != in.Fibres/2 || c.New != in.Fibres || c.Free != 0 {
				t.Fatalf("%+v: %d end, %d begin, %d ports stay dark", in, c.Dark, c.New, c.Free)
			}
		case in.Grow > 0:
			if c.Dark > in.Fibres/2 || c.New > in.Fibres+1 || c.Free > in.Grow {
				t.Fatalf("%+v: %d end, %d begin, %d ports stay dark", in, c.Dark, c.New, c.Free)
			}
		case in.Without > 0 && in.Pattern == RingPattern:
			if c.Dark != in.Fibres || c.New != in.Fibres/2 || c.Free != 0 {
				t.Fatalf("%+v: %d end, %d begin, %d ports stay dark", in, c.Dark, c.New, c.Free)
			}
		}
	})
}

// A balanced dragonfly stays balanced when it grows.
func TestGrowsEvenly(t *testing.T) {
	for _, c := range []struct{ groups, fibres, before, least, most int }{
		{4, 12, 4, 3, 3}, {8, 56, 8, 7, 7}, {16, 240, 16, 15, 15}, {4, 24, 8, 6, 6},
	} {
		in := CircuitInput{Groups: c.groups, Fibres: c.fibres, Pattern: EvenPattern, Grow: c.groups + 1}
		r, err := in.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if r.From != (Spread{c.groups * (c.groups - 1) / 2, c.before, c.before}) ||
			r.To != (Spread{c.groups * (c.groups + 1) / 2, c.least, c.most}) || r.Dark != c.fibres/2 {
			t.Errorf("%+v: %+v to %+v, %d move", in, r.From, r.To, r.Dark)
		}
	}
}

func TestCircuitsThatCannotBe(t *testing.T) {
	for want, in := range map[string]CircuitInput{
		"groups: takes two and more":                {Groups: 1, Fibres: 2},
		"fibres: 64 groups of 65 fibres are no":     {Groups: 64, Fibres: 65},
		"to: 3 groups are no more than there are":   {Groups: 4, Fibres: 2, Grow: 3},
		"without: unknown group 5 of 4":             {Groups: 4, Fibres: 2, Without: 5},
		"without: is another change":                {Groups: 4, Fibres: 2, Without: 2, Grow: 5},
		"fibres: a ring takes three groups with as": {Groups: 4, Fibres: 3, Pattern: RingPattern},
		"groups: a ring of 3 is none without one":   {Groups: 3, Fibres: 2, Pattern: RingPattern, Without: 1},
	} {
		if _, err := in.Plan(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
