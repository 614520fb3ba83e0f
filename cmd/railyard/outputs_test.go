package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"railyard/internal/allreduce"
	"railyard/internal/cabling"
	"railyard/internal/calibrate/fitting"
	"railyard/internal/capture"
	"railyard/internal/cause"
	"railyard/internal/configuration"
	"railyard/internal/dcbx"
	"railyard/internal/diagnose"
	"railyard/internal/importing"
	"railyard/internal/lab"
	labload "railyard/internal/lab/load"
	"railyard/internal/planner"
	"railyard/internal/query"
	"railyard/internal/reference"
	"railyard/internal/report/usage"
	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sheet"
	"railyard/internal/study/collectives"
	"railyard/internal/study/days"
	"railyard/internal/study/failures"
	"railyard/internal/study/interference"
	"railyard/internal/study/load"
	"railyard/internal/study/sweep"
	"railyard/internal/submission"
	"railyard/internal/swconf"
	"railyard/internal/swconf/onto"
	"railyard/internal/topo"
	"railyard/internal/validate"

	"github.com/alecthomas/kong"
	generator "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// printed is a type that a command prints with --json, and the flags for that; none for the usual output.
type printed struct {
	with string
	what reflect.Type
}

// prints returns the one output of a command.
func prints[T any]() []printed { return []printed{{"", reflect.TypeFor[T]()}} }

// also adds an output with flags.
func also[T any](list []printed, with string) []printed {
	return append(list, printed{with, reflect.TypeFor[T]()})
}

var topoOutputs = also[[]topo.Domain](also[[]*scenario.Interior](also[[]*topo.PortMap](also[cabling.Difference](
	prints[inventory](), "--against"), "--ports"), "--server"), "--failures")

// outputTypes are the Go types of outputs that commands print with --json.
var outputTypes = map[string][]printed{
	"bench":             prints[benchResult](),
	"calibrate":         prints[fitting.Report](),
	"check":             prints[checkResult](),
	"compare":           prints[map[string][]compareRun](),
	"config dcbx":       prints[[]dcbx.Row](),
	"config lint":       also[ruleEntry](also[[]ruleEntry](prints[[]swconf.Finding](), "--rules"), "--rules RULE"),
	"config render":     also[[]onto.Merge](also[onto.Merge](prints[[]string](), "--onto FILE"), "--onto DIR"),
	"config rules":      also[ruleEntry](prints[[]ruleEntry](), "RULE"),
	"config show":       prints[[]configuration.Shown](),
	"config tune":       prints[tuneResult](),
	"diagnose":          prints[diagnose.Report](),
	"explain":           prints[explainResult](),
	"export":            prints[exported](),
	"import":            prints[importing.Result](),
	"lab compare":       prints[[]labload.Variant](),
	"lab down":          prints[labDownResult](),
	"lab fail":          prints[labFailResult](),
	"lab link":          prints[labLinkResult](),
	"lab loss":          prints[labLossResult](),
	"lab run":           prints[[]labload.Move](),
	"lab status":        prints[[]lab.NodeStatus](),
	"lab up":            prints[lab.State](),
	"models":            also[sheet.Sheet](prints[[]sheet.Shelf](), "MODEL"),
	"pcap":              prints[capture.Story](),
	"plan circuits":     also[planner.CubeCircuits](prints[planner.Circuits](), "--cubes"),
	"plan collective":   prints[[]collectives.Row](),
	"plan fabric":       also[checkedDesigns](prints[[]planner.Design](), "--check"),
	"plan failures":     prints[[]*failures.Variant](),
	"plan fit":          prints[planner.Adjusted](),
	"plan goodput":      prints[days.Report](),
	"plan interference": prints[interference.Result](),
	"plan load":         prints[[]load.Curve](),
	"plan memory":       also[copyResult](prints[memoryResult](), "--states"),
	"plan score":        also[comparedScores](also[measuredScores](prints[planner.Scored](), "--measured"), "--against"),
	"plan search":       prints[searchResult](),
	"plan size":         also[map[string][]planner.TableRow](prints[planner.Size](), "--table"),
	"plan traffic":      prints[planner.TrafficSums](),
	"query":             also[[]query.Table](prints[[]map[string]any](), "no query"),
	"rdma allreduce":    prints[[]allreduce.Row](),
	"rdma bench":        prints[rdmaBenchResult](),
	"rdma perf lat":     prints[transferResult](),
	"rdma perf read":    prints[transferResult](),
	"rdma perf send":    prints[transferResult](),
	"rdma perf write":   prints[transferResult](),
	"rdma serve":        prints[serveResult](),
	"report":            also[result.Followed](prints[result.Summary](), "--flow"),
	"run":               prints[result.Summary](),
	"submit":            also[submission.Report](prints[submitted](), "--dry-run"),
	"sweep merge":       prints[sweep.Report](),
	"sweep run":         also[sweep.Estimate](prints[sweep.Report](), "--estimate"),
	"sweep show":        prints[sweep.Report](),
	"topo":              topoOutputs,
	"validate": also[publishedResult](also[uetResult](also[validate.BlameReport](
		prints[[]validate.Row](), "blame --random"), "uet --random"), "published"),
	"version": prints[versionResult](),
	"why":     prints[whyResult](),
}

