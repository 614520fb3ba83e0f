package usage

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// Numbers beyond their range tag are rejected with the flag's name and the range. Others, and unset flags, are not.
func TestRange(t *testing.T) {
	for text, want := range map[string]string{"--n 7": "", "": "", "--n 0": "--n: 0 is out of range 1–8",
		"--n 9": "--n: 9 is out of range 1–8", "--share 1.5": "--share: 1.5 is out of range 0–1",
		"--all 1,8": "", "--all 1,9": "--all: 9 is out of range 1–8", "--all=-1,2": "--all: -1 is out of range 1–8",
		"--wait 2m": "", "--wait 500ms": "--wait: 500ms is out of range 1s–1h"} {
		var cli struct {
			N     *int          `range:"1,8"`
			All   []int         `range:"1,8"`
			Share float64       `range:"0,1"`
			Wait  time.Duration `range:"1s,1h"`
		}
		parser, err := kong.New(&cli, kong.Name("test"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, err := parser.Parse(strings.Fields(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckFlags(ctx); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"", "1", "a,2", "1,b"} {
		if low, high, err := Bounds(text); err == nil {
			t.Errorf("%q: %g to %g", text, low, high)
		}
	}
}

// Words that Markdown would format keep their characters.
func TestEscaped(t *testing.T) {
	if got := Escaped("a_b *c* <d> [e] f|g"); got != `a\_b \*c\* &lt;d> \[e] f\|g` {
		t.Error(got)
	}
}
