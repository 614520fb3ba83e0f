package railyard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"railyard/internal/story"
)

// extensions is the page that explains extensions, interfaceHead the line before the declarations of package cc.
const (
	extensions    = "docs/extend.md"
	interfaceHead = "## What a controller implements\n"
)

// TestControllerPage: docs/extend.md has the declarations of package cc that a congestion control needs.
// `go test . -run TestControllerPage -rewrite` writes them.
func TestControllerPage(t *testing.T) {
	var want strings.Builder
	for _, x := range []struct{ file, name string }{{"cc/cc.go", "Controller"}, {"cc/cc.go", "Decision"},
		{"cc/cc.go", "Ack"}, {"cc/cc.go", "LossNak"}, {"cc/registry.go", "Make"}, {"cc/registry.go", "Path"}} {
		want.WriteString(declared(t, x.file, x.name))
	}
	b, err := os.ReadFile(extensions)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), interfaceHead)
	at := strings.Index(rest, "\n## ")
	if !ok || at < 0 {
		t.Fatalf("%s has no section %q with another one after it", extensions, interfaceHead)
	}
	words, _, _ := strings.Cut(rest[:at], "```go\n")
	page := head + interfaceHead + words + "```go\n" + strings.TrimSuffix(want.String(), "\n") + "```\n" + rest[at:]
	if page == string(b) {
		return
	}
	if story.Rewrites() {
		err = os.WriteFile(extensions, []byte(page), 0o644)
	} else {
		t.Errorf("%s is not up to date: go test . -run TestControllerPage -rewrite", extensions)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// declared is the source of the declaration of a name, with its comment, and an empty line.
func declared(t *testing.T, file, name string) string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			typed, isType := s.(*ast.TypeSpec)
			value, isValue := s.(*ast.ValueSpec)
			if isType && typed.Name.Name == name || isValue && value.Names[0].Name == name {
				return string(src[set.Position(g.Doc.Pos()).Offset:set.Position(g.End()).Offset]) + "\n\n"
			}
		}
	}
	t.Fatalf("%s declares no %s", file, name)
	return ""
}