// The schemas of --json outputs follow from the Go types, and every command with the flag has one. -rewrite writes
// them; a field that is removed or changes its type breaks scripts.
func TestOutputs(t *testing.T) {
	p, release := newParser()
	defer release()
	for _, n := range p.kong.Model.Leaves(false) {
		has := slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "json" })
		if _, ok := outputTypes[n.Path()]; ok != has {
			t.Errorf("%s: --json %v, output type %v", n.Path(), has, ok)
		}
	}
	b, err := json.MarshalIndent(schemasOf(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	made := append(b, '\n')
	now, err := reference.ReadOutputs(made)
	if err != nil {
		t.Fatal(err)
	}
	before, err := reference.ReadOutputs(outputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range broken(before, now) {
		t.Log(l)
	}
	if *rewrite {
		if err := os.WriteFile("outputs.json", made, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(made, outputs) {
		t.Error("outputs.json differs from the types (-rewrite writes it anew; the lines above break scripts)")
	}
}

// broken lists the fields used by scripts that were removed or have another type.
func broken(before, now *reference.Outputs) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(before.Commands)) {
		is := map[string]string{}
		for _, f := range now.Fields(name) {
			is[f.Path] = f.Type
		}
		for _, f := range before.Fields(name) {
			switch word := is[f.Path]; word {
			case "":
				lines = append(lines, name+": field removed: "+f.Path)
			case f.Type:
			default:
				lines = append(lines, name+": field "+f.Path+" was "+f.Type+", is "+word)
			}
		}
	}
	return lines
}

// unions are the types that an interface stands for.
var unions = map[reflect.Type][]printed{
	reflect.TypeFor[compareRun](): {{"run", reflect.TypeFor[result.Summary]()}, {"failed", reflect.TypeFor[failedRun]()},
		{"unfit", reflect.TypeFor[unfitVariant]()}},
	reflect.TypeFor[importing.Result](): {{"scenario", reflect.TypeFor[importing.Imported]()},
		{"server", reflect.TypeFor[importing.Server]()}, {"graphs", reflect.TypeFor[importing.Graphs]()}},
}

// schemasOf makes the schemas from the types and the comments in their sources.
func schemasOf(t *testing.T) *reference.Outputs {
	all := &reference.Outputs{Commands: map[string]*reference.Output{}, Defs: map[string]*reference.Output{}}
	r := generator.Reflector{Anonymous: true, Mapper: special}
	named := map[string]reflect.Type{}
	r.Namer = func(of reflect.Type) string {
		if of.Name() == "" {
			return "" // defined where it is used
		}
		named[defined(of)] = of
		return defined(of)
	}
	reflectAll := func() {
		for name, list := range outputTypes {
			var of []*reference.Output
			for _, x := range list {
				of = append(of, reflected(t, &r, x, all.Defs))
			}
			if all.Commands[name] = of[0]; len(of) > 1 {
				all.Commands[name] = &reference.Output{AnyOf: of}
			}
		}
		for of, list := range unions {
			u := &reference.Output{}
			for _, one := range list {
				u.AnyOf = append(u.AnyOf, reflected(t, &r, one, all.Defs))
			}
			all.Defs[defined(of)] = u
		}
	}
	reflectAll() // finds the packages
	t.Chdir("../..")
	packages := map[string]bool{}
	for _, of := range named {
		if dir, ok := strings.CutPrefix(of.PkgPath(), "railyard/"); ok && !packages[dir] {
			packages[dir] = true
			if err := r.AddGoComments("railyard", dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	reflectAll()
	t.Chdir("cmd/railyard")
	for name, of := range named {
		if d := all.Defs[name]; d != nil && of.Kind() == reflect.Struct {
			d.Required = slices.DeleteFunc(d.Required, func(key string) bool { return maybe(of, key) })
		}
	}
	return all
}

// defined returns the name of a type's definition.
func defined(of reflect.Type) string {
	from := strings.TrimPrefix(strings.TrimPrefix(of.PkgPath(), "railyard/"), "internal/")
	return strings.ReplaceAll(from, "/", ".") + "." + of.Name()
}

// maybe reports whether a key of a struct belongs to an embedded pointer, which may be nil.
func maybe(of reflect.Type, key string) bool {
	for i := range of.NumField() {
		if f := of.Field(i); f.Anonymous && f.Type.Kind() == reflect.Pointer {
			for j := range f.Type.Elem().NumField() {
				if name, _, _ := strings.Cut(f.Type.Elem().Field(j).Tag.Get("json"), ","); name == key {
					return true
				}
			}
		}
	}
	return false
}

// reflected returns the schema of an output, and adds the definitions to which it refers.
func reflected(t *testing.T, r *generator.Reflector, x printed, defs map[string]*reference.Output) *reference.Output {
	b, err := json.Marshal(r.ReflectFromType(x.what))
	if err != nil {
		t.Fatal(err)
	}
	var s reference.Output
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	maps.Copy(defs, s.Defs)
	s.Defs, s.Version, s.Title = nil, "", x.with
	return &s
}

// special returns the schemas of types with their own encoding, and of interfaces.
func special(of reflect.Type) *generator.Schema {
	if unions[of] != nil {
		return &generator.Schema{Ref: "#/$defs/" + defined(of)}
	}
	switch of {
	case reflect.TypeFor[cause.Account]():
		return &generator.Schema{Type: "object", Description: "picoseconds of each cause; causes without any are absent",
			AdditionalProperties: &generator.Schema{Type: "integer"}}
	}
	if of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return &generator.Schema{Type: "string"}
	}
	if of.Implements(reflect.TypeFor[json.Marshaler]()) {
		panic(of.String() + " writes itself: special needs its schema")
	}
	return nil
}

var validators sync.Map // validators by command

// checkOutput validates a command's --json output against its schema, by a library.
func checkOutput(t *testing.T, args []string, out string) {
	t.Helper()
	if !slices.Contains(args, "--json") {
		return
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
	if err != nil {
		return // an error message, or truncated output
	}
	p, release := parserAgain()
	defer release()
	ctx, _, err := usage.Parse(p.kong, args, printHelp)
	if err != nil || ctx.Selected() == nil {
		return
	}
	name := ctx.Selected().Path()
	if outputTypes[name] == nil {
		return // the flag is that of a command inside the lab
	}
	of, ok := validators.Load(name)
	if !ok {
		of, _ = validators.LoadOrStore(name, validator(t, name))
	}
	if err := of.(*jsonschema.Schema).Validate(v); err != nil {
		t.Errorf("railyard %s: output and schema differ: %v", strings.Join(args, " "), err)
	}
}

// validator compiles the schema that railyard schema prints.
func validator(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	_, text, errs := call(t, append([]string{"schema"}, strings.Fields(name)...)...)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(name, err, errs)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("output.json", v); err != nil {
		t.Fatal(name, err)
	}
	s, err := c.Compile("output.json")
	if err != nil {
		t.Fatal(name, err)
	}
	return s
}

// A field that is removed or changes its type is named; an added one is not.
func TestOutputsBroken(t *testing.T) {
	read := func(text string) *reference.Outputs {
		o, err := reference.ReadOutputs([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	before := read(`{"properties": {"run": {"$ref": "#/$defs/S"}, "topo": {"type": "array", "items": {"$ref": "#/$defs/S"}}},
		"$defs": {"S": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"},
		"c": {"type": "string"}, "d": {"$ref": "#/$defs/S"}}, "required": ["a", "c"]}}}`)
	now := read(`{"properties": {"run": {"$ref": "#/$defs/S"}}, "$defs": {"S": {"type": "object", "properties":
		{"a": {"type": "number"}, "c": {"type": "string"}, "d": {"type": "object"}, "e": {"type": "string"}}}}}`)
	got := strings.Join(broken(before, now), "\n")
	if want := `run: field a was whole number, is number, optional
run: field removed: b
run: field c was text, is text, optional
topo: field removed: []
topo: field removed: [].a
topo: field removed: [].b
topo: field removed: [].c`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// railyard schema COMMAND prints the schema against which a command's output is checked, or the nearest names.
func TestSchemaOfOutput(t *testing.T) {
	for args, want := range map[string]string{
		"schema sweep":      `"title": "Output of railyard sweep run --json"`,
		"schema plan size":  `"title": "Output of railyard plan size --json"`,
		"schema plan sizes": `no command "plan sizes" with --json (did you mean "plan size"?)`,
		"schema docs":       `no command "docs" with --json`,
	} {
		if _, out, errs := call(t, strings.Fields(args)...); !strings.Contains(out+errs, want) {
			t.Errorf("%s: %.200s%s", args, out, errs)
		}
	}
}
