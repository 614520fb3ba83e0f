// Package assemble builds Railyard with extensions: packages of other modules whose init functions register with
// package railyard/extend.
//
// A Build writes the input of the Go tool into a temporary folder. It is a go.mod like Railyard's that also
// requires the extensions, with replace directives to their folders, and an overlay file with their imports in
// internal/loaded. Check runs the conformance tests of what they register, Build links the program. Neither changes
// a file of the source.
package assemble

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
)

// Build is a build with extensions.
type Build struct {
	Source string   // folder of Railyard's source
	With   []string // folders of extensions, each with a go.mod
	Out    string   // program to write

	dir     string // temporary
	modules []string
}

// New finds the source, from a folder upwards if it is not set, and the modules of the extensions.
func New(source, from string, with []string, out string) (*Build, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, input.Fault(errors.New("the Go tool is not installed: go.dev/doc/install"))
	}
	b := &Build{Source: source, Out: out}
	if source == "" {
		full, err := filepath.Abs(from)
		if err != nil {
			return nil, err
		}
		b.Source = above(full)
	}
	if b.Source == "" || moduleOf(b.Source) != "railyard" {
		return nil, field.New("--source", "%s is not the source of Railyard; set the folder of its go.mod", field.Quote(source))
	}
	for _, dir := range with {
		full, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		module := moduleOf(full)
		switch {
		case module == "":
			return nil, field.New("--with", "%s contains no go.mod with a module", field.Quote(dir))
		case module == "railyard" || slices.Contains(b.modules, module):
			return nil, field.New("--with", "module %s is part of the build already", module)
		}
		b.With, b.modules = append(b.With, full), append(b.modules, module)
	}
	var err error
	b.Source, err = filepath.Abs(b.Source)
	return b, err
}

// above returns the nearest folder at or above another one that has Railyard's source, or "".
func above(dir string) string {
	for {
		if moduleOf(dir) == "railyard" {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// moduleLine matches the line of a go.mod that names its module.
var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// moduleOf returns the module of a folder, or "".
func moduleOf(dir string) string {
	text, err := input.Text(filepath.Join(dir, "go.mod"), 1<<20)
	m := moduleLine.FindSubmatch(text)
	if err != nil || m == nil {
		return ""
	}
	return string(m[1])
}

// Modules returns the modules of the extensions.
func (b *Build) Modules() []string { return b.modules }

// Open writes the files of the build.
func (b *Build) Open() (err error) {
	if b.dir, err = os.MkdirTemp("", "railyard-build-"); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(b.Source, "go.mod"))
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(b.Source, "go.sum"))
	if err != nil {
		return err
	}
	var imports strings.Builder
	for i, m := range b.modules {
		mod = fmt.Appendf(mod, "\nrequire %s v0.0.0\n\nreplace %s => %q\n", m, m, b.With[i])
		if own, err := os.ReadFile(filepath.Join(b.With[i], "go.sum")); err == nil {
			sums = append(sums, own...)
		}
		fmt.Fprintf(&imports, "import _ %q\n", m)
	}
	loaded := filepath.Join(b.Source, "internal", "loaded")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(loaded, "extensions.go"):      b.path("extensions.go"),
		filepath.Join(loaded, "extensions_test.go"): b.path("extensions_test.go"),
	}})
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(b.path("go.mod"), mod, 0o600),
		os.WriteFile(b.path("go.sum"), sums, 0o600),
		os.WriteFile(b.path("overlay.json"), overlay, 0o600),
		os.WriteFile(b.path("extensions.go"), []byte("package loaded\n\n"+imports.String()), 0o600),
		os.WriteFile(b.path("extensions_test.go"), []byte(conformance), 0o600))
}

// conformance tests what a build's extensions have registered.
const conformance = `package loaded_test

import (
	"testing"

	_ "railyard/internal/loaded"

	"railyard/extend"
	"railyard/extend/extendtest"
)

func TestExtensions(t *testing.T) {
	extendtest.All(t)
	a := extend.All()
	for _, names := range [][]string{a.Controls, a.Paths, a.Transports, a.Importers, a.Causes, a.Remedies} {
		for _, n := range names {
			t.Log("adds", n)
		}
	}
}
`

