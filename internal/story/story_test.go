package story

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/unit"
)

// failed is a test whose failures are looked at and do not count.
type failed struct {
	testing.TB
	said string
}

func (f *failed) Helper()                           {}
func (f *failed) Errorf(format string, args ...any) { f.said += format }

// A page that is written reads the same the next time; one line more or another fails.
func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	tell := func(last string) *Page {
		p := Open("A loss.\n\tIBTA 9.7.5.2")
		p.Tell(2*unit.Microsecond, "A sends %d", 7)
		p.Tell(3*unit.Microsecond, "%s", last)
		return p
	}
	*rewrite = true
	tell("B answers").Check(t, "loss")
	*rewrite = false
	got, err := os.ReadFile(filepath.Join("testdata", "loss.txt"))
	if want := "# A loss.\n# IBTA 9.7.5.2\n\n         2us  A sends 7\n         3us  B answers\n"; err != nil || string(got) != want {
		t.Fatalf("%v, %q, want %q", err, got, want)
	}
	tell("B answers").Check(t, "loss")
	for _, other := range []string{"B is silent", "B answers\nand again"} {
		f := &failed{TB: t}
		if tell(other).Check(f, "loss"); !strings.Contains(f.said, "the story changed") {
			t.Errorf("%q passes", other)
		}
	}
}

// A page of more lines than one reads in one go is refused.
func TestLongPages(t *testing.T) {
	t.Chdir(t.TempDir())
	p := Open("Too long.")
	for range longest {
		p.Tell(0, "one more")
	}
	*rewrite = true
	defer func() { *rewrite = false }()
	f := &failed{TB: t}
	if p.Check(f, "long"); !strings.Contains(f.said, "nobody reads") {
		t.Errorf("%q", f.said)
	}
}
