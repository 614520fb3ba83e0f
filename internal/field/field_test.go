package field

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// An error on its way up: refused below, named by callers, placed by the reader.
func ExampleUnder() {
	err := error(New("tp", "7 does not divide the 96 attention heads"))
	err = Under("workload.training", err)
	fmt.Println(err)
	e := All(err)[0]
	e.File, e.Line, e.Col = "pod.yaml", 31, 9
	fmt.Println(err)
	e.File, e.Line = Set("workload.training.tp=7"), 0
	fmt.Println(err)
	// Output:
	// workload.training.tp: 7 does not divide the 96 attention heads
	// pod.yaml:31:9: workload.training.tp: 7 does not divide the 96 attention heads
	// --set workload.training.tp=7: 7 does not divide the 96 attention heads
}

// A word that is none of those accepted, and one that is near to nothing.
func ExampleChoice() {
	kinds := []string{"rail", "pod", "fat-tree"}
	fmt.Println(Choice("kind", "fattree", kinds, "found %q", "fattree"))
	fmt.Println(Choice("kind", "hypercube", kinds, "found %q", "hypercube"))
	// Output:
	// kind: found "fattree" (did you mean "fat-tree"?); accepted: rail, pod, fat-tree
	// kind: found "hypercube"; accepted: rail, pod, fat-tree
}

func TestUnder(t *testing.T) {
	if Under("a", nil) != nil {
		t.Error("no error became one")
	}
	if got := Under("a.b", errors.New("is odd")).Error(); got != "a.b: is odd" {
		t.Error(got)
	}
	below := New("c", "is odd")
	for path, want := range map[string]string{"": "c: is odd", "a": "a.c: is odd"} {
		if got := Under(path, fmt.Errorf("reading: %w", below)).Error(); got != want {
			t.Errorf("%q: %s", path, got)
		}
	}
	if got := Under("list", New("[3].rate", "is odd")).Error(); got != "list[3].rate: is odd" {
		t.Error(got)
	}
	if below.Path != "c" {
		t.Error("Under changed what it was given", below)
	}
	other := error(&Error{File: "leaf.cfg", Line: 3, Col: 1, Path: "xoff", Msg: "is odd"})
	if got := Under("switches.config", other).Error(); got != "switches.config: leaf.cfg:3:1: xoff: is odd" {
		t.Error(got)
	}
	both := Under("a", List{New("b", "one"), New("", "two")}.Err())
	if got := both.Error(); got != "a.b: one\na: two" || len(All(both)) != 2 {
		t.Error(got)
	}
	if (List{}).Err() != nil || All(errors.New("x")) != nil {
		t.Error("an error of no value")
	}
}

// A text with thousands of faults is told of in a few lines; all are there to be looked at.
func TestManyErrors(t *testing.T) {
	var l List
	for i := range 1000 {
		l = append(l, &Error{File: "x.yaml", Line: i + 1, Col: 1, Path: At("flows", i), Msg: "is odd"})
	}
	lines := strings.Split(l.Err().Error(), "\n")
	if len(lines) != most+1 || lines[9] != "x.yaml:10:1: flows[9]: is odd" ||
		lines[10] != "x.yaml: and 990 more like these" {
		t.Errorf("%q", lines)
	}
	var e *Error
	if !errors.As(l.Err(), &e) || e != l[0] || len(All(fmt.Errorf("read: %w", l.Err()))) != 1000 {
		t.Error("the list does not hold its errors")
	}
}

// Distance is a metric, and a word with one slip is recognised.
func TestNearest(t *testing.T) {
	word := rapid.StringMatching(`[a-z_]{3,12}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := word.Draw(t, "a"), word.Draw(t, "b"), word.Draw(t, "c")
		ab := Distance(a, b)
		if ab != Distance(b, a) || (ab == 0) != (a == b) || ab > Distance(a, c)+Distance(c, b) {
			t.Fatalf("%q to %q: %d", a, b, ab)
		}
		i := rapid.IntRange(0, len(a)-1).Draw(t, "slip")
		slip := a[:i] + a[i+1:]
		if got := nearest(slip, []string{"0123456789012345", a}); got != a {
			t.Fatalf("%q for %q is taken for %q", slip, a, got)
		}
	})
	for found, want := range map[string]string{"llama-3-70b": "llama-3.1-70b", "LLAMA-2-70B": "llama-2-70b",
		"llama-2-7b": "llama-2-70b"} {
		if got := nearest(found, []string{"llama-2-70b", "llama-3.1-70b"}); got != want {
			t.Errorf("%s is nearest to %q, expected %s", found, got, want)
		}
	}
	if got := nearest("4", []string{"1", "2", "all"}); got != "" {
		t.Errorf("4 resembles %q without a letter in common", got)
	}
	if nearest(strings.Repeat("x", 1<<20), []string{"x"}) != "" {
		t.Error("a megabyte resembles a word")
	}
}
