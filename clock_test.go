package railyard

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestClock separates tests that wait for something real: sockets, programs, a clock. They are called TestReal… and
// lie in files *_real_test.go, which CI runs alone and may run again. All others give equal results under any load
// on the host, because they read no clock other than testing/synctest's. No test listens at a port that another
// checkout's test may use.
func TestClock(t *testing.T) {
	for _, file := range testFiles(t) {
		wrong, err := breaches(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range wrong {
			t.Error(w)
		}
	}
}

// testFiles returns the module's test files.
func testFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "runs", "testdata"}, name):
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go") && !d.IsDir():
			files = append(files, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// clocks are, by import path, the functions that wait for the wall clock or read it.
var clocks = map[string][]string{
	"time": {"Now", "Sleep", "After", "Since", "Until", "Tick", "NewTimer", "NewTicker", "AfterFunc"},
	"context": {"WithTimeout", "WithDeadline", "WithTimeoutCause",
		"WithDeadlineCause"},
}

// deadlines are methods of connections that set a wall-clock deadline.
var deadlines = []string{"SetDeadline", "SetReadDeadline", "SetWriteDeadline"}

// breaches returns the violations of TestClock's rules in a test file, each with its position. src is its text, or
// nil.
func breaches(file string, src any) (wrong []string, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	say := func(at token.Pos, format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%v: ", set.Position(at))+fmt.Sprintf(format, args...))
	}
	paths := importsOf(f)
	apart := strings.HasSuffix(file, "_real_test.go")
	waits := apart || slices.Contains(slices.Collect(maps.Values(paths)), "testing/synctest")
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			of := ""
			if x, ok := n.X.(*ast.Ident); ok {
				of = paths[x.Name]
			}
			switch {
			case waits:
			case slices.Contains(clocks[of], n.Sel.Name):
				say(n.Pos(), "%s.%s outside *_real_test.go and testing/synctest", of, n.Sel.Name)
			case slices.Contains(deadlines, n.Sel.Name):
				say(n.Pos(), "%s outside *_real_test.go and testing/synctest", n.Sel.Name)
			}
		case *ast.FuncDecl:
			switch name := n.Name.Name; {
			case n.Recv != nil || !strings.HasPrefix(name, "Test") || name == "TestMain":
			case strings.HasPrefix(name, "TestReal") != apart:
				say(n.Pos(), "%s: tests called TestReal… lie in files *_real_test.go, and no others", name)
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && listens.MatchString(s.Sel.Name) {
				fixedPorts(n.Args, say)
			}
			portFlags(n.Args, say)
		case *ast.CompositeLit:
			portFlags(n.Elts, say)
		case *ast.BasicLit:
			if m := portFlag.FindStringSubmatch(text(n)); m != nil && isPort(m[1]) {
				say(n.Pos(), "%q is a port that another test may have: 0 takes a free one", m[0])
			}
		}
		return true
	})
	return wrong, nil
}

// importsOf returns the import paths of a file by the names that it gives them.
func importsOf(f *ast.File) map[string]string {
	paths := map[string]string{}
	for _, i := range f.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		paths[name] = path
	}
	return paths
}

var (
	listens  = regexp.MustCompile(`^(Listen|ListenPacket|ListenTCP|ListenUDP|ListenAndServe|ListenConfig)$`)
	address  = regexp.MustCompile(`:(\d+)$`)
	portFlag = regexp.MustCompile(`--(?:port|listen)[ =](?:\S*:)?(\d+)\b`)
)

// fixedPorts reports ports in the arguments of a function that listens: in addresses, numbers, and Port: N.
func fixedPorts(args []ast.Expr, say func(token.Pos, string, ...any)) {
	for _, a := range args {
		ast.Inspect(a, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok {
				m := address.FindStringSubmatch(text(l))
				if m != nil && isPort(m[1]) || l.Kind == token.INT && isPort(l.Value) {
					say(l.Pos(), "%s is a port that another test may have: 0 takes a free one", l.Value)
				}
			}
			return true
		})
	}
}

