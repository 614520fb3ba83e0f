package result

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// written is a run directory with a whole run.
func written(t *testing.T, root, name string, seed uint64) string {
	t.Helper()
	dir := filepath.Join(root, name)
	p, err := Reserve(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	w := &Tables{Flows: []FlowRow{{Message: 1, From: "a", To: "b", Bytes: 7}}}
	if err := p.Write(manifest(seed), &Summary{Version: "x", Seed: seed}, w); err != nil {
		t.Fatal(err)
	}
	return dir
}

// names lists a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

// A table truncated at any position, missing, or replaced by another file is an error that names the file.
func TestTruncatedTable(t *testing.T) {
	dir := written(t, t.TempDir(), "r", 1)
	path := filepath.Join(dir, "flows.parquet")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := ReadTable[FlowRow](dir, "flows"); err != nil || len(rows) != 1 || rows[0].Bytes != 7 {
		t.Fatalf("%v, %v", rows, err)
	}
	refused := func(what string) {
		t.Helper()
		_, err := ReadTable[FlowRow](dir, "flows")
		_, err2 := TableRows(dir, "flows")
		if err == nil || err2 == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v, want an error with %s", what, err, err2, path)
		}
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/29 {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		refused("cut off")
	}
	for what, text := range map[string]string{"text": "flows, bytes\n1, 7\n", "magic alone": "PAR1PAR1",
		"no footer": "PAR1\xff\xff\xff\x7fPAR1"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		refused(what)
	}
	os.WriteFile(path, []byte("PAR1\xff\xff\xff\x7fPAR1"), 0o644) // 2 GiB of footer in 12 bytes
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refused("a footer that is longer than the file")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("12 bytes made room for %d", n)
	}
	os.Remove(path)
	refused("missing")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	refused("a folder")
}

// A missing, truncated or foreign summary is an error that names its file.
func TestDamagedSummary(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "summary.json")
	if _, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("missing: %v", err)
	}
	for text, want := range map[string]string{"": "is damaged", `{"version": "x"`: "is damaged",
		`[]`: "is damaged", `{"version": 3}`: "is damaged", `{}`: "has no version"} {
		os.WriteFile(path, []byte(text), 0o644)
		if s, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %s", text, s, err, want)
		}
	}
}

