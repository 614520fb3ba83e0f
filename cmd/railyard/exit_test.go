package main

import (
	"fmt"
	"go/ast"
	syntax "go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestExitCodes checks that every exit code in the source is a constant of the table that `help exit` prints: the
// constants named exit…, what commands return in an exitError, and arguments of os.Exit.
func TestExitCodes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	more, _ := filepath.Glob("../../internal/ranks/*.go")
	for _, path := range append(files, more...) {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := syntax.ParseFile(token.NewFileSet(), path, nil, syntax.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			for _, code := range codesOf(n) {
				if !exitCodeNamed(code) {
					t.Errorf("%s: exit code %s is not in exitCodes", path, code)
				}
			}
			return true
		})
	}
	_, out, _ := call(t, "help", "exit")
	for i, c := range exitCodes {
		if !strings.Contains(out, fmt.Sprintf("\n  %-4d %s\n", c.code, c.text)) || i > 0 && c.code <= exitCodes[i-1].code {
			t.Errorf("exit code %d in\n%s", c.code, out)
		}
	}
}

// exitConstants are the names of the codes in exitCodes, in its order, and other expressions that stand for codes
// of the table.
var exitConstants = []string{"exitOK", "exitFailed", "exitInput", "exitLost", "exitUnmet", "exitInterupt"}

// exitCodeNamed reports whether an expression is a code of the table or passes one on.
func exitCodeNamed(expr string) bool {
	for i, name := range exitConstants {
		if expr == name {
			return i < len(exitCodes)
		}
	}
	switch expr {
	case "exit.ExitCode()", // of the command of lab exec, as documented by help exit
		"Main(...)", "Refused", "Interrupted":
		return true
	}
	return false
}

// codesOf returns the exit codes in a node as source: a constant's name, a call, or another expression.
func codesOf(n ast.Node) (codes []string) {
	switch n := n.(type) {
	case *ast.ValueSpec:
		for _, name := range n.Names {
			if strings.HasPrefix(name.Name, "exit") && len(name.Name) > 4 && name.Name != "exitCodes" {
				codes = append(codes, name.Name)
			}
		}
	case *ast.CompositeLit:
		if id, ok := n.Type.(*ast.Ident); ok && id.Name == "exitError" {
			codes = append(codes, sourceOf(n.Elts[0]))
		}
	case *ast.CallExpr:
		if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Exit" && sourceOf(sel.X) == "os" {
			codes = append(codes, sourceOf(n.Args[0]))
		}
	}
	return codes
}

// sourceOf returns a short form of an expression.
func sourceOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return sourceOf(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		if len(e.Args) > 0 {
			return sourceOf(e.Fun) + "(...)"
		}
		return sourceOf(e.Fun) + "()"
	}
	return fmt.Sprintf("%T", e)
}

// TestLongWords: a command line with an endless word is refused in a line of readable length.
func TestLongWords(t *testing.T) {
	long := strings.Repeat("c", 5000)
	for _, args := range [][]string{{long}, {"plan", long}, {"run", "a.yaml", "--" + long}, {"run", "a.yaml", long},
		{"rdma", "allreduce", "--ranks", long}, {"plan", "size", long}, {"run", long}, {"config", "lint", "--os", long}} {
		code, _, errs := call(t, args...)
		for l := range strings.Lines(errs) {
			if code != exitInput || len(l) > 1600 { // like errors about files
				t.Errorf("%s: exit %d, a line of %d characters: %s", args[0][:min(9, len(args[0]))], code, len(l), l[:min(200, len(l))])
			}
		}
	}
}
