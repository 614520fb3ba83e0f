package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documented matches a command of a table of docs/seeds.md, and the text after it in its cell.
var documented = regexp.MustCompile("\\| `railyard ([^`]+)`( \\(exit code 1\\))? \\|")

// Every command that docs/seeds.md has for a system of the source chapters runs, in the order of the table, as typed in
// the repository. Those of its second table take longer: .ci/soak runs them.
func TestChapters(t *testing.T) {
	page, err := os.ReadFile("../../docs/seeds.md")
	if err != nil {
		t.Fatal(err)
	}
	text, longer, ok := strings.Cut(string(page), "\n## Longer commands\n")
	commands := documented.FindAllStringSubmatch(text, -1)
	if rows := strings.Count(text, "\n| ") - 1; !ok || len(commands) < 40 || len(commands) != rows {
		t.Fatalf("%d commands in %d rows", len(commands), rows)
	}
	if n := len(documented.FindAllString(longer, -1)); n < 5 {
		t.Errorf("%d longer commands", n)
	}
	shipped := filepath.Dir(scenarios(t))
	t.Chdir(t.TempDir())
	if err := os.Symlink(filepath.Join(shipped, "scenarios"), "scenarios"); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		want := 0
		if c[2] != "" {
			want = 1
		}
		if code, _, errs := call(t, typed(c[1])...); code != want {
			t.Errorf("railyard %s: exit code %d, want %d: %.300s", c[1], code, want, errs)
		}
	}
}

// typed splits a command as a shell does that knows double quotes.
func typed(command string) (words []string) {
	for i, part := range strings.Split(command, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
