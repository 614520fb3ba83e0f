package result

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func manifest(seed uint64) *Manifest {
	return &Manifest{Version: "test", Seed: seed, Resolved: map[string]string{}, Complete: true}
}

// If files are moved one by one, the next process that reserves the directory completes a run that was killed
// between two moves. All files belong to the new run, whichever was moved last.
func TestInstallGoesOn(t *testing.T) {
	extra := File{"capture.pcapng", asBytes([]byte("frames"))}
	for killed := 0; killed < 15; killed++ {
		dir := t.TempDir()
		p, err := Reserve(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(manifest(1), &Summary{Version: "x", Seed: 1}, &Tables{}, extra); err != nil {
			t.Fatal(err)
		}
		p.Release()
		// Run 2 without a capture is complete; it is killed after n moves.
		whole := filepath.Join(dir, inner, ready)
		os.MkdirAll(whole, 0o755)
		m := manifest(2)
		if err := fill(whole, m, &Summary{Version: "x", Seed: 2}, &Tables{}); err != nil {
			t.Fatal(err)
		}
		if killed > 0 {
			for _, f := range []string{"run.json", "summary.json", "capture.pcapng"} {
				os.Remove(filepath.Join(dir, f))
			}
		}
		for _, f := range m.Files[:min(killed, len(m.Files)-1)] {
			if err := os.Rename(filepath.Join(whole, f), filepath.Join(dir, f)); err != nil {
				t.Fatal(err)
			}
		}
		p, err = Reserve(dir, true)
		if err != nil {
			t.Fatalf("killed after %d: %v", killed, err)
		}
		if s, err := ReadSummary(dir); err != nil || s.Seed != 2 || !p.Earlier || !p.Whole {
			t.Errorf("killed after %d: %+v, %v", killed, s, err)
		}
		p.Release()
		entries, _ := os.ReadDir(dir)
		if len(entries) != len(m.Files) {
			t.Errorf("killed after %d: %v", killed, entries)
		}
	}
}

// The next run removes the remains of a killed run next to it. A folder of a running run, and files that no run has
// written, stay.
func TestSweep(t *testing.T) {
	root := t.TempDir()
	old := filepath.Join(root, prefix+"old-001")
	os.MkdirAll(filepath.Join(old, "new-1"), 0o755)
	os.WriteFile(filepath.Join(old, "new-1", "flows.parquet"), []byte("half"), 0o644)
	os.MkdirAll(filepath.Join(root, prefix+"kept"), 0o755)
	os.WriteFile(filepath.Join(root, prefix+"kept", "mine"), nil, 0o644)
	live, err := Fresh(root, "live")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Fresh(root, "run")
	if err != nil {
		t.Fatal(err)
	}
	if exists(old) || !exists(filepath.Join(root, prefix+"kept", "mine")) || !exists(live.hidden) {
		t.Errorf("old %v, mine %v, live %v", exists(old), exists(filepath.Join(root, prefix+"kept", "mine")),
			exists(live.hidden))
	}
	p.Release()
	live.Release()
}

// A manifest cannot name a file outside the directory: such files are neither moved nor removed.
func TestManifestNamesFiles(t *testing.T) {
	dir := t.TempDir()
	m := manifest(1)
	if err := fill(dir, m, &Summary{Version: "x"}, &Tables{}); err != nil {
		t.Fatal(err)
	}
	m.Files = append(m.Files, "../precious")
	if err := writeFile(filepath.Join(dir, "run.json"), asJSON(m)); err != nil {
		t.Fatal(err)
	}
	if _, err := Reserve(dir, true); err == nil {
		t.Error("a run.json that lists ../precious was taken for a run's")
	}
}

// A symbolic link with a hidden folder's name, next to a run directory or in it, is not followed to remove a run's
// files. A pipe named run.json is not read.
func TestPlantedNames(t *testing.T) {
	root := t.TempDir()
	theirs := filepath.Join(root, "theirs")
	os.Mkdir(theirs, 0o755)
	os.WriteFile(filepath.Join(theirs, "run.json"), []byte("kept"), 0o644)
	os.Symlink(theirs, filepath.Join(root, ".railyard-r"))
	inside := filepath.Join(root, "inside")
	os.Mkdir(inside, 0o755)
	os.Symlink(theirs, filepath.Join(inside, ".railyard"))
	for _, dir := range []string{filepath.Join(root, "r"), inside} {
		if _, err := Reserve(dir, false); err == nil ||
			!strings.Contains(err.Error(), "is not a folder that Railyard made") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(theirs, "run.json")); string(b) != "kept" {
		t.Error("a run directory elsewhere lost its files")
	}
	pipe := filepath.Join(root, "pipe")
	os.Mkdir(pipe, 0o755)
	if err := syscall.Mkfifo(filepath.Join(pipe, "run.json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Reserve(pipe, true); err == nil || !strings.Contains(err.Error(),
		"not a regular file but a pipe") {
		t.Error(err)
	}
	os.WriteFile(filepath.Join(root, "s.yaml"), nil, 0o644)
	for _, force := range []bool{false, true} { // --force would not help, so it is not offered
		if _, err := Reserve(root, force); err == nil || !strings.Contains(err.Error(), "but no run") {
			t.Errorf("force %v: %v", force, err)
		}
	}
}

// JSON that no run has written is no run of 0 packets.
func TestSummaryOfSomethingElse(t *testing.T) {
	for text, ok := range map[string]bool{`{"a": 1}`: false, `null`: false, `{"version": "0.1"}`: true} {
		dir := t.TempDir()
		os.WriteFile(filepath.Join(dir, "summary.json"), []byte(text), 0o644)
		if _, err := ReadSummary(dir); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
