package identify

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	inputs "railyard/internal/published"
	"railyard/internal/result"
)

// TestPublished checks the recognized kinds of files that other people have written.
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

// TestNextIsCalled checks that each file of a known kind gets a command that names the file.
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

// TestMovedTrace checks that a run's trace.json in another directory is not recognized as the trace of a profiler.
func TestMovedTrace(t *testing.T) {
	var text bytes.Buffer
	if err := result.Trace(&text, &result.Tables{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Of(path, "")
	if err != nil || a.Kind != "run-trace" || len(a.Next) != 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestFolders checks that a directory's account includes its folders and names those of each kind. The commands
// also name the folders.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"configs/leaf1.cfg":   "hostname leaf1\n!\ninterface Ethernet1\n   mtu 9214\n",
		"configs/leaf2.cfg":   "hostname leaf2\n!\ninterface Ethernet1\n   mtu 9214\n",
		"jobs/a/out.txt":      "# nThread 1 nGpus 8\n",
		"jobs/b/out.txt":      "# nThread 1 nGpus 8\n",
		"jobs/c/out.txt":      "# nThread 1 nGpus 8\n",
		"jobs/d/out.txt":      "# nThread 1 nGpus 8\n",
		".git/config":         "hostname leaf1\n!\ninterface Ethernet1\n   mtu 9214\n",
		"notes/some/words.md": "nothing\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Of(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"2 files in configs: switch configuration",
		"4 files in 4 folders (jobs/a, jobs/b, jobs/c, …): nccl-tests output", "1 file of unsupported formats"}
	if !slices.Equal(a.Shows, want) || len(a.Next) != 1 ||
		!strings.Contains(a.Next[0].Command, filepath.Join(dir, "configs")) {
		t.Errorf("%q, %+v", a.Shows, a.Next)
	}
	// Configurations in several folders belong to one fabric, so one command compares them all. A link to a folder
	// is followed.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if err := os.Rename(filepath.Join(dir, "configs/leaf2.cfg"), filepath.Join(dir, "jobs/leaf2.cfg")); err != nil {
		t.Fatal(err)
	}
	a, err = Of(link, "")
	if err != nil || len(a.Next) != 1 || !strings.HasSuffix(a.Next[0].Command, "config lint "+link) {
		t.Errorf("%v, %+v", err, a)
	}
}

// TestAnyBytes identifies files of arbitrary text and of parts of known kinds. There is no panic, and the result is
// an account or an error that names the file.
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

// TestTwoSnapshots checks that before/ and after/ of one folder are diagnosed together, and that other folders are
// diagnosed separately.
func TestTwoSnapshots(t *testing.T) {
	const text = "admin@leaf1:~$ show pfc counters\n" +
		"  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n" +
		"---------  ------  ------  ------  ------  ------  ------  ------  ------\n" +
		"Ethernet0       0       0       0       5       0       0       0       0\n"
	for _, c := range []struct {
		folders []string
		want    []string // folders of the commands
	}{
		{[]string{"before", "after"}, []string{""}},
		{[]string{"june/before/leaves", "june/after"}, []string{"june"}},
		{[]string{"june/after", "june/before", "july"}, []string{"july", "june"}},
		{[]string{"before", "later"}, []string{"before", "later"}},
	} {
		dir := t.TempDir()
		for _, f := range c.folders {
			f = filepath.Join(dir, f)
			if err := os.MkdirAll(f, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(f, "leaf1.txt"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a, err := Of(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, n := range a.Next {
			got = append(got, n.Command)
		}
		for _, w := range c.want {
			want = append(want, "diagnose "+filepath.Join(dir, w))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", c.folders, got, want)
		}
	}
}
