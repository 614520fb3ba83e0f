// Command same runs shipped scenarios with two builds of railyard and compares their outputs: a change of structure or
// language changes no figure.
//
//	same OLD NEW [SCENARIO ...]    # two programs; all shipped scenarios unless some are named
//
// Every scenario is a line: the step's time by both, and which files differ in what. Of JSON, wall time, memory,
// versions, hashes and sentences (texts of several words) are ignored; tables are compared byte by byte. A scenario
// that one build alone refuses differs. Exit code 1 reports a difference.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// aside are the keys of JSON that may differ: host resources, and the build's identity.
var aside = []string{"wall_seconds", "sim_seconds", "peak_memory_bytes", "version", "contents", "contents_sha256"}

func main() {
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: same OLD NEW [SCENARIO ...]")
		os.Exit(2)
	}
	scenarios := flag.Args()[2:]
	if len(scenarios) == 0 {
		for _, of := range []string{"scenarios/*.yaml", "scenarios/clusters/*.yaml"} {
			found, _ := filepath.Glob(of) // the pattern is good
			scenarios = append(scenarios, found...)
		}
	}
	differ, err := compareAll(flag.Arg(0), flag.Arg(1), scenarios)
	if err != nil {
		fmt.Fprintln(os.Stderr, "same:", err)
		os.Exit(2)
	}
	fmt.Printf("%d of %d scenarios differ\n", differ, len(scenarios))
	if differ > 0 {
		os.Exit(1)
	}
}

// compareAll prints a line for each scenario and returns how many differ.
func compareAll(before, after string, scenarios []string) (differ int, err error) {
	if len(scenarios) == 0 {
		return 0, errors.New("no scenarios: run it in the checkout's root")
	}
	dir, err := os.MkdirTemp("", "same")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	for _, s := range scenarios {
		if _, err := os.Stat(s); err != nil {
			return 0, err // both would refuse it, and differ in nothing
		}
		var runs [2]string
		var refused [2]string
		for i, program := range []string{before, after} {
			runs[i] = filepath.Join(dir, fmt.Sprint(i))
			if err := os.RemoveAll(runs[i]); err != nil {
				return 0, err
			}
			cmd := exec.Command(program, "run", s, "--out", runs[i])
			var said bytes.Buffer
			cmd.Stderr = &said
			if err := cmd.Run(); err != nil {
				refused[i], _, _ = strings.Cut(strings.TrimSpace(said.String()), "\n")
			}
		}
		line := difference(runs, refused)
		if line != "" {
			differ++
		}
		fmt.Printf("%-45s %s\n", s, told(runs)+line)
	}
	return differ, nil
}

// difference describes the difference of two runs; "" if they are equal.
func difference(runs, refused [2]string) string {
	switch {
	case (refused[0] == "") != (refused[1] == ""):
		return fmt.Sprintf("one build refuses it: %q", refused[0]+refused[1])
	case refused[0] != "":
		return "" // both refuse it
	}
	var parts []string
	var files [2]map[string][]byte
	for i := range runs {
		files[i] = map[string][]byte{}
		err := filepath.WalkDir(runs[i], func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, _ := filepath.Rel(runs[i], path)
			files[i][name], err = os.ReadFile(path)
			return err
		})
		if err != nil {
			return err.Error()
		}
	}
	names := map[string]bool{}
	for i := range files {
		for name := range files[i] {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, inA := files[0][name]
		b, inB := files[1][name]
		switch {
		case !inA || !inB:
			parts = append(parts, name+": one build alone writes it")
		case bytes.Equal(a, b):
		case strings.HasSuffix(name, ".json"):
			if keys := differences(a, b); len(keys) > 0 {
				parts = append(parts, name+": "+some(keys))
			}
		default:
			parts = append(parts, fmt.Sprintf("%s: %d and %d bytes", name, len(a), len(b)))
		}
	}
	return strings.Join(parts, "; ")
}

// some are the first four of a list, and how many follow.
func some(list []string) string {
	if len(list) > 4 {
		return strings.Join(list[:4], ", ") + fmt.Sprintf(" and %d more", len(list)-4)
	}
	return strings.Join(list, ", ")
}

// differences are the positions of inadmissible differences between two JSON texts.
func differences(a, b []byte) (places []string) {
	var before, after any
	if err := errors.Join(json.Unmarshal(a, &before), json.Unmarshal(b, &after)); err != nil {
		return []string{err.Error()}
	}
	walk("", before, after, &places)
	return places
}

func walk(at string, a, b any, places *[]string) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(x)
		maps.Copy(keys, y)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			_, inX := x[k]
			_, inY := y[k]
			switch {
			case slices.Contains(aside, k):
			case inX != inY:
				*places = append(*places, at+"."+k+" in one alone")
			default:
				walk(at+"."+k, x[k], y[k], places)
			}
		}
		return
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			walk(fmt.Sprintf("%s[%d]", at, i), x[i], y[i], places)
		}
		return
	case string:
		if y, ok := b.(string); ok && sentence(x) && sentence(y) {
			return
		}
	}
	if !reflect.DeepEqual(a, b) {
		*places = append(*places, at)
	}
}

// sentence reports whether a text is prose: three words or more.
func sentence(s string) bool { return len(strings.Fields(s)) >= 3 }

// told describes both runs' step times.
func told(runs [2]string) string {
	var steps [2]float64
	for i, dir := range runs {
		var s struct {
			Step float64 `json:"step_time_ps"`
		}
		if b, err := os.ReadFile(filepath.Join(dir, "summary.json")); err != nil || json.Unmarshal(b, &s) != nil {
			return ""
		}
		steps[i] = s.Step / 1e6
	}
	if steps[0] == 0 {
		return ""
	}
	return fmt.Sprintf("%12.1f %12.1f us %+6.2f %%  ", steps[0], steps[1], 100*(steps[1]/steps[0]-1))
}
