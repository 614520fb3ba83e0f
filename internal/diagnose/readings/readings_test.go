package readings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes the counters of a NIC as ethtool prints them, and a note that is no output.
func put(t *testing.T, dir, pauses string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"host-1-eth0.txt": "$ ethtool -S eth0\nNIC statistics:\n     rx_packets: 1000\n     rx_prio3_pause: " + pauses + "\n",
		"notes.md":        "Called the vendor, who asked for the counters.\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A folder with before and after, two folders of these names, and one read earlier are the same two times; a folder of
// outputs alone is one. Other files in them are named, and none of a folder's files decides which time it is of.
func TestSnapshotsOfTwoTimes(t *testing.T) {
	root := t.TempDir()
	before, after := put(t, filepath.Join(root, "before"), "5"), put(t, filepath.Join(root, "after"), "9")
	for name, of := range map[string]struct {
		earlier string
		paths   []string
		twice   bool
	}{
		"one folder":   {"", []string{root}, true},
		"two folders":  {"", []string{before, after}, true},
		"earlier":      {before, []string{after}, true},
		"one snapshot": {"", []string{after}, false},
	} {
		in, notes, err := Snapshots(of.earlier, of.paths)
		was, is := in.Before, in.After
		if err != nil || len(is) != 1 || len(was) != map[bool]int{true: 1}[of.twice] {
			t.Errorf("%s: %d before, %d after, %v", name, len(was), len(is), err)
			continue
		}
		if text := strings.Join(notes, "\n"); !strings.Contains(text, "notes.md") {
			t.Errorf("%s: notes %q do not name the file that holds no output", name, text)
		}
	}
}

// Named files have to be outputs, and folders have to hold one.
func TestSnapshotsRefused(t *testing.T) {
	dir := put(t, t.TempDir(), "5")
	empty := t.TempDir()
	for path, want := range map[string]string{
		filepath.Join(dir, "notes.md"): "notes.md",
		filepath.Join(dir, "none"):     "no such file",
		empty:                          "contains no output",
	} {
		if _, _, err := Snapshots("", []string{path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
