package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// livePath is the package that mutated files import; it exists in the overlay only.
const livePath = "internal/ci/mutants/live"

// liveName is the package's name in mutated files.
const liveName = "mutants__live"

// code is one package of the module, parsed and type-checked, without its tests.
type code struct {
	path  string // within the module, "internal/engine"
	files []*source
	types *types.Package
	info  *types.Info
	tree  *tree
}

// source is one file of a package.
type source struct {
	name string // within the module, with slashes
	text []byte
	ast  *ast.File
}

// tree is the mutated module.
type tree struct {
	dir    string // absolute
	module string // the module's path
	fset   *token.FileSet
	export map[string]string // import path → compiler's export data
	live   *types.Package
}

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	Imports, TestImports    []string
	XTestImports            []string
}

// list runs go list in the module.
func list(dir string, args ...string) (out []listed, err error) {
	cmd := exec.Command("go", append([]string{"list",
		"-json=ImportPath,Dir,Export,GoFiles,Imports,TestImports,XTestImports"}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
}

// load parses and type-checks packages of the module in dir.
func load(dir, module string, paths []string) ([]*code, error) {
	t := &tree{dir: dir, module: module, fset: token.NewFileSet(), export: map[string]string{}}
	t.live = types.NewPackage(module+"/"+livePath, "live")
	k := types.NewParam(0, t.live, "k", types.Typ[types.Int])
	on := types.NewParam(0, t.live, "", types.Typ[types.Bool])
	t.live.Scope().Insert(types.NewFunc(0, t.live, "On",
		types.NewSignatureType(nil, nil, nil, types.NewTuple(k), types.NewTuple(on), false)))
	t.live.MarkComplete()
	args := []string{"-export", "-deps"}
	for _, p := range paths {
		args = append(args, "./"+p)
	}
	pkgs, err := list(dir, args...)
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		t.export[p.ImportPath] = p.Export
	}
	var out []*code
	for _, path := range paths {
		i := slices.IndexFunc(pkgs, func(p listed) bool { return p.ImportPath == module+"/"+path })
		if i < 0 {
			return nil, fmt.Errorf("go list found no package %s", path)
		}
		c := &code{path: path, tree: t}
		for _, name := range pkgs[i].GoFiles {
			s := &source{name: path + "/" + name}
			if s.text, err = os.ReadFile(filepath.Join(pkgs[i].Dir, name)); err != nil {
				return nil, err
			}
			s.ast, err = parser.ParseFile(t.fset, s.name, s.text, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			c.files = append(c.files, s)
		}
		c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if c.types, err = c.check(nil, nil, c.info); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// check type-checks the package, with one file's text replaced unless changed is nil.
func (c *code) check(changed *source, text []byte, info *types.Info) (*types.Package, error) {
	fset := c.tree.fset
	var files []*ast.File
	for _, s := range c.files {
		f := s.ast
		if s == changed {
			var err error
			if f, err = parser.ParseFile(fset, s.name, text, parser.SkipObjectResolution); err != nil {
				return nil, err
			}
		}
		files = append(files, f)
	}
	config := types.Config{Importer: c.tree}
	return config.Check(c.tree.module+"/"+c.path, fset, files, info)
}

// compilers reads export data.
var compilers = map[*tree]types.Importer{}

// Import returns the exports of a package.
func (t *tree) Import(path string) (*types.Package, error) {
	if path == t.live.Path() {
		return t.live, nil
	}
	if compilers[t] == nil {
		compilers[t] = importer.ForCompiler(t.fset, "gc", func(path string) (io.ReadCloser, error) {
			file := t.export[path]
			if file == "" {
				return nil, fmt.Errorf("no export data for %s", path)
			}
			return os.Open(file)
		})
	}
	return compilers[t].Import(path)
}
