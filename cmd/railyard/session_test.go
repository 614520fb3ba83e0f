package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Sessions show typical uses of the commands, mistakes included, as in a shell. A line $ cat FILE stores the lines
// below it in a file; a line $ railyard ... is run, and its output follows. -rewrite runs them anew, and a reviewer
// reads the difference.
func TestSessions(t *testing.T) {
	shipped := scenarios(t)
	pages, err := filepath.Glob("testdata/session-*.txt")
	if err != nil || len(pages) < 4 {
		t.Fatal(err, len(pages))
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".txt"), func(t *testing.T) {
			golden, err := filepath.Abs(page)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			got := session(t, string(b), shipped)
			if *rewrite {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(b) {
				t.Errorf("%s is another (-rewrite writes it anew):\n%s", page, got)
			}
		})
	}
}

// ofMachine matches host-dependent values of a report.
var ofMachine = regexp.MustCompile(`((?:packet-hops|as\s+flows)\s+in)\s+[0-9.]+\s+s,?\s+[^B]*MB`)

// session runs a page again in the current folder and returns it with the current output.
func session(t *testing.T, page, shipped string) string {
	t.Helper()
	var out strings.Builder
	steps := strings.Split("\n"+page, "\n$ ")
	out.WriteString(strings.TrimPrefix(steps[0], "\n"))
	for i, step := range steps[1:] {
		if i > 0 || steps[0] != "" {
			out.WriteString("\n")
		}
		command, rest, _ := strings.Cut(step, "\n")
		fmt.Fprintf(&out, "$ %s\n", command)
		switch words := strings.Fields(command); {
		case len(words) == 2 && words[0] == "cat":
			text := strings.TrimSuffix(rest, "\n")
			if err := os.MkdirAll(filepath.Dir(words[1]), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(words[1], []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			out.WriteString(text + "\n")
		case words[0] == "railyard":
			for i := range words {
				words[i] = strings.Replace(words[i], "$S", shipped, 1)
			}
			code, said, errs := call(t, words[1:]...)
			said = strings.ReplaceAll(said+errs, shipped, "$S")
			said = ofMachine.ReplaceAllString(said, "$1 ...")
			out.WriteString(manyWords.ReplaceAllString(said, "$1...")) // registries grow
			if code != 0 {
				fmt.Fprintf(&out, "(exit code %d)\n", code)
			}
		default:
			t.Fatalf("$ %s: neither cat nor railyard", command)
		}
	}
	return out.String()
}
