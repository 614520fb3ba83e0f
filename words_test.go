package railyard

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"railyard/internal/story"
)

// catalogue is the file of all texts, and remake writes it.
const (
	catalogue = "testdata/words.txt"
	remake    = "go test . -run TestWords -rewrite"
)

// program is a template of go list that prints the module's files of a program.
const program = `{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{end}}{{end}}`

// TestWords compares the texts of the program with testdata/words.txt, whose diff is the review of a change of words,
// and checks them against the glossary.
func TestWords(t *testing.T) {
	files, err := exec.Command("go", "list", "-deps", "-f", program, "./cmd/railyard").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	texts := words{}
	for _, file := range strings.Fields(string(files)) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		texts.file(filepath.ToSlash(pkg), f)
	}
	if story.Rewrites() {
		if err := os.WriteFile(catalogue, []byte(texts.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	if texts.String() != string(was) {
		t.Errorf("%s is not up to date: %s; its diff is the review", catalogue, remake)
	}
	texts.check(t)
}

// words are the texts of packages that a user may read: literals of two words or more, heads of tables, and the help of
// flags and keys. A line is an entry; "…" stands for values between literals.
type words map[string]map[string]bool

// String returns the texts as a file: a line for each package, then its texts, sorted.
func (w words) String() string {
	var b strings.Builder
	for _, pkg := range slices.Sorted(maps.Keys(w)) {
		fmt.Fprintf(&b, "%s\n", pkg)
		for _, text := range slices.Sorted(maps.Keys(w[pkg])) {
			fmt.Fprintf(&b, "\t%s\n", text)
		}
	}
	return b.String()
}

// readers are functions whose literals are patterns of input, not output.
var readers = []string{"MustCompile", "Compile", "Contains", "HasPrefix", "HasSuffix", "TrimPrefix", "TrimSuffix", "Cut",
	"CutPrefix", "CutSuffix", "Index", "Split", "Fields", "panic", "Set", "On", "NewMode", "Word", "Has", "At"}

// letters is what a text of words has and a separator of columns has not.
var letters = regexp.MustCompile(`\pL{2}`)

// file adds the texts of a file.
func (w words) file(pkg string, f *ast.File) {
	add := func(text string, short bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if letters.MatchString(line) && (short || strings.Contains(line, " ")) {
				if w[pkg] == nil {
					w[pkg] = map[string]bool{}
				}
				w[pkg][line] = true
			}
		}
	}
	var visit func(ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				add(reflect.StructTag(tag).Get("help"), true)
				add(reflect.StructTag(tag).Get("doc"), true)
			}
			ast.Inspect(n.Type, visit)
			return false
		case *ast.CaseClause: // its list holds what is read
			for _, s := range n.Body {
				ast.Inspect(s, visit)
			}
			return false
		case *ast.CallExpr:
			return !slices.Contains(readers, named(n.Fun))
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Head" {
				add(joined(n.Value), true)
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				return false
			}
			if n.Op == token.ADD && strings.Trim(joined(n), "… ") != "" {
				add(joined(n), false)
				for _, x := range operands(n) {
					if _, ok := x.(*ast.BasicLit); !ok {
						ast.Inspect(x, visit)
					}
				}
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				add(joined(n), false)
			}
		}
		return true
	}
	ast.Inspect(f, visit)
}

// named returns the last name of a function.
func named(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// operands returns the parts of a sum of strings.
func operands(x ast.Expr) []ast.Expr {
	if sum, ok := x.(*ast.BinaryExpr); ok && sum.Op == token.ADD {
		return append(operands(sum.X), operands(sum.Y)...)
	}
	return []ast.Expr{x}
}

// cut stands between two literals that could be one, which a search finds.
const cut = "¦"

// joined returns a text as its reader sees it, with "…" for each value.
func joined(x ast.Expr) string {
	var b strings.Builder
	open := false // the part before is a literal within a line
	for _, part := range operands(x) {
		lit, ok := part.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			b.WriteString("…")
			open = false
			continue
		}
		if open && lit.Value[0] == '"' {
			b.WriteString(cut)
		}
		text, _ := strconv.Unquote(lit.Value)
		b.WriteString(text)
		open = lit.Value[0] == '"' && !strings.HasSuffix(text, "\n")
	}
	return b.String()
}
