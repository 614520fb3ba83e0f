// Package pasted produces the output of lint, diagnose and the plans for the web page, from texts instead of files.
// Texts are written into a temporary directory, so that the packages of the commands read them; nothing else is read.
// The caller resolves a scenario, and decides which files it may name.
package pasted

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"railyard/internal/field"
	"railyard/internal/input"
)

// Text is a pasted or dropped file. The name may have folders: before/leaf1.txt.
type Text struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Limits of pasted texts at a time.
const (
	maxTexts = 500
	maxName  = 200
)

// folder keeps texts on disk until it is closed.
type folder struct {
	dir   string
	paths []string // paths of texts, in order
}

// write creates a directory of texts.
func write(texts []Text) (f *folder, err error) {
	if len(texts) == 0 || len(texts) > maxTexts {
		return nil, input.Fault(fmt.Errorf("%d files; accepted: 1 to %d", len(texts), maxTexts))
	}
	dir, err := os.MkdirTemp("", "railyard-")
	if err != nil {
		return nil, err
	}
	f = &folder{dir: dir}
	if err := f.fill(texts); err != nil {
		f.close()
		return nil, f.plain(err)
	}
	return f, nil
}

// fill writes texts.
func (f *folder) fill(texts []Text) error {
	seen := map[string]bool{}
	for _, t := range texts {
		if !filepath.IsLocal(t.Name) || len(t.Name) > maxName || strings.ContainsAny(t.Name, "\\\x00") {
			return input.Fault(fmt.Errorf("%q is not the name of a file", t.Name))
		}
		path := filepath.Join(f.dir, filepath.Clean(t.Name))
		if seen[path] {
			return input.Fault(fmt.Errorf("%s is there twice", t.Name))
		}
		seen[path] = true
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(t.Text), 0o600); err != nil {
			return err
		}
		f.paths = append(f.paths, path)
	}
	return nil
}

// close removes the folder. What cannot be removed is the system's to remove: the folder is temporary.
func (f *folder) close() { _ = os.RemoveAll(f.dir) }

// name returns the original name of a text.
func (f *folder) name(s string) string {
	return strings.ReplaceAll(s, f.dir+string(filepath.Separator), "")
}

// names replaces the names in texts.
func (f *folder) names(all []string) []string {
	out := []string{}
	for _, s := range all {
		out = append(out, f.name(s))
	}
	return out
}

// plain returns an error with the texts' original names. It remains an input error.
func (f *folder) plain(err error) error {
	if err == nil {
		return nil
	}
	out := errors.New(f.name(err.Error()))
	if input.IsFault(err) || field.All(err) != nil {
		return input.Fault(out)
	}
	return out
}

// before returns the directory before of a path; "" if there is none.
func before(path string) string {
	for dir := filepath.Dir(path); len(dir) > 1; dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "before" {
			return dir
		}
	}
	return ""
}
