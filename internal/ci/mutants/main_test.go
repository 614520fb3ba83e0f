package main

import (
	"bytes"
	"context"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/internal/validate"
)

// tiny is the table of the module in testdata.
var tiny = []group{{"sum", []target{{"sum", []string{"use"}, nil}}}}

func loadTiny(t *testing.T) *code {
	dir, err := filepath.Abs("testdata/tiny")
	if err != nil {
		t.Fatal(err)
	}
	codes, err := load(dir, "tiny", []string{"sum"})
	if err != nil {
		t.Fatal(err)
	}
	return codes[0]
}

// TestSites compares all mutations of a small package with a list written by hand.
func TestSites(t *testing.T) {
	var got []string
	for _, s := range loadTiny(t).sites() {
		for _, v := range s.variants {
			got = append(got, s.fn+": "+v.what+": "+v.plain)
		}
	}
	want := []string{
		"Sum: 0 becomes 1: 1",
		"Sum: if negated: !(x > 2 && n < limit)", "Sum: && becomes ||: x > 2 || n < limit",
		"Sum: > becomes >=: (x >= 2)", "Sum: > becomes <=: (x <= 2)",
		"Sum: 2 becomes 3: 3", "Sum: 2 becomes 1: 1",
		"Sum: < becomes <=: (n <= limit)", "Sum: < becomes >=: (n >= limit)",
		"Sum: limit becomes limit + 1: (limit + 1)", "Sum: limit becomes limit - 1: (limit - 1)",
		"Sum: removed: ", "Sum: += becomes -=: total -= x", "Sum: removed: ", "Sum: ++ becomes --: n --",
		"Far: < becomes <=: x <= 4*1024", "Far: < becomes >=: x >= 4*1024", "Far: * becomes /: (4 / 1024)",
		"Far: 4 becomes 5: 5*1024", "Far: 4 becomes 3: 3*1024",
		"Far: 1024 becomes 2048: 4*2048", "Far: 1024 becomes 512: 4*512",
		"Far: early return removed: ", "Far: false becomes true: true", "Far: true becomes false: false",
		"Unused: removed: ", "Unused: 1 becomes 2: 2", "Unused: 1 becomes 0: 0",
		"Unused: true becomes false: false",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("mutations:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestSwitched checks that no mutant makes the compiler refuse a file, and that the other code is unchanged.
func TestSwitched(t *testing.T) {
	c := loadTiny(t)
	for i, s := range c.sites() {
		for _, v := range s.variants {
			m := &mutant{number: i + 1, site: s, variant: v}
			if _, err := c.check(s.file, m.apply(v.plain), &types.Info{}); err != nil {
				t.Errorf("%s %s: %v", s.fn, v.what, err)
			}
			text := switched(s.file, []*mutant{m})
			if _, err := c.check(s.file, text, &types.Info{}); err != nil {
				t.Errorf("%s %s, switched: %v", s.fn, v.what, err)
			}
			if n := strings.Count(string(text), fmt.Sprintf("mutants__live.On(%d)", i+1)); n != 1 {
				t.Errorf("%s %s has %d switches", s.fn, v.what, n)
			}
		}
	}
}

// TestDraw checks that the same seed draws the same mutants and another seed draws others. No two mutants share
// text.
func TestDraw(t *testing.T) {
	c := loadTiny(t)
	names := func(seed uint64) (out []string) {
		ms, _ := draw(tiny, map[string]*code{"sum": c}, seed, 8)
		for i, m := range ms {
			out = append(out, m.place()+m.what)
			for _, o := range ms[:i] {
				if o.site.start < m.site.end && m.site.start < o.site.end {
					t.Errorf("%s and %s overlap", o.diff(), m.diff())
				}
			}
		}
		return out
	}
	a, b, other := names(1), names(1), names(2)
	if len(a) != 8 || !slices.Equal(a, b) || slices.Equal(a, other) {
		t.Errorf("seed 1 drew %v, then %v; seed 2 drew %v", a, b, other)
	}
}

// TestDiff shows a mutation as lines before and after.
func TestDiff(t *testing.T) {
	for _, s := range loadTiny(t).sites() {
		if s.variants[0].what == "&& becomes ||" {
			m := &mutant{site: s, variant: s.variants[0]}
			want := "-\t\tif x > 2 && n < limit {\n+\t\tif x > 2 || n < limit {"
			if m.diff() != want || m.place() != "sum/sum.go:12" {
				t.Errorf("%s\n%s\nwant\n%s", m.place(), m.diff(), want)
			}
		}
	}
}

// TestRun mutates everything in a small module. Its own test detects some mutants, its importer's test others, and
// no test those at the limit. An interrupted run continues.
func TestRun(t *testing.T) {
	o := options{seed: 3, count: 9, least: 60, dir: "testdata/tiny", module: "tiny", journal: t.TempDir(),
		jobs: 1, limit: time.Minute}
	var out, progress bytes.Buffer
	enough, err := run(t.Context(), o, tiny, &out, &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	text := out.String()
	for _, want := range []string{"by sum TestSum (", "by use TestFar (", "SURVIVED, no test reaches it"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := lines[len(lines)-1]
	killed := strings.Count(text, ": killed by")
	want := fmt.Sprintf("%d of 9 mutants killed (%.1f %%), seed 3", killed, 100*float64(killed)/9)
	if last != want {
		t.Errorf("the last line is %q, want %q", last, want)
	}
	if enough != (float64(killed)/9 >= .6) {
		t.Errorf("%d of 9 are enough: %v", killed, enough)
	}
	// Without its last three lines and half of the one before, the journal lacks four results.
	files, _ := filepath.Glob(filepath.Join(o.journal, "*", "journal.jsonl"))
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	rows := bytes.Split(bytes.TrimSpace(b), []byte("\n\n"))
	cut := bytes.Join(rows[:len(rows)-3], []byte("\n\n"))
	if err := os.WriteFile(files[0], cut[:len(cut)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	progress.Reset()
	if _, err := run(t.Context(), o, tiny, &again, &progress); err != nil {
		t.Fatal(err)
	}
	if p := progress.String(); !strings.Contains(p, "the journal has 5 of 9") ||
		strings.Contains(p, "without mutants") {
		t.Errorf("the second run:\n%s", progress.String())
	}
	if end := again.String(); !strings.HasSuffix(strings.TrimSpace(end), last) {
		t.Errorf("the second run ends with %q", end)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestProcessIsBound checks that only a process that uses too much processor time is stopped.
func TestProcessIsBound(t *testing.T) {
	p := process{dir: ".", memory: 1 << 30, limit: time.Second}
	p.args = []string{"sh", "-c", "while :; do :; done"}
	if end, err := p.run(context.Background()); err != nil || end.ok || !end.ranOut {
		t.Errorf("a loop: %+v, %v", end, err)
	}
	p.args = []string{"sh", "-c", "echo here; exit 3"}
	if end, err := p.run(context.Background()); err != nil || end.ok || end.ranOut ||
		string(end.output) != "here\n" {
		t.Errorf("a failure: %+v, %v", end, err)
	}
	p.args = []string{"true"}
	if end, err := p.run(context.Background()); err != nil || !end.ok {
		t.Errorf("a success: %+v, %v", end, err)
	}
}

// TestTable checks that each importer in the table imports the package, itself or in its tests, and that the groups
// of validate exist.
func TestTable(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := list(root, "./...")
	if err != nil {
		t.Fatal(err)
	}
	imports, tests := map[string][]string{}, map[string][]string{}
	for _, p := range pkgs {
		imports[p.ImportPath] = p.Imports
		tests[p.ImportPath] = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	}
	uses := func(who, what string) bool { // by itself, or by the registry of protocols
		if what == "railyard/transport/window" && who == "railyard/internal/sim" {
			what = "railyard/srd"
		}
		const registry = "railyard/transport/protocols"
		return slices.Contains(tests[who], what) ||
			slices.Contains(tests[who], registry) && slices.Contains(imports[registry], what)
	}
	var checks []string
	for _, c := range validate.Checks() {
		checks = append(checks, c.Name)
	}
	for _, g := range table {
		for _, p := range g.packages {
			for _, i := range p.importers {
				if !uses("railyard/"+i, "railyard/"+p.path) {
					t.Errorf("%s does not import %s", i, p.path)
				}
			}
			for _, v := range p.validate {
				if !slices.Contains(checks, v) {
					t.Errorf("validate has no group %q", v)
				}
			}
		}
	}
}

// TestEquivalentsAreThere: an entry whose code has changed or gone is to be looked at again.
func TestEquivalentsAreThere(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, g := range table {
		for _, p := range g.packages {
			paths = append(paths, p.path)
		}
	}
	codes, err := load(root, "railyard", paths)
	if err != nil {
		t.Fatal(err)
	}
	found := map[*equivalent]bool{}
	for _, c := range codes {
		for _, s := range c.sites() {
			for _, v := range s.variants {
				found[(&mutant{site: s, variant: v}).equivalent()] = true
			}
		}
	}
	for i := range equivalents {
		if e := &equivalents[i]; !found[e] || e.why == "" {
			t.Errorf("%s %s has no %q in %q, or no reason stands beside it", e.file, e.fn, e.what, e.line)
		}
	}
}