// The content of a directory decides whether a run may use it, with and without force. A rejected directory is
// unchanged.
func TestReserveLooksFirst(t *testing.T) {
	for _, c := range []struct {
		what          string
		make          func(dir string)
		plain, forced string // the error; "" is accepted
	}{
		{"nothing", func(string) {}, "", ""},
		{"an empty folder", func(dir string) { os.Mkdir(dir, 0o755) }, "", ""},
		{"a run", func(dir string) { written(t, filepath.Dir(dir), "r", 1) }, "add --force", ""},
		{"a run and notes", func(dir string) {
			written(t, filepath.Dir(dir), "r", 1)
			os.WriteFile(filepath.Join(dir, "notes"), []byte("mine"), 0o644)
		}, "add --force", ""},
		{"notes", func(dir string) {
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, "notes"), []byte("mine"), 0o644)
		}, "holds files (notes) but no run", "holds files (notes) but no run"},
		{"a file", func(dir string) { os.WriteFile(dir, []byte("mine"), 0o644) }, "is a file, expected",
			"is a file, expected"},
		{"a link to nowhere", func(dir string) { os.Symlink(dir+"x", dir) }, "leads nowhere",
			"leads nowhere"},
		{"a summary alone", func(dir string) {
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, "summary.json"), []byte("{}"), 0o644)
		}, "add --force", "did not write"},
		{"half a manifest", func(dir string) {
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"version": "x"`), 0o644)
		}, "add --force", "did not write"},
		{"another's manifest", func(dir string) {
			os.Mkdir(dir, 0o755)
			os.WriteFile(filepath.Join(dir, "run.json"), []byte(`{"version": "x"}`), 0o644)
		}, "add --force", "no version, tables and resolved"},
	} {
		for force, want := range map[bool]string{false: c.plain, true: c.forced} {
			root := t.TempDir()
			dir := filepath.Join(root, "r")
			c.make(dir)
			before := names(t, root)
			p, err := Reserve(dir, force)
			if want == "" && (err != nil || p.Taken()) || want != "" && (err == nil || p != nil ||
				!strings.Contains(err.Error(), want)) {
				t.Errorf("%s, force %v: %v, want %q", c.what, force, err, want)
			}
			if errors.Is(err, ErrExists) != (want == "add --force") {
				t.Errorf("%s, force %v: %v as ErrExists", c.what, force, err)
			}
			p.Release()
			if after := names(t, root); after != before {
				t.Errorf("%s, force %v: %q became %q", c.what, force, before, after)
			}
		}
	}
}

// Of two runs for one directory the second reports that another run is active. Files created meanwhile are
// detected, and a run that must not replace them goes to a directory next to it.
func TestTakenAndAside(t *testing.T) {
	root := t.TempDir()
	p, err := Reserve(filepath.Join(root, "r"), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Reserve(filepath.Join(root, "r"), true); !errors.Is(err, ErrBusy) ||
		!strings.Contains(err.Error(), "choose another --out") {
		t.Errorf("a second run: %v", err)
	}
	if p.Taken() {
		t.Error("taken before anything came")
	}
	os.Mkdir(p.Dir, 0o755)
	os.WriteFile(filepath.Join(p.Dir, "theirs"), []byte("kept"), 0o644)
	if !p.Taken() {
		t.Error("a file that came meanwhile is not seen")
	}
	for _, want := range []string{"r-001", "r-002"} {
		a, err := p.Aside()
		if err != nil || filepath.Base(a.Dir) != want {
			t.Fatalf("aside is %+v, %v, want %s", a, err, want)
		}
		if err := a.Write(manifest(2), &Summary{Version: "x", Seed: 2}, &Tables{}); err != nil {
			t.Fatal(err)
		}
		if a.Taken() {
			t.Error("what one wrote oneself counts as taken")
		}
		a.Release()
	}
	p.Release()
	if got := names(t, root); got != "r r-001 r-002" {
		t.Errorf("%s stays", got)
	}
	if b, _ := os.ReadFile(filepath.Join(root, "r", "theirs")); string(b) != "kept" {
		t.Error("another's file is gone")
	}
}

// A run into a directory with unrelated files goes between them. The next run replaces it file by file, and a run
// that must not replace it goes to a folder inside.
func TestAmongForeignFiles(t *testing.T) {
	root := t.TempDir()
	dir := written(t, root, "r", 1)
	os.WriteFile(filepath.Join(dir, "notes"), []byte("mine"), 0o644)
	p, err := Reserve(dir, true)
	if err != nil || !p.Earlier || !p.Whole {
		t.Fatalf("%+v, %v", p, err)
	}
	a, err := p.Aside()
	if err != nil || a.Dir != filepath.Join(p.Dir, "interrupted-001") {
		t.Errorf("aside is %+v, %v", a, err)
	}
	a.Release()
	if err := p.Write(manifest(2), &Summary{Version: "x", Seed: 2}, &Tables{}); err != nil {
		t.Fatal(err)
	}
	p.Release()
	if s, err := ReadSummary(dir); err != nil || s.Seed != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if n, err := TableRows(dir, "flows"); err != nil || n != 0 {
		t.Errorf("%d flows of the run before, %v", n, err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "notes")); string(b) != "mine" {
		t.Error("the notes are gone")
	}
	if got := names(t, root); got != "r" {
		t.Errorf("%s stays", got)
	}
}

// A run that cannot be written leaves the previous one unchanged, and no hidden files.
func TestFailedWriteLeavesTheRunBefore(t *testing.T) {
	root := t.TempDir()
	dir := written(t, root, "r", 1)
	p, err := Reserve(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []File{{"trace.json", func(w io.Writer) error {
		w.Write([]byte("half"))
		return errors.New("the disk is full")
	}}, {"passwd", asBytes([]byte("x"))}} {
		err := p.Write(manifest(2), &Summary{Version: "x", Seed: 2}, &Tables{}, f)
		if err == nil || !strings.HasPrefix(err.Error(), "writing the run: ") {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	p.Release()
	if s, err := ReadSummary(dir); err != nil || s.Seed != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if got := names(t, root); got != "r" {
		t.Errorf("%s stays", got)
	}
}