// path returns a file of the temporary folder.
func (b *Build) path(name string) string { return filepath.Join(b.dir, name) }

// Close removes the files of the build.
func (b *Build) Close() { os.RemoveAll(b.dir) }

// Check runs the conformance tests of what the extensions register, and returns their names.
func (b *Build) Check() (adds []string, err error) {
	out, err := b.tool("test", "-count=1", "-v", "-run", "^TestExtensions$", "./internal/loaded")
	if err != nil {
		return nil, b.fault(out, err)
	}
	for _, m := range addLine.FindAllSubmatch(out, -1) {
		adds = append(adds, string(m[1]))
	}
	if len(adds) == 0 {
		return nil, input.Fault(fmt.Errorf("%s: registers nothing: call railyard/extend in an init function",
			strings.Join(b.modules, ", ")))
	}
	return adds, nil
}

var addLine = regexp.MustCompile(`(?m)^ +extensions_test\.go:\d+: adds (\S+)$`)

// Build links the program.
func (b *Build) Build() error {
	full, err := filepath.Abs(b.Out)
	if err != nil {
		return err
	}
	out, err := b.tool("build", "-trimpath", "-tags", "grpcnotrace", "-o", full, "./cmd/railyard")
	if err != nil {
		return b.fault(out, err)
	}
	return nil
}

// tool runs the Go tool in the source with the files of the build.
func (b *Build) tool(command string, args ...string) ([]byte, error) {
	all := append([]string{command, "-mod=mod", "-modfile=" + b.path("go.mod"), "-overlay=" + b.path("overlay.json")}, args...)
	cmd := exec.Command("go", all...)
	cmd.Dir = b.Source
	return cmd.CombinedOutput()
}

// Lines of the Go tool's output that name a fault.
var (
	compileLine = regexp.MustCompile(`(?m)^(\S+\.go:\d+(?::\d+)?): (.+)$`)
	testLine    = regexp.MustCompile(`(?m)^ +--- FAIL: TestExtensions/(\S+)`)
	failedLine  = regexp.MustCompile(`(?m)^ *(?:cctest|extendtest|causes|transporttest|allocs|hostile|ledger|net|schedule)\.go:\d+: (.*[^:\s])\s*$|failed after \d+ tests: (.+)$`)
	panicLine   = regexp.MustCompile(`(?m)^panic: (.+?)(?: \[recovered.*)?$`)
)

// fault returns one error for a failure of the Go tool: the first position that does not compile, the first failed
// conformance test, or else its first line of output.
func (b *Build) fault(out []byte, err error) error {
	who := strings.Join(b.modules, ", ")
	if m := testLine.FindSubmatch(out); m != nil {
		why := ""
		for _, f := range failedLine.FindAllSubmatch(out, -1) {
			if text := string(bytes.Join(f[1:], nil)); text != "" && !strings.HasPrefix(text, "[rapid] OK") {
				why = text
				break
			}
		}
		if p := panicLine.FindSubmatch(out); why == "" && p != nil {
			why = "panic: " + string(p[1])
		}
		name, _, _ := strings.Cut(string(m[1]), "/")
		return input.Fault(fmt.Errorf("%s: %s fails the conformance test: %s", who, name, why))
	}
	if p := panicLine.FindSubmatch(out); p != nil {
		return input.Fault(fmt.Errorf("%s: %s", who, p[1]))
	}
	places := compileLine.FindAllSubmatch(out, -1)
	if len(places) > 0 {
		more := ""
		if n := len(places) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		return input.Fault(fmt.Errorf("%s: does not compile: %s: %s%s", who, places[0][1], places[0][2], more))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return input.Fault(fmt.Errorf("%s: the Go tool fails: %s (%v)", who, first, err))
}
