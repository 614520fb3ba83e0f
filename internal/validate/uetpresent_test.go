package validate

import (
	"slices"
	"strings"
	"testing"
)

// The runs of uet-htsim at 40ccb05 have a class each, and each host of their permutation sends to one of another leaf.
func TestUETPresent(t *testing.T) {
	all, err := uetPresentRuns()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range uetPresentClasses {
		n += len(uetPresentClasses[i].of(all))
	}
	if n != len(all) || n < 70 {
		t.Errorf("%d of %d runs have a class", n, len(all))
	}
	for i := range all {
		if u := &all[i]; u.mean <= 0 || u.last < u.mean {
			t.Errorf("%v: last completion %g us, mean %g", &u.uetRun, u.last, u.mean)
		}
	}
	matrix, err := all[0].connections()
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(matrix), "->"); lines != 512 {
		t.Errorf("%d pairs of 512 hosts", lines)
	}
	to := strings.Fields(uetPermutation512)
	slices.Sort(to)
	if len(slices.Compact(to)) != 512 {
		t.Error("two hosts send to one")
	}
}
