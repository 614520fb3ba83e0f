package scenario_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"railyard/internal/scenario"
)

// Short texts that took minutes or gigabytes in the YAML parser are rejected at once, at the position where they
// stop being a scenario. Thousands of flows, the largest realistic input, are still read.
func TestYAMLIsBoundedBeforeItIsParsed(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nested entries": {strings.Repeat("- ", 100_000) + "x",
			"x.yaml:1:65: nests deeper than 32 levels"},
		"nested keys": {staircase(600), "x.yaml:33:34: nests deeper than 32 levels"},
		"keys": {strings.Repeat("k: 1\n", 80_000),
			"x.yaml:2049:1: the mapping has more than 2048 keys"},
		"keys below": {"a:\n" + strings.Repeat("  k: 1\n", 80_000),
			"x.yaml:2050:3: the mapping has more than 2048 keys"},
		"quotes":              {strings.Repeat(`"`, 500_000), "x.yaml:1:"},
		"quotes in a list":    {"a: [" + strings.Repeat(`"",`, 160_000) + "]", "x.yaml:1:"},
		"single quotes":       {strings.Repeat("'", 500_000), "x.yaml:1:"},
		"documents":           {strings.Repeat("---\n", 150_000), "x.yaml:2:1: a second document begins"},
		"documents in a row":  {strings.Repeat("---", 150_000), "x.yaml:1:1: \"---"},
		"a document behind":   {good + "---\n" + good, "x.yaml:11:1: a second document begins"},
		"brackets":            {strings.Repeat("[", 500_000), "x.yaml:1:33: nests deeper"},
		"commas":              {"[" + strings.Repeat(",", 1_000_000) + "]", "words and signs"},
		"question marks":      {strings.Repeat("? ", 250_000), "x.yaml:1:1: directives and keys"},
		"colons":              {strings.Repeat("a: ", 150_000), "x.yaml:1:"},
		"tags":                {strings.Repeat("!a ", 150_000), "x.yaml:1:1: anchors, aliases and tags"},
		"anchors":             {strings.Repeat("&a ", 150_000), "x.yaml:1:1: anchors, aliases and tags"},
		"aliases":             {strings.Repeat("*a ", 150_000), "x.yaml:1:1: anchors, aliases and tags"},
		"directives":          {strings.Repeat("%a\n", 150_000), "x.yaml:1:1: directives and keys"},
		"a long line":         {"name: [" + strings.Repeat("a", 900_000), "x.yaml:1:"},
		"a long unknown key":  {strings.Repeat("a", 900_000) + ": 1", "x.yaml:1:1:"},
		"a long wrong value":  {"lb: " + strings.Repeat("a", 900_000), "x.yaml:1:5: \"aaaaaaa"},
		"a wrong value":       {"lb: " + strings.Repeat("a", 9000), "x.yaml:1:5: lb: unknown value \"aaaaaaa"},
		"a long wrong number": {"seed: " + strings.Repeat("1", 900_000), "x.yaml:1:7: \"11111"},
		"a wrong number":      {"seed: " + strings.Repeat("1", 9000), "x.yaml:1:7: seed: found"},
		"a long wrong rate": {"fabric: {host_link: {rate: " + strings.Repeat("1", 9000) + "}}",
			"x.yaml:1:28: fabric.host_link.rate:"},
		"an unknown key": {strings.Repeat("a", 9000) + ": 1", "x.yaml:1:1: aaaaa"},
		"entries without": {"a:\n" + strings.Repeat("-\n", 290_000),
			"x.yaml:1003:1: more than 1000 keys or entries have no value"},
		"keys without": {"a:\n" + strings.Repeat("- a:\n", 99_000),
			"x.yaml:1003:1: more than 1000 keys or entries have no value"},
		"flow keys without": {"a: [" + strings.Repeat("{a: },", 59_000) + "]",
			"x.yaml:1:6009: more than 1000 keys"},
		"comments": {strings.Repeat("#\n", 400_000), "x.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := spent()
			_, err := scenario.Parse("x.yaml", []byte(c.text), nil)
			took := spent() - began
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%.300v, want %q", err, c.want)
			}
			if n := len(err.Error()); n > 1000 || strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of %d bytes: %.300v", n, err)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 400 || took > 5*time.Second {
				t.Errorf("took %v of a processor and %d MB", took, mb)
			}
		})
	}
	lists := "a:\n" + strings.Repeat("- b:\n  - 1\n- c: # below\n    - 2\n-\n  d\n", 2000)
	if _, err := scenario.Parse("x.yaml", []byte(lists), nil); err == nil ||
		!strings.Contains(err.Error(), "unknown key") {
		t.Errorf("lists right below their keys: %.300v", err)
	}
	flow := "      - {from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1MB}\n"
	head, _, _ := strings.Cut(good, "    permutation")
	d, err := scenario.Parse("x.yaml", []byte(head+"    flows:\n"+strings.Repeat(flow, 17_000)), nil)
	if err != nil || len(d.File.Workload.Traffic.Flows) != 17_000 {
		t.Errorf("17,000 flows: %v", err)
	}
}

// A prefix added by editors of other systems is not part of the first key. A text of comments only is reported with
// what is missing.
func TestByteOrderMark(t *testing.T) {
	if _, err := scenario.Parse("x.yaml", []byte("\ufeff"+good), nil); err != nil {
		t.Error(err)
	}
	_, err := scenario.Parse("x.yaml", []byte("\ufeffnam: x\n"), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:1:1: nam: unknown key") {
		t.Error(err)
	}
	_, err = scenario.Parse("x.yaml", []byte("# soon\n"), nil)
	if err == nil || err.Error() != "x.yaml: holds no values, expected a scenario" {
		t.Error(err)
	}
}

// staircase is nested mappings.
func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// spent returns the processor time of this process. Unlike elapsed time it does not grow with other load on the
// host.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A scenario without a name is called as its file.
func TestNameOfFile(t *testing.T) {
	for name, want := range map[string]string{"": "pod", "name: mine\n": "mine"} {
		d, err := scenario.Parse("fabrics/pod.v2/pod.yaml", []byte(name+"fabric: {kind: rail}\n"), nil)
		if err != nil || d.File.Name != want {
			t.Errorf("%q: %q, %v", name, d.File.Name, err)
		}
	}
}
