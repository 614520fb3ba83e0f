package sweep

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/runner"
)

// A larger study in the same directory, or one that reuses another, simulates only new trials.
func TestAdded(t *testing.T) {
	f := tinyFile(written(t, "tiny.yaml", tiny))
	dir := filepath.Join(t.TempDir(), "s")
	ran(t, f, 2, Options{Dir: dir})
	more := tinyFile(f.Scenario)
	more.Vary[0].Values = []string{"1", "2", "4", "8"}
	if _, err := begun(more, Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "accepted: --add") {
		t.Error(err)
	}
	s, a, csv, _ := ran(t, more, 2, Options{Dir: dir, Add: true})
	if s.Simulated != 8 || s.Kept != 26 || len(a.Ranking) != 16 {
		t.Errorf("%d simulated, %d kept, %d ranked", s.Simulated, s.Kept, len(a.Ranking))
	}
	if s, _, again, _ := ran(t, more, 2, Options{Dir: dir}); s.Simulated != 0 || !bytes.Equal(csv, again) {
		t.Errorf("the same again simulates %d", s.Simulated)
	}
	if s, _, _, _ := ran(t, more, 2, Options{Dir: dir + "2", Reuse: []string{dir}}); s.Simulated != 0 || s.Taken != 34 {
		t.Errorf("%d taken over, %d simulated", s.Taken, s.Simulated)
	}
	if s, _, _, _ := ran(t, f, 2, Options{Dir: dir, Force: true}); s.Simulated != 26 {
		t.Errorf("begun anew, it simulates %d", s.Simulated)
	}
	other, set, seeds := *f, *f, *f
	other.Scenario, set.Set, seeds.Seeds = written(t, "other.yaml",
		strings.Replace(tiny, "delay: 1us", "delay: 3us", 1)), []string{"lb=spray"}, 4
	for want, of := range map[string]*File{"tiny.yaml, found": &other, "--set none, found lb=spray": &set,
		"2 seeds per point, found 4": &seeds} {
		if _, err := begun(of, Options{Dir: dir, Add: true}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Points of another version, or of a changed scenario, are not added, because the results could not distinguish
// them. Without --add the error names what differs.
func TestAddedTooLate(t *testing.T) {
	f := tinyFile(written(t, "tiny.yaml", tiny))
	dir := t.TempDir()
	at, older := filepath.Join(dir, "s"), filepath.Join(dir, "older")
	s, _, _, _ := ran(t, f, 2, Options{Dir: at})
	os.CopyFS(older, os.DirFS(at))
	manifest := bytes.ReplaceAll(held0(t, s, ManifestName), []byte(runner.Version()), []byte("0.0.9"))
	os.WriteFile(filepath.Join(older, ManifestName), manifest, 0o600)
	os.WriteFile(f.Scenario, []byte(strings.Replace(tiny, "delay: 1us", "delay: 2us", 1)), 0o600)
	for in, want := range map[string]string{older: "holds a study of version 0.0.9, found " + runner.Version(),
		at: "holds a study of " + f.Scenario + " as it was before a change"} {
		for _, add := range []bool{false, true} {
			_, err := begun(f, Options{Dir: in, Add: add})
			if err == nil || !strings.Contains(err.Error(), want+"; accepted: --force to begin anew, another --out") {
				t.Errorf("--add %v: %v, want %s", add, err, want)
			}
		}
	}
	if _, err := Merge([]string{at, older}, filepath.Join(dir, "joined")); err == nil ||
		!strings.Contains(err.Error(), "are not parts of one study: version") {
		t.Error(err)
	}
}

// Files named by a scenario or a value are part of a trial's identity.
func TestNamedFiles(t *testing.T) {
	path := written(t, "tiny.yaml", tiny)
	own := filepath.Join(filepath.Dir(path), "leaf.cfg")
	ids := map[ID]bool{}
	for _, name := range []string{"leaf", "leaf", "spine"} {
		os.WriteFile(own, []byte("hostname "+name+"\n"), 0o600)
		f := &File{Scenario: path, Vary: []Vary{{Key: "switches.config", Values: []string{"leaf.cfg"}}}}
		if err := f.Settle(); err != nil {
			t.Fatal(err)
		}
		d, err := newDesign(f, sources{})
		if err != nil {
			t.Fatal(err)
		}
		ids[d.id(1, 0, 0)] = true
		ids[d.id(0, 0, 0)] = true
	}
	if len(ids) != 3 { // two configurations, and the scenario without one
		t.Errorf("%d trials", len(ids))
	}
	of := func(values ...string) *File {
		return &File{Scenario: path, Vary: []Vary{{Key: "switches.config", Values: values}}}
	}
	dir := filepath.Join(t.TempDir(), "s")
	opened(t, of("leaf.cfg"), 1, Options{Dir: dir}).Close()
	os.WriteFile(own, []byte("hostname leaf\n"), 0o600)
	os.WriteFile(own+"2", []byte("hostname other\n"), 0o600)
	_, err := begun(of("leaf.cfg", "leaf.cfg2"), Options{Dir: dir, Add: true})
	if err == nil || !strings.Contains(err.Error(), "the file of switches.config=leaf.cfg as it was before a change") {
		t.Error(err)
	}
}
