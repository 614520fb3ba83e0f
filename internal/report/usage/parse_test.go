package usage

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// A command line is complete if required values are present, each value is in its list and no two flags of a group
// are set. --help alone is enough.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "missing: COMMAND",
		"group":                       "missing: COMMAND",
		"group do":                    "missing: --to=HOST",
		"group do --to a":             "missing: <from> <more> ...",
		"group do --to a x":           "missing: <more> ...",
		"group do --to a x y z":       "",
		"group do --to a x y --a --b": "--a and --b can't be used together",
		"group do --to a x y --a":     "",
		"group do --to a x y --way q": `--way: unknown value "q"`,
		"group do --to a x y --way in --ways out,in":  "",
		"group do --to a x y --way in --ways out,off": `--ways: unknown value "off"`,
		"group do --bogus":                            "unknown flag --bogus",
		"group do --n x":                              "--n: expected",
		"group do --to a x y --n -8":                  "",
		"group do --to a x y --n -.5":                 "--n: expected",
		"group do --to -8 x y":                        "",
		"group do --to a --a -8":                      "unknown flag -8",
		"group do --help":                             "helped",
		"group do --way q --help":                     "helped",
		"--help":                                      "helped",
	} {
		var cli struct {
			Group struct {
				Do struct {
					To   string   `required:"" placeholder:"HOST"`
					A    bool     `xor:"one"`
					B    bool     `xor:"one"`
					Way  string   `enum:",in,out" default:""`
					Ways []string `enum:"in,out" default:"in"`
					N    int
					From string   `arg:""`
					More []string `arg:""`
				} `cmd:""`
			} `cmd:""`
		}
		k, err := kong.New(&cli, kong.Name("test"))
		if err != nil {
			t.Fatal(err)
		}
		ctx, helped, err := Parse(k, strings.Fields(text), func(*kong.Context) error { return nil })
		switch {
		case ctx == nil:
			t.Errorf("%q: no context", text)
		case helped != (want == "helped"):
			t.Errorf("%q: help %v", text, helped)
		case helped:
		case (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want):
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
