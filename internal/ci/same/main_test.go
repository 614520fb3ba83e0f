package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run differs in figures, keys, tables and files; not in wall time, versions and sentences.
func TestDifference(t *testing.T) {
	base := map[string]string{"summary.json": `{"step_time_ps": 5, "wall_seconds": 1.5, "version": "a",
		"lines": [{"name": "x", "says": "what slows it down"}]}`, "flows.parquet": "rows"}
	for _, c := range []struct {
		name, file, text, want string
	}{
		{"alike", "flows.parquet", "rows", ""},
		{"asides", "summary.json", `{"step_time_ps": 5, "wall_seconds": 2.5, "version": "b",
			"lines": [{"name": "x", "says": "what holds it up"}]}`, ""},
		{"figure", "summary.json", `{"step_time_ps": 6, "wall_seconds": 1.5, "version": "a",
			"lines": [{"name": "x", "says": "what slows it down"}]}`, "summary.json: .step_time_ps"},
		{"name", "summary.json", `{"step_time_ps": 5, "lines": [{"name": "y", "says": "what slows it down"}]}`,
			"summary.json: .lines[0].name"},
		{"key", "summary.json", `{"step_time_ps": 5, "lines": [{"name": "x"}]}`,
			"summary.json: .lines[0].says in one alone"},
		{"length", "summary.json", `{"step_time_ps": 5, "lines": []}`, "summary.json: .lines"},
		{"damaged", "summary.json", `{"step_time_ps"`, "summary.json: unexpected end"},
		{"table", "flows.parquet", "more rows", "flows.parquet: 4 and 9 bytes"},
		{"file", "links.parquet", "", "links.parquet: one build alone writes it"},
	} {
		var runs [2]string
		for i := range runs {
			runs[i] = filepath.Join(t.TempDir(), "run")
			if err := os.Mkdir(runs[i], 0o755); err != nil {
				t.Fatal(err)
			}
			for name, text := range base {
				if i == 1 && name == c.file {
					text = c.text
				}
				if err := os.WriteFile(filepath.Join(runs[i], name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, ok := base[c.file]; !ok {
			if err := os.WriteFile(filepath.Join(runs[1], c.file), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := difference(runs, [2]string{}); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if got := difference([2]string{}, [2]string{"", "no such key"}); !strings.Contains(got, "no such key") {
		t.Errorf("refused by one: %q", got)
	}
	if got := difference([2]string{}, [2]string{"no such key", "no such key"}); got != "" {
		t.Errorf("refused by both: %q", got)
	}
}

// Programs that write the same files are equal. A program that fails is reported.
func TestCompareAll(t *testing.T) {
	program := func(text string) string {
		path := filepath.Join(t.TempDir(), "railyard")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	writes := program("mkdir $4 && echo '{\"step_time_ps\": 2000000}' >$4/summary.json\n")
	longer := program("mkdir $4 && echo '{\"step_time_ps\": 3000000}' >$4/summary.json\n")
	fails := program("echo 'railyard: no' >&2; exit 2\n")
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		before, after string
		differ        int
	}{{writes, writes, 0}, {writes, longer, 2}, {writes, fails, 2}, {fails, fails, 0}} {
		if n, err := compareAll(c.before, c.after, []string{"a.yaml", "b.yaml"}); n != c.differ || err != nil {
			t.Errorf("%d: %d differ, %v", i, n, err)
		}
	}
	for _, none := range [][]string{nil, {"a"}} {
		if _, err := compareAll(writes, writes, none); err == nil {
			t.Errorf("%q: no scenario, no error", none)
		}
	}
}
