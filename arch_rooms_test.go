package railyard

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"
)

// TestRooms checks that ARCHITECTURE.md is complete and short. It has at most 250 lines, with every package of the
// import table (those of a family by their last element) and every direct dependency.
func TestRooms(t *testing.T) {
	b, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b, []byte("\n")); n > 250 {
		t.Errorf("ARCHITECTURE.md has %d lines: the text on one package belongs to its documentation", n)
	}
	text := string(b)
	for pkg := range allowed {
		short := ""
		if dir := path.Dir(pkg); dir == "internal/swconf" || dir == "internal/ci" || dir == "cmd/railyard" {
			short = "`" + path.Base(pkg) + "`"
		}
		if !strings.Contains(text, "`"+pkg+"`") && (short == "" || !strings.Contains(text, short)) {
			t.Errorf("ARCHITECTURE.md has no line for %s", pkg)
		}
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		if strings.Contains(line, "// indirect") {
			continue
		}
		module, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimPrefix(module, "github.com/")
		for _, major := range []string{"/v3", "/v6", "/v8"} {
			name = strings.TrimSuffix(name, major)
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "golang.org/"), "google.golang.org/")
		if strings.HasPrefix(line, "\t") && strings.Contains(module, ".") && !strings.Contains(text, name) {
			t.Errorf("ARCHITECTURE.md gives no reason for the dependency %s", module)
		}
	}
}
