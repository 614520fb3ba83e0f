package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// site is a position in the code with the possible mutations.
type site struct {
	in       *code
	file     *source
	fn       string // the function or variable around it
	start    int    // start of the replaced text, in bytes
	end      int
	variants []variant
}

// variant is one mutation of a site.
type variant struct {
	what  string // "< becomes <="
	plain string // replacement of the text
	live  string // the same, switched by the condition that replaces on
}

// on is the placeholder for the condition "this mutant is active" in the text of a variant.
const on = "\x00"

// silent are functions that only print or document.
var silent = []string{"String", "GoString", "Error", "Format", "Doc", "Help"}

// sites enumerates the mutations of a package.
//
// Some code is left out, because its changes cannot be observed or because tests should not fix it: code that
// prints or documents (String, Error, arguments of fmt, errors, field and panic), hints to caches, capacities of
// slices and maps, declarations of constants (their uses within the package are mutated instead), and types.
func (c *code) sites() []site {
	var out []site
	for _, f := range c.files {
		e := enumerator{code: c, file: f}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body == nil || slices.Contains(silent, d.Name.Name) || hint(d.Name.Name) {
					continue
				}
				e.fn = d.Name.Name
				e.walk(d.Body)
			case *ast.GenDecl:
				if d.Tok == token.VAR {
					e.fn = d.Specs[0].(*ast.ValueSpec).Names[0].Name
					e.walk(d)
				}
			}
		}
		out = append(out, e.out...)
	}
	return out
}

// hint reports whether a function's name shows that it only prefetches memory.
func hint(name string) bool { return strings.HasPrefix(strings.ToLower(name), "touch") }

// enumerator walks one file.
type enumerator struct {
	*code
	file  *source
	fn    string
	stack []ast.Node // from the outermost to the current node
	out   []site
}

func (e *enumerator) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			e.stack = e.stack[:len(e.stack)-1]
			return true
		}
		if e.skipped(n) {
			return false
		}
		e.stack = append(e.stack, n)
		e.visit(n)
		return true
	})
}

// parent returns the n-th node above the current one, 0 for the next.
func (e *enumerator) parent(n int) ast.Node {
	if i := len(e.stack) - 2 - n; i >= 0 {
		return e.stack[i]
	}
	return nil
}

// skipped reports whether nothing in n is mutated.
func (e *enumerator) skipped(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok == token.CONST || n.Tok == token.TYPE
	case *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.FuncType, *ast.MapType:
		return true
	case *ast.CallExpr:
		return e.quiet(n)
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		return ok && e.quiet(call)
	case ast.Expr:
		if len(e.stack) == 0 {
			return false
		}
		if call, ok := e.stack[len(e.stack)-1].(*ast.CallExpr); ok {
			return e.capacity(call, n)
		}
	}
	return false
}

// quiet reports whether a call prints, documents, ends the program or only affects speed.
func (e *enumerator) quiet(call *ast.CallExpr) bool {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return f.Name == "panic" || hint(f.Name)
	case *ast.SelectorExpr:
		if hint(f.Sel.Name) || f.Sel.Name == "Reserve" || f.Sel.Name == "Grow" {
			return true
		}
		if id, ok := f.X.(*ast.Ident); ok {
			if p, ok := e.info.Uses[id].(*types.PkgName); ok {
				path := p.Imported().Path()
				return path == "fmt" || path == "errors" || path == "log" ||
					strings.HasSuffix(path, "internal/field") || strings.HasSuffix(path, "internal/cache")
			}
		}
	}
	return false
}

// capacity reports whether an argument of make is only a capacity.
func (e *enumerator) capacity(call *ast.CallExpr, arg ast.Expr) bool {
	f, ok := call.Fun.(*ast.Ident)
	if !ok || f.Name != "make" {
		return false
	}
	at := slices.Index(call.Args, arg)
	_, isMap := e.info.TypeOf(call.Args[0]).Underlying().(*types.Map)
	return at == 2 || at == 1 && isMap
}

