package main

import (
	"strings"
	"testing"
)

// TestRenamed checks that commands still work by their old names, with a note on standard error, and that no help lists
// them.
func TestRenamed(t *testing.T) {
	for _, r := range renamings {
		old := append(strings.Fields(r.old), "--help")
		code, out, errs := call(t, old...)
		if code != exitOK || !strings.Contains(out, "Usage: railyard ") ||
			strings.Join(strings.Fields(errs), " ") != "note: railyard "+r.old+" has a new name: railyard "+r.now {
			t.Errorf("%s: exit %d, %s%s", r.old, code, out, errs)
		}
		group, name, _ := strings.Cut(r.old, " ")
		if _, out, _ := call(t, group, "--help"); strings.Contains(out, "\n  "+name+" ") {
			t.Errorf("%s --help lists %s", group, name)
		}
	}
	code, was, _ := call(t, "config", "rules", "threshold-order")
	_, now, errs := call(t, "config", "lint", "--rules", "threshold-order")
	if code != exitOK || was != now || !strings.Contains(now, "# threshold-order") || errs != "" {
		t.Errorf("exit %d\n%s\n%s%s", code, was, now, errs)
	}
}
