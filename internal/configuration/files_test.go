package configuration

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/input"
)

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const leaf = "hostname leaf-1\nfeature lldp\ninterface Ethernet1/1\n  mtu 9216\n  priority-flow-control mode on\n"

// Every file of a folder that is not hidden is read. A file that is no configuration is reported, and a text that
// is given twice counts once.
func TestParseAll(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "leaf-1.cfg", leaf)
	put(t, dir, "again.cfg", leaf)
	put(t, dir, "leaf-2.cfg", strings.ReplaceAll(leaf, "leaf-1", "leaf-2"))
	put(t, dir, "notes.txt", "Remember to order cables.\n")
	put(t, dir, ".hidden.cfg", leaf)
	files, err := Files([]string{dir})
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	read, none, err := ParseAll(files, "")
	if err != nil || len(read) != 2 || len(none) != 2 {
		t.Fatalf("%d read, none %q, %v", len(read), none, err)
	}
	said := strings.Join(none, "\n")
	if !strings.Contains(said, "notes.txt") || !strings.Contains(said, "the configuration of leaf-1 again") {
		t.Errorf("%s", said)
	}

	// A second configuration of the same device remains, with a note: it is unknown which one the device runs.
	put(t, dir, "other.cfg", strings.Replace(leaf, "9216", "1500", 1))
	files, _ = Files([]string{dir})
	if read, none, err = ParseAll(files, ""); err != nil || len(read) != 3 ||
		!strings.Contains(strings.Join(none, "\n"), "are different configurations of leaf-1, and both are read") {
		t.Errorf("%d read, none %q, %v", len(read), none, err)
	}

	// A file of a folder that cannot be read is reported, and the other files are read.
	put(t, dir, "cut_config_db.json", `{"PORT": {"Ethernet0": `)
	files, _ = Files([]string{dir})
	read, _, err = ParseAll(files, "")
	var part *PartlyRead
	if !errors.As(err, &part) || !input.IsFault(err) || len(read) != 3 ||
		!strings.HasPrefix(err.Error(), "1 of 6 configurations could not be read") {
		t.Errorf("%d read, %v", len(read), err)
	}
}

// A given language that does not match the text is refused, also if a few lines are understood.
func TestMistaken(t *testing.T) {
	path := put(t, t.TempDir(), "leaf-1.cfg", leaf)
	if c, err := Parse(path, "nxos"); err != nil || c.Name() != "leaf-1" {
		t.Errorf("%v", err)
	}
	for _, os := range []string{"junos", "sonic"} {
		if _, err := Parse(path, os); !input.IsFault(err) {
			t.Errorf("%s: %v", os, err)
		}
	}
	for _, args := range [][]string{{filepath.Join(t.TempDir(), "no.cfg")}, {t.TempDir()}} {
		if _, err := Files(args); !input.IsFault(err) {
			t.Errorf("%q: %v", args, err)
		}
	}
}
