package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRenderFollowsNoLink: commands that write folders do not write through a symbolic link below --out, not even
// with --force. --out itself may be one.
func TestRenderFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	out, elsewhere := filepath.Join(dir, "out"), filepath.Join(dir, "elsewhere")
	for _, d := range []string{out, elsewhere} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(out, "spine-1")); err != nil {
		t.Fatal(err)
	}
	render := func(to string) (int, string) {
		code, _, errs := call(t, "config", "render", "../../scenarios/lab-2x2.yaml", "--os", "nxos", "--out", to,
			"--force")
		return code, errs
	}
	if code, errs := render(out); code != exitInput || !strings.Contains(errs, "is a symbolic link") {
		t.Errorf("exit %d: %s", code, errs)
	}
	for _, d := range []string{out, elsewhere} {
		if got, _ := filepath.Glob(filepath.Join(d, "*", "*")); len(got) > 0 {
			t.Errorf("written: %v", got)
		}
	}
	for _, name := range []string{"before", "best"} {
		if err := os.Symlink(elsewhere, filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"run", "../../scenarios/lab-2x2.yaml", "--counters", "nxos", "--counters-dir", out, "--force",
			"--out", filepath.Join(dir, "run")},
		{"config", "tune", "../../scenarios/lab-2x2.yaml", "--trials", "2", "--out", out, "--force"},
	} {
		if code, _, errs := call(t, args...); code != exitInput || !strings.Contains(errs, "is a symbolic link") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
		if got, _ := filepath.Glob(filepath.Join(elsewhere, "*")); len(got) > 0 {
			t.Errorf("%v: written: %v", args, got)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	if code, errs := render(link); code != exitOK {
		t.Errorf("exit %d: %s", code, errs)
	}
}
