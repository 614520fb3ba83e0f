package trace

import (
	"os"
	"strings"
	"testing"
)

// What is read is asked for by name, or known; the tools' own files are.
func TestFormats(t *testing.T) {
	if _, err := Read("gaol", File{"x", nil}); err == nil || !strings.Contains(err.Error(),
		`there is no format "gaol" (did you mean "goal"?)`) {
		t.Error(err)
	}
	if _, err := Read("", File{"x.txt", []byte("hello\n")}); err == nil || !strings.Contains(err.Error(),
		"x.txt: is no trace that is known: "+strings.Join(Names(), ", ")) {
		t.Error(err)
	}
	if _, err := Read("goal", File{"a", []byte(twoRanks)}, File{"b", nil}); err == nil ||
		!strings.Contains(err.Error(), "b: a GOAL schedule is one file with all ranks; found 2") {
		t.Error(err)
	}
	for path, want := range map[string]struct {
		format       string
		ranks, parts int
	}{"goal/binary_tree_32.goal": {"goal", 32, 31}, "hpcc/flow.txt": {"hpcc-flows", 4, 2}} {
		b, err := os.ReadFile("../../../shared/data/" + path)
		if err != nil {
			t.Skip("published samples are not here: ", err)
		}
		x, err := Read("", File{path, b})
		if err != nil || x.Format != want.format || x.Ranks != want.ranks ||
			x.Report.Mapped[0].N != want.parts {
			t.Errorf("%s: %v %+v", path, err, x)
		}
	}
}
