package railyard

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"railyard/internal/story"
)

// public are the packages that extensions and programs import.
var public = []string{"unit", "param", "cc", "cc/cctest", "entropy", "transport", "transport/transporttest",
	"transport/window", "extend", "extend/extendtest", "simulate", "roce", "rc"}

// surface is the committed listing of the exported names.
const surface = "testdata/api.txt"

// TestAPI compares the public surface with testdata/api.txt. A removed or changed line breaks extensions, and the
// diff of the file is the review. `go test . -run TestAPI -rewrite` writes it.
func TestAPI(t *testing.T) {
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, p := range public {
		args = append(args, "./"+p)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[path] = file
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	var b strings.Builder
	for _, name := range public {
		p, err := from.Import("railyard/" + name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "package railyard/%s\n", name)
		for _, line := range exported(p) {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	if story.Rewrites() {
		if err := os.WriteFile(surface, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(surface)
	if err != nil || string(was) != b.String() {
		t.Errorf("%s is not up to date: go test . -run TestAPI -rewrite; its diff is the review (%v)", surface, err)
	}
}

// exported lists the exported objects of a package with their types. For types it lists the exported fields and
// methods, also for aliases of internal types.
func exported(p *types.Package) (lines []string) {
	qualify := func(of *types.Package) string {
		if of == p {
			return ""
		}
		return of.Path()
	}
	scope := p.Scope()
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if !obj.Exported() {
			continue
		}
		tn, isType := obj.(*types.TypeName)
		if !isType {
			line := types.ObjectString(obj, qualify)
			if c, ok := obj.(*types.Const); ok {
				line += " = " + c.Val().ExactString()
			}
			lines = append(lines, line)
			continue
		}
		kind := "type " + name
		if alias, ok := tn.Type().(*types.Alias); ok {
			kind += " = " + types.TypeString(alias.Rhs(), qualify)
		}
		members := membersOf(tn.Type(), qualify)
		if len(members) == 0 {
			kind += " " + types.TypeString(tn.Type().Underlying(), qualify)
		}
		lines = append(lines, kind)
		for _, m := range members {
			lines = append(lines, "\t"+m)
		}
	}
	return lines
}

// membersOf lists the exported fields and methods of a type and of pointers to it.
func membersOf(t types.Type, qualify types.Qualifier) (lines []string) {
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				lines = append(lines, types.ObjectString(f, qualify))
			}
		}
	}
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	var methods []string
	for m := range types.NewMethodSet(t).Methods() {
		if m.Obj().Exported() {
			methods = append(methods, types.ObjectString(m.Obj(), qualify))
		}
	}
	slices.Sort(methods)
	return append(lines, methods...)
}
