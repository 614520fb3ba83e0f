package railyard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExtensions runs the tests of each example extension in its own module. They compile against the public
// packages alone and pass the conformance tests.
func TestExtensions(t *testing.T) {
	mods, err := filepath.Glob("examples/*/go.mod")
	if err != nil || len(mods) < 5 {
		t.Fatal(mods, err)
	}
	for _, mod := range mods {
		dir := filepath.Dir(mod)
		cmd := exec.Command("go", "test", "./...")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod -trimpath", "GONOSUMDB=*")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "ok") {
			t.Errorf("%s: %v\n%s", dir, err, out)
		}
	}
}
