package published

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// recorder notes what a test would have been told.
type recorder struct{ skipped, failed string }

func (r *recorder) Helper()                        {}
func (r *recorder) Skipf(format string, a ...any)  { r.skipped = fmt.Sprintf(format, a...) }
func (r *recorder) Fatalf(format string, a ...any) { r.failed = fmt.Sprintf(format, a...) }

// The named folder is used alone; without one, a folder above the working directory; else the test skips.
func TestWhere(t *testing.T) {
	root := t.TempDir()
	put := func(name string) string {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	named, above := put("named/data/goal/a.goal"), put("shared/data/goal/a.goal")
	put("shared/data/goal/b.goal")
	if err := os.MkdirAll(filepath.Join(root, "checkout", "internal"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "checkout", "internal"))

	t.Setenv("RAILYARD_SHARED", filepath.Join(root, "named"))
	var r recorder
	if got := Path(&r, "goal", "a.goal"); got != named || r != (recorder{}) {
		t.Errorf("%s %+v, want %s", got, r, named)
	}
	if got := Path(&r, "goal", "b.goal"); got != "" || r.skipped != "RAILYARD_SHARED names no folder with data/goal/b.goal" {
		t.Errorf("%s %+v", got, r)
	}

	t.Setenv("RAILYARD_SHARED", "")
	if got := Path(t, "goal", "a.goal"); got != above {
		t.Errorf("%s, want %s", got, above)
	}
	if got := Files(t, "goal", "*"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := string(Read(t, "goal", "b.goal")); got != "shared/data/goal/b.goal" {
		t.Errorf("%q", got)
	}
	r = recorder{}
	if Files(&r, "goal", "["); r.failed == "" {
		t.Error("a pattern that is none is taken")
	}
}