func (e *enumerator) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		e.binary(n)
	case *ast.BasicLit:
		e.literal(n)
	case *ast.Ident:
		e.ident(n)
	case *ast.IfStmt:
		e.condition(n.Cond)
	case *ast.ExprStmt, *ast.AssignStmt, *ast.IncDecStmt, *ast.ReturnStmt, *ast.BranchStmt:
		e.statement(n.(ast.Stmt))
	}
}

// other lists the operators that replace an operator.
var other = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
	token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND}, token.XOR: {token.OR}, token.AND_NOT: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN},
	token.OR_ASSIGN: {token.AND_ASSIGN}, token.AND_ASSIGN: {token.OR_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

func (e *enumerator) binary(n *ast.BinaryExpr) {
	if n.Op == token.ADD && e.isText(n.X) {
		return
	}
	var vs []variant
	for _, op := range other[n.Op] {
		x, y := e.operand(n.X, op.Precedence()), e.operand(n.Y, op.Precedence()+1)
		vs = append(vs, variant{what: n.Op.String() + " becomes " + op.String(),
			plain: x + " " + op.String() + " " + y})
	}
	e.expression(n, vs)
}

// operand returns the text of an operand, in parentheses if its precedence requires them.
func (e *enumerator) operand(x ast.Expr, need int) string {
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op.Precedence() < need {
		return "(" + e.text(x) + ")"
	}
	return e.text(x)
}

func (e *enumerator) literal(n *ast.BasicLit) {
	var vs []variant
	put := func(s string) { vs = append(vs, variant{what: n.Value + " becomes " + s, plain: s}) }
	switch n.Kind {
	case token.INT:
		v, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil {
			return
		}
		if v <= small {
			put(strconv.FormatInt(v+1, 10))
			if v > 0 {
				put(strconv.FormatInt(v-1, 10))
			}
		} else {
			put(strconv.FormatInt(v*2, 10))
			put(strconv.FormatInt(v/2, 10))
		}
	case token.FLOAT:
		put(n.Value + " * 2")
		put(n.Value + " / 2")
	default:
		return
	}
	e.expression(n, vs)
}

// small is the limit up to which an integer is mutated by one. Larger integers are halved and doubled, because a
// difference of one in 4,096 changes little that a test should detect.
const small = 16

// ident mutates the use of a constant of this package, and true and false.
func (e *enumerator) ident(n *ast.Ident) {
	c, ok := e.info.Uses[n].(*types.Const)
	if !ok || e.field(n) {
		return
	}
	switch {
	case n.Name == "true":
		e.expression(n, []variant{{what: "true becomes false", plain: "false"}})
	case n.Name == "false":
		e.expression(n, []variant{{what: "false becomes true", plain: "true"}})
	case c.Pkg() == e.types:
		if b, ok := c.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
			e.expression(n, []variant{{what: n.Name + " becomes " + n.Name + " + 1", plain: n.Name + " + 1"},
				{what: n.Name + " becomes " + n.Name + " - 1", plain: n.Name + " - 1"}})
		}
	}
}

// field reports whether the current identifier names a key, a label or a selected name.
func (e *enumerator) field(n *ast.Ident) bool {
	switch p := e.parent(0).(type) {
	case *ast.SelectorExpr:
		return p.Sel == n
	case *ast.KeyValueExpr: // an array's index must stay a constant
		return p.Key == n
	}
	return false
}

// expression adds variants of the current expression. If that is part of a constant, the switch encloses the whole
// constant. A constant cannot contain a call.
func (e *enumerator) expression(n ast.Expr, vs []variant) {
	if kv, ok := e.parent(0).(*ast.KeyValueExpr); ok && kv.Key == n {
		return
	}
	outer, up := n, 0
	if e.info.Types[n].Value != nil {
		for {
			p, ok := e.parent(up).(ast.Expr)
			if !ok || e.info.Types[p].Value == nil {
				break
			}
			outer, up = p, up+1
		}
		if kv, ok := e.parent(up).(*ast.KeyValueExpr); ok && kv.Key == outer {
			return
		}
	}
	t := e.info.TypeOf(outer)
	if t == nil || len(vs) == 0 {
		return
	}
	name := types.TypeString(types.Default(t), e.qualifier)
	whole := e.text(outer)
	a, b := e.offset(n.Pos())-e.offset(outer.Pos()), e.offset(n.End())-e.offset(outer.Pos())
	for i := range vs {
		if a > 0 || b < len(whole) {
			if strings.Contains(vs[i].plain, " ") {
				vs[i].plain = "(" + vs[i].plain + ")"
			}
			vs[i].plain = whole[:a] + vs[i].plain + whole[b:]
		}
		vs[i].live = "func() " + name + " { if " + on + " { return " + vs[i].plain + " }; return " + whole + " }()"
		if bare(e.parent(up)) && strings.Contains(vs[i].plain, " ") {
			vs[i].plain = "(" + vs[i].plain + ")"
		}
	}
	e.add(outer, vs)
}

