package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// journal stores results, a line of JSON each, so that an interrupted run resumes.
type journal struct {
	dir     string
	mu      sync.Mutex
	file    *os.File
	Units   map[string]baseline
	Results map[int]result
}

// entry is one line.
type entry struct {
	Unit     string    `json:"unit,omitempty"`
	Baseline *baseline `json:"baseline,omitempty"`
	Result   *result   `json:"result,omitempty"`
}

// open opens the journal of a seed, count and state of the code below dir, and removes journals of other states.
func open(dir, name, state string) (*journal, error) {
	others, err := filepath.Glob(filepath.Join(dir, name+"-*"))
	if err != nil {
		return nil, err
	}
	j := &journal{dir: filepath.Join(dir, name+"-"+state),
		Units: map[string]baseline{}, Results: map[int]result{}}
	for _, o := range others {
		if o != j.dir {
			if err := os.RemoveAll(o); err != nil {
				return nil, err
			}
		}
	}
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return nil, err
	}
	j.file, err = os.OpenFile(filepath.Join(j.dir, "journal.jsonl"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	s := bufio.NewScanner(j.file)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var e entry
		if json.Unmarshal(s.Bytes(), &e) != nil {
			continue // truncated in the middle of a line
		}
		if e.Baseline != nil {
			j.Units[e.Unit] = *e.Baseline
		}
		if e.Result != nil {
			j.Results[e.Result.Number] = *e.Result
		}
	}
	return j, s.Err()
}

// add appends an entry, on a line of its own even after a truncated one.
func (j *journal) add(e entry) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Baseline != nil {
		j.Units[e.Unit] = *e.Baseline
	}
	if e.Result != nil {
		j.Results[e.Result.Number] = *e.Result
	}
	_, err = j.file.Write(append(append([]byte("\n"), b...), '\n'))
	return err
}

// finish removes the binaries, which are large and quickly made anew; the journal stays.
func (j *journal) finish() error {
	err := j.file.Close()
	if e := os.RemoveAll(filepath.Join(j.dir, "bin")); err == nil {
		err = e
	}
	return err
}

// unread are folders with nothing that tests read.
var unread = []string{"node_modules", "runs", "rapid"}

// state is a hash of all that a run depends on: code, tests and what tests read.
func state(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != dir && (strings.HasPrefix(name, ".") || slices.Contains(unread, name)) {
				return fs.SkipDir
			}
			return nil
		}
		in := filepath.ToSlash(path)
		if !strings.HasSuffix(name, ".go") && name != "go.mod" && !strings.Contains(in, "/testdata/") &&
			!strings.Contains(in, "/scenarios/") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s %d\n", strings.TrimPrefix(path, dir), len(b))
		h.Write(bytes.TrimSpace(b))
		return nil
	})
	return fmt.Sprintf("%x", h.Sum(nil)[:6]), err
}
