package docs_test

import (
	"io/fs"
	"strings"
	"testing"

	"railyard/docs"
)

// TestPages checks that pages of all sections are embedded, and that each begins with a heading.
func TestPages(t *testing.T) {
	sections := map[string]int{}
	err := fs.WalkDir(docs.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		section, _, _ := strings.Cut(path, "/")
		sections[section]++
		text, err := fs.ReadFile(docs.Files, path)
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s begins with %.20q", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"index.md", "comparison", "concepts", "guides", "tutorials"} {
		if sections[s] == 0 {
			t.Errorf("%s is not embedded", s)
		}
	}
}
