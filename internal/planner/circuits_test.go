package planner

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// For any event, both maps are matchings of the existing ports. A new group disconnects exactly one circuit per two
// of its fibres. A failed group loses only its own circuits.
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
		state := func(s Spread, circuits []Circuit, of int) {
			pairs := of * (of - 1) / 2
			if in.Pattern == RingPattern {
				pairs = of
			}
			if s.Pairs+len(s.Apart) != pairs || s.Dark != of*in.Fibres-2*len(circuits) {
				t.Fatalf("%+v: %+v of %d pairs, %d circuits on %d ports", in, s, pairs, len(circuits), c.Ports)
			}
		}
		if state(c.From, c.Before, in.Groups); c.After != nil {
			of := max(in.Groups, in.Grow)
			if in.Without > 0 {
				of--
			}
			state(c.To, c.After, of)
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
			if c.Dark != in.Fibres || c.New != in.Fibres/2 || c.Free != in.Fibres { // those of the failed group
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
		if r.From.Pairs != c.groups*(c.groups-1)/2 || r.From.Least != c.before || r.From.Most != c.before ||
			r.To.Pairs != c.groups*(c.groups+1)/2 || r.To.Least != c.least || r.To.Most != c.most ||
			r.Dark != c.fibres/2 {
			t.Errorf("%+v: %+v to %+v, %d move", in, r.From, r.To, r.Dark)
		}
	}
}

// With fewer circuits than pairs of groups, some pairs have none, and these are named.
func TestPairsWithoutCircuit(t *testing.T) {
	for _, c := range []struct {
		in   CircuitInput
		want [][2]int
		dark int
		part int
	}{
		{CircuitInput{Groups: 4, Fibres: 2, Pattern: EvenPattern}, [][2]int{{1, 4}, {2, 3}}, 0, 1},
		{CircuitInput{Groups: 4, Fibres: 1, Pattern: EvenPattern}, [][2]int{{1, 3}, {1, 4}, {2, 3}, {2, 4}}, 0, 2},
		{CircuitInput{Groups: 3, Fibres: 1, Pattern: EvenPattern}, [][2]int{{1, 3}, {2, 3}}, 1, 2},
		{CircuitInput{Groups: 4, Fibres: 3, Pattern: EvenPattern}, nil, 0, 1},
		{CircuitInput{Groups: 4, Fibres: 2, Pattern: RingPattern}, nil, 0, 1},
	} {
		r, err := c.in.Plan()
		if err != nil || !reflect.DeepEqual(r.From.Apart, c.want) || r.From.Dark != c.dark ||
			r.From.Parts != c.part {
			t.Errorf("%+v: %+v %v", c.in, r, err)
		}
	}
	for groups := 2; groups <= 24; groups++ { // as many fibres as other groups are enough
		r, err := CircuitInput{Groups: groups, Fibres: groups - 1, Pattern: EvenPattern}.Plan()
		if err != nil || len(r.From.Apart) > 0 || r.From.Dark > 0 {
			t.Errorf("%d groups: %+v %v", groups, r.From, err)
		}
	}
}

func TestCircuitsThatCannotBe(t *testing.T) {
	for want, in := range map[string]CircuitInput{
		"groups: takes two and more":                 {Groups: 1, Fibres: 2},
		"fibres: 64 groups of 65 fibres do not fit":  {Groups: 64, Fibres: 65},
		"to: 3 groups are not more than the present": {Groups: 4, Fibres: 2, Grow: 3},
		"without: unknown group 5 of 4":              {Groups: 4, Fibres: 2, Without: 5},
		"without: is another change":                 {Groups: 4, Fibres: 2, Without: 2, Grow: 5},
		"fibres: a ring takes three groups with as":  {Groups: 4, Fibres: 3, Pattern: RingPattern},
		"groups: a ring of 3 is none without one":    {Groups: 3, Fibres: 2, Pattern: RingPattern, Without: 1},
	} {
		if _, err := in.Plan(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The connected pairs equal those of an exhaustive search at each step. Thousands of groups take a second.
func TestEvenCircuits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups, fibres := rapid.IntRange(2, 9).Draw(t, "groups"), rapid.IntRange(1, 12).Draw(t, "fibres")
		got, want := newJoints(groups, fibres), newJoints(groups, fibres)
		for range rapid.IntRange(0, 4).Draw(t, "joined before") { // as after groups fail or are added
			a, b := rapid.IntRange(0, groups*fibres-1).Draw(t, "a"), rapid.IntRange(0, groups*fibres-1).Draw(t, "b")
			if got.group(a) != got.group(b) && got.to[a] < 0 && got.to[b] < 0 {
				got.join(a, b)
				want.join(a, b)
			}
		}
		got.even(upTo(groups))
		tryAll(want, upTo(groups))
		if !slices.Equal(got.to, want.to) {
			t.Fatalf("%d groups of %d: %v, want %v", groups, fibres, got.circuits(), want.circuits())
		}
	})
	c, err := CircuitInput{Groups: 2048, Fibres: 2, Pattern: EvenPattern}.Plan()
	if err != nil || len(c.Before) != 2048 || c.From.Dark != 0 {
		t.Errorf("%v, %d circuits, %d dark", err, len(c.Before), c.From.Dark)
	}
}

// tryAll connects by the rule of even, testing all pairs.
func tryAll(j *joints, groups []int) {
	for {
		have, dark := j.between(), map[int]int{}
		for p, to := range j.to {
			if to < 0 {
				dark[j.group(p)]++
			}
		}
		var best [2]int
		least, most := -1, 0
		for i, a := range groups {
			for _, b := range groups[i+1:] {
				n, d := have[[2]int{a, b}], dark[a]+dark[b]
				if dark[a] > 0 && dark[b] > 0 && (least < 0 || n < least || n == least && d > most) {
					best, least, most = [2]int{a, b}, n, d
				}
			}
		}
		if least < 0 {
			return
		}
		j.join(j.free(best[0]), j.free(best[1]))
	}
}
