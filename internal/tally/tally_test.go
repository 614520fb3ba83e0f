package tally

import (
	"fmt"
	"testing"
)

// What came up twice is counted, and told with its first place.
func ExampleNote() {
	var r Report
	Note(&r.Left, "lines without a number", "a.txt", 7)
	Note(&r.Left, "lines without a number", "a.txt", 9)
	Note(&r.Left, "comments", "a.bin", 0)
	for _, c := range r.Left {
		fmt.Println(c.Words())
	}
	// Output:
	// lines without a number: 2 (first a.txt:7)
	// comments: 1 (first in a.bin)
}

// A file that has a million kinds of things makes no list of a million.
func TestBounded(t *testing.T) {
	var list []Count
	for i := range 1000 {
		Note(&list, fmt.Sprint(i), "f", i)
	}
	if len(list) != kinds+1 || list[kinds].What != beyond || list[kinds].N != 1000-kinds {
		t.Errorf("%d kinds, the last %+v", len(list), list[len(list)-1])
	}
	var a, b Report
	Add(&a.Mapped, 3, "x", "f", 1)
	Add(&b.Mapped, 2, "x", "g", 1)
	Add(&b.Left, 0, "nothing", "g", 1)
	a.Join(b)
	if a.Mapped[0].N != 5 || a.Mapped[0].File != "f" || len(a.Left) != 0 {
		t.Errorf("joined %+v", a)
	}
}
