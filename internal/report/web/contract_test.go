package web

import (
	"encoding"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"railyard/internal/cause"
	"railyard/internal/pasted"
)

var rewrite = flag.Bool("rewrite", false, "write web/src/contract.ts anew")

// The page's types are those of contract.go and of the types that it names, with the fields' JSON names. The page's
// compiler finds what no longer fits.
func TestContract(t *testing.T) {
	const path = "../../../web/src/contract.ts"
	var g typescript
	for _, v := range []any{Info{}, Answer{}, Grid{}, Tiers{}, Lanes{}, PortView{}, QPView{}, Flows{}, Collectives{},
		Critical{}, Pauses{}, Ranks{}, Total{},
		Packets{}, Messages{}, Trace{}, Journeys{},
		Told{}, Entry{}, Simulation{}, Variant{}, About{}, Checked{}, Fault{},
		Many{}, StudyEntry{}, pasted.Read{}, pasted.MemoryForm{}, pasted.Memory{}, pasted.SearchForm{},
		pasted.FailuresForm{},
		pasted.Searched{}, pasted.Failed{}} {
		g.name(reflect.TypeOf(v))
	}
	want := "// Written by `go test ./internal/report/web -run Contract -rewrite` from contract.go. Do " +
		"not edit.\n" + g.out.String()
	if *rewrite {
		if err := os.WriteFile(filepath.FromSlash(path), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Error("web/src/contract.ts is not what the Go types say: go test ./internal/report/web -run " +
			"Contract -rewrite, then build the page")
	}
}

// typescript spells Go types out as interfaces, each once.
type typescript struct {
	out  strings.Builder
	done map[reflect.Type]bool
	used map[string]reflect.Type
}

func (g *typescript) name(t reflect.Type) string {
	if _, ok := reflect.Zero(t).Interface().(encoding.TextMarshaler); ok && t.Kind() != reflect.Struct {
		return "string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint,
		reflect.Uint8, reflect.Uint16, reflect.Uint32,
		reflect.Uint64, reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Array && t.Elem().Kind() != reflect.Struct {
			return "[" + strings.Repeat(g.name(t.Elem())+", ", t.Len()-1) + g.name(t.Elem()) + "]"
		}
		return g.name(t.Elem()) + "[]"
	case reflect.Map:
		return "Record<string, " + g.name(t.Elem()) + ">"
	case reflect.Pointer:
		return g.name(t.Elem())
	case reflect.Struct:
		switch t {
		case reflect.TypeOf(time.Time{}):
			return "string"
		case reflect.TypeOf(cause.Account{}): // its MarshalJSON
			return "Record<string, number>"
		}
		return g.declare(t)
	}
	panic(fmt.Sprintf("the page cannot read a %v", t))
}

// declare writes an interface after those that it names, and returns its name, prefixed by the package's if another
// type has the same name.
func (g *typescript) declare(t reflect.Type) string {
	if g.done == nil {
		g.done, g.used = map[reflect.Type]bool{}, map[string]reflect.Type{}
	}
	name := t.Name()
	if other := g.used[name]; other != nil && other != t {
		pkg, _, _ := strings.Cut(t.String(), ".")
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	if g.done[t] {
		return name
	}
	if other := g.used[name]; other != nil {
		panic(fmt.Sprintf("%v and %v have one name", t, other))
	}
	g.done[t], g.used[name] = true, t
	body := g.fields(t)
	fmt.Fprintf(&g.out, "\nexport interface %s {\n%s}\n", name, body)
	return name
}

func (g *typescript) fields(t reflect.Type) string {
	var b strings.Builder
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			b.WriteString(g.fields(f.Type))
			continue
		}
		tag, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || tag == "-" {
			continue
		}
		if tag == "" {
			panic(fmt.Sprintf("%v.%s has no JSON name", t, f.Name))
		}
		optional := ""
		if strings.Contains(rest, "omitempty") || f.Type.Kind() == reflect.Pointer {
			optional = "?"
		}
		fmt.Fprintf(&b, "  %s%s: %s;\n", tag, optional, g.name(f.Type))
	}
	return b.String()
}
