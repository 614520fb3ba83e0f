// Package story writes transcripts of tests into their testdata: events and their times, in the field's words, one
// event a line. A newcomer reads such a page to learn the behaviour; a change of behaviour is a change of the page,
// which `go test -rewrite` writes anew and a reviewer reads as a diff.
package story

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/unit"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts in testdata anew; the diff is the review")

// Rewrites reports whether transcripts are written anew: a test that writes a part of one then writes all.
func Rewrites() bool { return *rewrite }

// longest is the maximum number of lines of a page, short enough to be read at one sitting.
const longest = 60

// Page is a transcript under way.
type Page struct{ text strings.Builder }

// Open begins a page with an introduction: what is shown, in which setting, and which rule requires it.
func Open(preface string) *Page {
	p := &Page{}
	for _, line := range strings.Split(strings.TrimSpace(preface), "\n") {
		fmt.Fprintf(&p.text, "# %s\n", strings.TrimSpace(line))
	}
	p.text.WriteByte('\n')
	return p
}

// Tell adds an event.
func (p *Page) Tell(at unit.Time, format string, args ...any) {
	when := at.String()
	if at == 0 {
		when = "0"
	}
	fmt.Fprintf(&p.text, "%12s  %s\n", when, fmt.Sprintf(format, args...))
}

// Check closes the page and compares it with testdata/name.txt.
func (p *Page) Check(t testing.TB, name string) {
	t.Helper()
	if n := strings.Count(p.text.String(), "\n"); n > longest {
		t.Errorf("%s has %d lines: nobody reads more than %d as one page", name, n, longest)
	}
	Check(t, name, p.text.String())
}

// Check compares a text with testdata/name.txt, or writes it there.
func Check(t testing.TB, name, text string) {
	t.Helper()
	compare(t, filepath.Join("testdata", name+".txt"), text)
}

// CheckFile does so with a file of any name.
func CheckFile(t testing.TB, path, text string) {
	t.Helper()
	compare(t, path, text)
}

func compare(t testing.TB, path, text string) {
	t.Helper()
	if *rewrite {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (-rewrite makes it)", err)
	}
	if text != string(want) {
		t.Errorf("%s: the story changed%s; -rewrite accepts it. It is now\n%s", path,
			parting(text, string(want)), text)
	}
}

// parting names the first line where two texts part.
func parting(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf(" at line %d, which was %q", i+1, w[i])
		}
	}
	return " in its length"
}

// Cases goes through testdata/name.txt: paragraphs of an input, a line of four hyphens, and the output of tell for
// it. Lines that begin with # above an input describe the paragraph and its reason. With -rewrite the answers are
// written anew, and a reviewer reads them as a diff; a new case is an input and the hyphens.
func Cases(t *testing.T, name string, tell func(input string) string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, p := range strings.Split(strings.TrimSpace(string(b)), "\n\n") {
		input, _, ok := strings.Cut(p, "\n----")
		if !ok {
			if strings.HasPrefix(p, "#") { // a heading
				out.WriteString(p + "\n\n")
				continue
			}
			t.Fatalf("%s: paragraph %d, %q, has no ----", path, i+1, p)
		}
		said := ""
		for strings.HasPrefix(input, "#") {
			line, rest, _ := strings.Cut(input, "\n")
			said, input = said+line+"\n", rest
		}
		answer := strings.TrimRight(tell(input+"\n"), "\n")
		out.WriteString(said + input + "\n----\n")
		if answer != "" {
			out.WriteString(answer + "\n")
		}
		out.WriteString("\n")
	}
	compare(t, path, strings.TrimRight(out.String(), "\n")+"\n")
}
