package named

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/input"
	"railyard/internal/planner"
)

// Names are those of shipped items, or of files. An unreadable file is an input error with the file's name.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := Model("llama-3.1-8b"); err != nil || m.Params() < 7e9 {
		t.Errorf("%v, %v", m, err)
	}
	if s, err := Software("nemo"); err != nil || s == nil {
		t.Errorf("%v, %v", s, err)
	}
	if p, err := Prices(""); err != nil || p.Currency == "" {
		t.Errorf("%v, %v", p, err)
	}
	missing := filepath.Join(dir, "missing.json")
	for what, read := range map[string]func(string) error{
		"model":    func(f string) error { _, err := Model(f); return err },
		"software": func(f string) error { _, err := Software(f); return err },
		"measured": func(f string) error { _, err := Measured(f, planner.Assumed{}); return err },
		"prices":   func(f string) error { _, err := Prices(f); return err },
	} {
		for _, file := range []string{broken, missing} {
			base := filepath.Base(file)
			if err := read(file); err == nil || !input.IsFault(err) || !strings.Contains(err.Error(), base) {
				t.Errorf("%s of %s: %v", what, base, err)
			}
		}
	}
}