// portFlags reports a flag --port or --listen in a list of arguments that is followed by a port.
func portFlags(list []ast.Expr, say func(token.Pos, string, ...any)) {
	for i := 1; i < len(list); i++ {
		flag, _ := list[i-1].(*ast.BasicLit)
		value, _ := list[i].(*ast.BasicLit)
		if flag == nil || value == nil || text(flag) != "--port" && text(flag) != "--listen" {
			continue
		}
		port := text(value)
		if isPort(port[strings.LastIndexByte(port, ':')+1:]) {
			say(value.Pos(), "%s %s is a port that another test may have: 0 takes a free one", text(flag),
				port)
		}
	}
}

// text returns the value of a literal, "" if it is no string.
func text(l *ast.BasicLit) string {
	s, err := strconv.Unquote(l.Value)
	if err != nil || l.Kind != token.STRING {
		return ""
	}
	return s
}

// isPort reports whether a text is a port at which a program can listen, other than 0.
func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0
}

// TestClockSees shows that the rules find exactly what they forbid. § stands for the two signs of a flag, which
// must not be found here.
func TestClockSees(t *testing.T) {
	for _, c := range []struct{ file, imports, body, want string }{
		{"a_test.go", `"time"`, `func TestA(*testing.T) { time.Sleep(1) }`,
			"a_test.go:2:26: time.Sleep outside"},
		{"a_test.go", `clock "time"`, `var now = clock.Now`, "time.Now outside"},
		{"a_test.go", `"context"`, `func f() { context.WithTimeoutCause(nil, 1, nil) }`,
			"context.WithTimeoutCause outside"},
		{"a_test.go", `"net"`, `func f(c net.Conn) { c.SetReadDeadline(nil) }`, "SetReadDeadline outside"},
		{"a_test.go", `"time"`, `var d, t = 3 * time.Second, x.After(y)`, ""},
		{"a_test.go", `"time"; "testing/synctest"`, `func TestA(*testing.T) { time.Sleep(1) }`, ""},
		{"a_real_test.go", `"time"`, `func TestRealA(*testing.T) { time.Sleep(1) }`, ""},
		{"a_real_test.go", ``, `func TestA(*testing.T) {}`, "TestA: tests called TestReal…"},
		{"a_test.go", ``, `func TestRealA(*testing.T) {}`, "TestRealA: tests called TestReal…"},
		{"a_real_test.go", ``, `func TestMain(*testing.M) {}`, ""},
		{"a_test.go", `"net"`, `var l, e = net.Listen("tcp", "127.0.0.1:80")`, `"127.0.0.1:80" is a port`},
		{"a_test.go", `"net"`, `var l, e = net.ListenPacket("udp", "[::1]:0")`, ""},
		{"a_test.go", `"net"`, `var l, e = net.ListenUDP("udp", &net.UDPAddr{Port: 4791})`, "4791 is a port"},
		{"a_test.go", ``, `var e = server.Listen(18515)`, "18515 is a port"},
		{"a_test.go", ``, `var c = run("serve", "§port", "9000")`, "§port 9000 is a port"},
		{"a_test.go", ``, `var c = []string{"serve", "§listen", "0.0.0.0:9000"}`, "§listen 0.0.0.0:9000 is"},
		{"a_test.go", ``, `var c = run("serve §port=9000 runs")`, `=9000" is a port`},
		{"a_test.go", ``, `var c = run("serve", "--port", "0", "--port 99999", "ratio 1:2")`, ""},
	} {
		wrong, err := breaches(c.file, "package a; import ("+c.imports+")\n"+
			strings.ReplaceAll(c.body, "§", "--"))
		got := strings.ReplaceAll(strings.Join(wrong, "\n"), "--", "§")
		if err != nil || (got == "") != (c.want == "") || !strings.Contains(got, c.want) || len(wrong) > 1 {
			t.Errorf("%s: %v, %q, want %q", c.body, err, got, c.want)
		}
	}
}
