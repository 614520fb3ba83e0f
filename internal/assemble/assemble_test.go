package assemble

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/long"
)

// build returns a build with a copy of an example, changed.
func build(t *testing.T, example, old, new string) (*Build, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), example)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../examples", example))); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	changed := old == ""
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if old != "" && strings.Contains(string(text), old) {
			changed = true
			os.WriteFile(f, []byte(strings.ReplaceAll(string(text), old, new)), 0o600)
		}
	}
	if !changed {
		t.Fatalf("%s has no %s", example, old)
	}
	b, err := New("", ".", []string{dir}, filepath.Join(t.TempDir(), "program"))
	if err != nil {
		return nil, err
	}
	t.Cleanup(b.Close)
	return b, b.Open()
}

// TestCheck runs the conformance tests of the examples, and of copies that do not compile, break the contract,
// register twice, or register nothing. Each copy gives one error of one line.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ example, old, new, want string }{
		{"custom-cc", "", "", "vegas"},
		{"custom-cc", "v.window++", "v.windw++", "example.com/custom-cc: does not compile: "},
		{"custom-cc", "Rate: v.path.Line", "Rate: 2 * v.path.Line", "example.com/custom-cc: vegas fails the conformance test: "},
		{"custom-cc", `Name: "vegas"`, `Name: "swift"`, "example.com/custom-cc: extend: congestion control swift is registered twice"},
		{"custom-path", "return a\n", "return a + 1\n", "two-choices fails the conformance test: path choice two-choices picks port "},
		{"custom-transport", "x.flying--; now >= x.cut", "now >= x.cut",
			"example.com/custom-transport: tokens fails the conformance test: "},
		{"custom-cause", "", "", "long_cables"},
		{"custom-cause", "return min(lost, m.Done-m.Posted), hop", "return lost, hop",
			"example.com/custom-cause: long_cables fails the conformance test: cause long_cables claims "},
		{"custom-cause", "lost += unit.Time", "lost += unit.Tim", "example.com/custom-cause: does not compile: "},
		{"custom-cause", `Key: "long_cables"`, `Key: "incast"`, "extend: cause incast is registered twice"},
		{"custom-importer", "extend.Import(importer)", "_ = extend.Import", "registers nothing"},
	} {
		if c.old != "" && !long.On() && c.example != "custom-cc" && c.example != "custom-cause" {
			continue
		}
		b, err := build(t, c.example, c.old, c.new)
		if err != nil {
			t.Fatal(err)
		}
		adds, err := b.Check()
		if c.old == "" {
			if err != nil || strings.Join(adds, " ") != c.want {
				t.Errorf("%s: %v, %v", c.example, adds, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s with %s: %v, want %s", c.example, c.new, err, c.want)
		}
	}
}

// TestNewRefuses checks the errors of folders that are no extension, or not Railyard.
func TestNewRefuses(t *testing.T) {
	empty := t.TempDir()
	for want, b := range map[string]*Build{
		"--with: \"" + empty + "\" contains no go.mod":  {With: []string{empty}},
		"--source: \"" + empty + "\" is not the source": {Source: empty, With: []string{empty}},
		"module example.com/custom-cc is part of the build already": {
			With: []string{"../../examples/custom-cc", "../../examples/custom-cc"}},
		"module railyard is part of the build already": {With: []string{"../.."}},
	} {
		if _, err := New(b.Source, ".", b.With, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := New("", empty, nil, "x"); err == nil || !strings.Contains(err.Error(), "--source") {
		t.Error(err)
	}
}

// TestBuild links a program with an extension and lists it in the help of run: minutes of compiling.
func TestBuild(t *testing.T) {
	if !long.On() {
		t.Skip("links the whole program: RAILYARD_LONG=1")
	}
	b, err := build(t, "custom-cc", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Build(); err != nil {
		t.Fatal(err)
	}
}
