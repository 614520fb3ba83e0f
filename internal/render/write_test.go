package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/input"
	"railyard/internal/swconf/design"
)

// Files are written all or none: not outside the folder, not through links, not over others without force.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	two := []design.File{{Path: "leaf-1.cfg", Text: "one\n"}, {Path: "hosts/host-1.sh", Text: "two\n"}}
	if err := Write(dir, two, false); err != nil {
		t.Fatal(err)
	}
	text := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return string(b)
	}
	if text("leaf-1.cfg") != "one\n" || text("hosts/host-1.sh") != "two\n" {
		t.Errorf("%q %q", text("leaf-1.cfg"), text("hosts/host-1.sh"))
	}
	more := []design.File{{Path: "leaf-2.cfg", Text: "three\n"}, {Path: "leaf-1.cfg", Text: "four\n"}}
	if err := Write(dir, more, false); !input.IsFault(err) || text("leaf-1.cfg") != "one\n" || text("leaf-2.cfg") != "" {
		t.Errorf("%v; %q %q", err, text("leaf-1.cfg"), text("leaf-2.cfg"))
	}
	if err := Write(dir, more, true); err != nil || text("leaf-1.cfg") != "four\n" || text("leaf-2.cfg") != "three\n" {
		t.Errorf("%v; %q %q", err, text("leaf-1.cfg"), text("leaf-2.cfg"))
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for want, files := range map[string][]design.File{
		"would lie outside":      {{Path: "../leaf-3.cfg", Text: "x"}},
		"is a symbolic link":     {{Path: "leaf-4.cfg", Text: "x"}, {Path: "link/leaf-5.cfg", Text: "x"}},
		"cannot both be written": {{Path: "leaf-6.cfg", Text: "x"}, {Path: "leaf-6.cfg", Text: "y"}},
	} {
		if err := Write(dir, files, true); !input.IsFault(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	entries, err := os.ReadDir(dir)
	left, _ := os.ReadDir(outside)
	if err != nil || len(entries) != 4 || len(left) != 0 {
		t.Errorf("%v, %v, %v", entries, left, err)
	}
}
