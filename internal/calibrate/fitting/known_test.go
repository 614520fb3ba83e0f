package fitting

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"railyard/internal/coll"
	"railyard/unit"
)

// TestKnown compares the known errors with the rows of the validation report.
func TestKnown(t *testing.T) {
	report, err := os.ReadFile("../../../docs/validation.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Validated {
		of := ""
		for line := range strings.Lines(string(report)) {
			if strings.Contains(line, "| "+k.Row+" |") {
				of = strings.TrimSpace(strings.Split(line, "|")[5])
			}
		}
		if want := fmt.Sprintf("%+.2f %%", 100*k.Error); of != want {
			t.Errorf("%s: the report has %q, the table %s", k.Row, of, want)
		}
	}
}

// TestRange checks that the expected times contain the simulator's known error and NCCL's model, for the algorithms
// that have them, and which times differ from them.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		p           Point
		least, most float64
		differs     bool
	}{
		{Point{Measured: 112, Before: 100}, 100, 100, true},
		{Point{Measured: 110, Before: 100}, 100, 100, false},
		{Point{Measured: 88, Before: 100}, 100, 100, true},
		{Point{Measured: 112, Before: 100, Algorithm: coll.ByRing, Model: 90}, 90, 100, true},
		{Point{Measured: 112, Before: 100, Algorithm: coll.ByRing, Model: 104}, 100, 104, false},
		{Point{Measured: 88, Before: 100, Algorithm: coll.ByRing, Model: 90}, 90, 100, false},
		{Point{Measured: 115, Before: 100, Algorithm: coll.ByNVLS, Model: 104}, 100, 107.42, false},
		{Point{Measured: 121, Before: 100, Algorithm: coll.ByNVLS, Model: 104}, 100, 107.42, true},
		{Point{Measured: 89, Before: 100, Algorithm: coll.ByNVLSTree, Model: 104}, 97.63, 104, false},
	} {
		least, most := c.p.Range()
		if least != c.least || most < c.most-1e-9 || most > c.most+1e-9 || c.p.Differs() != c.differs {
			t.Errorf("%+v: %v to %v, differs %v", c.p, least, most, c.p.Differs())
		}
	}
}

// TestUntested checks that no search follows for a size smaller than the tested ones if its group's largest size is
// as expected. If that is slow, a search follows.
func TestUntested(t *testing.T) {
	small := Point{Bytes: 1 << 26, Measured: 420, Before: 264, Algorithm: coll.ByNVLSTree, Model: 339}
	large := Point{Bytes: 1 << 30, Measured: 4425, Before: 3860, Algorithm: coll.ByNVLSTree, Model: 4430}
	if small.Untested() != 512*unit.MiB || large.Untested() != 0 || Differ([]Point{large, small}) {
		t.Error(small.Untested(), large.Untested())
	}
	if large.Measured = 6000; !Differ([]Point{large, small}) {
		t.Error("the largest size is slow")
	}
}