// bare reports whether a mutated expression needs parentheses below p.
func bare(p ast.Node) bool {
	switch p.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.SelectorExpr:
		return true
	}
	return false
}

// qualifier spells a package as the file does.
func (e *enumerator) qualifier(p *types.Package) string {
	if p == e.types {
		return ""
	}
	for _, i := range e.file.ast.Imports {
		if path, _ := strconv.Unquote(i.Path.Value); path == p.Path() {
			if i.Name != nil {
				return i.Name.Name
			}
			return p.Name()
		}
	}
	return p.Name() // not imported here: the mutant does not compile and is not drawn
}

// condition negates the condition of an if, unless it is a comparison, which is mutated itself.
func (e *enumerator) condition(cond ast.Expr) {
	if b, ok := cond.(*ast.BinaryExpr); ok && b.Op != token.LAND && b.Op != token.LOR {
		return
	}
	text := e.text(cond)
	e.add(cond, []variant{{what: "if negated", plain: "!(" + text + ")", live: on + " != (" + text + ")"}})
}

// statement removes a statement, or turns an operator of assignment round.
func (e *enumerator) statement(s ast.Stmt) {
	switch e.parent(0).(type) {
	case *ast.BlockStmt, *ast.CaseClause:
	default:
		return
	}
	text := e.text(s)
	vs := []variant{{what: "removed", live: "if !" + on + " { " + text + " }"}}
	turn := func(left string, op token.Token, right string) {
		for _, o := range other[op] {
			plain := strings.TrimSpace(left + " " + o.String() + " " + right)
			vs = append(vs, variant{what: op.String() + " becomes " + o.String(), plain: plain,
				live: "if " + on + " { " + plain + " } else { " + text + " }"})
		}
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || blank(s.Lhs) || e.isText(s.Lhs[0]) {
			return
		}
		if s.Tok != token.ASSIGN {
			turn(e.text(s.Lhs[0]), s.Tok, e.text(s.Rhs[0]))
		}
	case *ast.IncDecStmt:
		turn(e.text(s.X), s.Tok, "")
	case *ast.ReturnStmt:
		vs[0].what = "early return removed"
		if e.parent(1) == nil {
			return // the function's last
		}
	case *ast.BranchStmt:
		if s.Tok == token.FALLTHROUGH || s.Tok == token.GOTO {
			return
		}
		vs[0].what = s.Tok.String() + " removed"
	}
	e.add(s, vs)
}

// isText reports whether an expression is a string or an error, which only messages show.
func (e *enumerator) isText(x ast.Expr) bool {
	t := e.info.TypeOf(x)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// blank reports whether all assigned variables are _.
func blank(xs []ast.Expr) bool {
	for _, x := range xs {
		if id, ok := x.(*ast.Ident); !ok || id.Name != "_" {
			return false
		}
	}
	return true
}

func (e *enumerator) add(n ast.Node, vs []variant) {
	e.out = append(e.out, site{in: e.code, file: e.file, fn: e.fn,
		start: e.offset(n.Pos()), end: e.offset(n.End()), variants: vs})
}

func (e *enumerator) offset(p token.Pos) int { return e.tree.fset.Position(p).Offset }

func (e *enumerator) text(n ast.Node) string {
	return string(e.file.text[e.offset(n.Pos()):e.offset(n.End())])
}
