package story

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Cases goes through testdata/name.txt: paragraphs of an input, a line of four hyphens, and what tell says
// of it. Lines that begin with # above an input say what the paragraph is about, and why it is so.
// With -rewrite the answers are written anew, and a reviewer reads them as a diff; a new
// case is an input and the hyphens.
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
