package identify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	inputs "railyard/internal/published"
)

// TestPublished checks what files that other people wrote are taken for.
func TestPublished(t *testing.T) {
	for kind, patterns := range map[string][][]string{
		"configuration": {{"configs", "eos", "*"}, {"configs", "nxos", "*"}, {"configs", "frr", "*"},
			{"configs", "sonic", "*.json"}},
		"trace":     {{"goal", "*.goal"}},
		"directory": {{"configs", "eos"}},
	} {
		for _, p := range patterns {
			for _, path := range inputs.Files(t, p...) {
				a, err := Of(path, "")
				if err != nil || a.Kind != kind {
					t.Errorf("%s: %+v, %v, want %s", filepath.Base(path), a, err, kind)
				}
			}
		}
	}
}

// TestNextIsCalled checks that each finding of a known kind comes with a command that names the file.
func TestNextIsCalled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it's here.cfg")
	if err := os.WriteFile(path, []byte("hostname leaf1\n!\ninterface Ethernet1\n   mtu 9214\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Of(path, "")
	if err != nil || len(a.Next) == 0 || len(a.Shows) == 0 {
		t.Fatalf("%+v, %v", a, err)
	}
	for _, n := range a.Next {
		if !strings.Contains(n.Command, `it'\''s here.cfg'`) || n.Purpose == "" {
			t.Errorf("%+v", n)
		}
	}
}

// TestAnyBytes has files of arbitrary text, and of parts of known kinds, identified without a panic: the result is an
// account or an error that names the file.
func TestAnyBytes(t *testing.T) {
	dir := t.TempDir()
	parts := []string{"# nThread 1 nGpus 8\n", "#bytes #iterations BW\n", "GPU0 GPU1\n", "NodeName=a\n", "fabric:\n", "{", "}",
		`"PORT": {`, `"traceEvents": [`, "NaN 0 -1\n", "num_ranks 2\n", "\x0a\x0d\x0d\x0a", "PAR1", "interface Ethernet1\n"}
	rapid.Check(t, func(rt *rapid.T) {
		part := rapid.OneOf(rapid.SampledFrom(parts), rapid.StringN(0, 20, -1))
		text := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(rt, "text"), "")
		path := filepath.Join(dir, "some.txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			rt.Fatal(err)
		}
		a, err := Of(path, "")
		if err == nil && (a.Kind == "" || a.What == "") || err != nil && !strings.Contains(err.Error(), "some.txt") {
			rt.Fatalf("%q: %+v, %v", text, a, err)
		}
	})
}
