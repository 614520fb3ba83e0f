package story

import (
	"bufio"
	"fmt"
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
	const want = "# A loss.\n# IBTA 9.7.5.2\n\n         2us  A sends 7\n         3us  B answers\n"
	if err != nil || string(got) != want {
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

// A page with more lines than the limit is refused.
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

// chapters are the packages whose transcripts make the book, in the order in which one
// reads them.
var chapters = []struct{ folder, title string }{
	{"rc", "A reliable connection"},
	{"rcudp", "Datagrams"},
	{"cc", "A sender's rate"},
	{"internal/host", "Network cards"},
	{"internal/route", "A choice of paths"},
	{"internal/fabric", "A switch"},
	{"internal/sim", "A fabric"},
	{"internal/exec", "A workload"},
	{"internal/dcbx", "Two ports that agree, or do not"},
}

// docs/stories.md is the table of contents: the first line of every page.
func TestContents(t *testing.T) {
	var b strings.Builder
	b.WriteString("# How it behaves, page by page\n\n" +
		"Each page is a transcript that a test compares with the code: events, their times, and the rules\n" +
		"that require them. This list is written by `go test ./internal/story -run Contents -rewrite`.\n")
	listed := map[string]bool{}
	for _, c := range chapters {
		fmt.Fprintf(&b, "\n## %s (`%s`)\n\n", c.title, c.folder)
		listed["../../"+c.folder] = true
		for _, path := range pages(t, c.folder) {
			name, says := strings.TrimSuffix(filepath.Base(path), ".txt"),
				strings.TrimPrefix(title(t, path), "# ")
			fmt.Fprintf(&b, "- [%s](../%s): %s\n", name, path, says)
		}
	}
	compare(t, "../../docs/stories.md", b.String())
	for _, folder := range []string{"*", "*/*", "*/*/*"} {
		tests, err := filepath.Glob("../../" + folder + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range tests {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "story."+"Open(") &&
				!listed[filepath.ToSlash(filepath.Dir(path))] {
				t.Errorf("%s tells stories and has no chapter", path)
			}
		}
	}
}

// pages lists the transcripts of a folder.
func pages(t *testing.T, folder string) (paths []string) {
	found, err := filepath.Glob("../../" + folder + "/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		paths = append(paths, strings.TrimPrefix(filepath.ToSlash(f), "../../"))
	}
	return paths
}

// title is a page's first line.
func title(t *testing.T, path string) string {
	f, err := os.Open("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}
