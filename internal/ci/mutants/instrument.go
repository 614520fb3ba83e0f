package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// liveSource is the package that mutated files import. RAILYARD_MUTANT is the number of the active mutant, or
// "trace:FILE": then no mutant is active, and the numbers of reached mutants are appended to the file.
const liveSource = `package live

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

var (
	active  = -1
	trace   *os.File
	reached [%d]atomic.Bool
)

func init() {
	v := os.Getenv("RAILYARD_MUTANT")
	if file, ok := strings.CutPrefix(v, "trace:"); ok {
		trace, _ = os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	} else if n, err := strconv.Atoi(v); err == nil {
		active = n
	}
}

func On(k int) bool { return k == active || trace != nil && note(k) }

func note(k int) bool {
	if !reached[k].Swap(true) {
		trace.WriteString(strconv.Itoa(k) + "\n")
	}
	return false
}
`

// switched returns a file with mutants in it, each controlled by a switch. Line numbers up to the first mutant of
// several lines stay unchanged.
func switched(s *source, mutants []*mutant) []byte {
	mutants = slices.Clone(mutants)
	slices.SortFunc(mutants, func(a, b *mutant) int { return b.site.start - a.site.start })
	text := slices.Clone(s.text)
	for _, m := range mutants {
		live := strings.ReplaceAll(m.live, on, liveName+".On("+strconv.Itoa(m.number)+")")
		text = slices.Concat(text[:m.site.start], []byte(live), text[m.site.end:])
	}
	module := mutants[0].site.in.tree.module
	clause := int(s.ast.Name.End() - s.ast.FileStart)
	return slices.Concat(text[:clause], []byte("; import "+liveName+" "+strconv.Quote(module+"/"+livePath)),
		text[clause:])
}

// overlay writes all mutated files into a folder and returns what go build -overlay reads.
func overlay(t *tree, mutants []*mutant, folder string) (string, error) {
	replace := map[string]string{}
	put := func(name string, text []byte) error {
		at := filepath.Join(folder, strings.ReplaceAll(name, "/", "_"))
		replace[filepath.Join(t.dir, filepath.FromSlash(name))] = at
		return os.WriteFile(at, text, 0o644)
	}
	of := map[*source][]*mutant{}
	for _, m := range mutants {
		of[m.site.file] = append(of[m.site.file], m)
	}
	for s, ms := range of {
		if err := put(s.name, switched(s, ms)); err != nil {
			return "", err
		}
	}
	if err := put(livePath+"/live.go", fmt.Appendf(nil, liveSource, len(mutants)+1)); err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, b, 0o644)
}

// build makes one binary from the tests of a package or from a command, unless it exists.
func build(t *tree, overlay, pkg string, tests bool, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	args := []string{"build"}
	if tests {
		args = []string{"test", "-c", "-vet=off"}
	}
	args = append(args, "-p", "2", "-overlay", overlay, "-o", to+".new", "./"+pkg)
	cmd := exec.Command("go", args...)
	cmd.Dir = t.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out.Bytes())
	}
	return os.Rename(to+".new", to)
}
