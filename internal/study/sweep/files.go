package sweep

import (
	"fmt"
	"slices"
	"sync"

	"railyard/internal/scenario"
	"railyard/internal/scenariofile"
)

// files are the files that a scenario names, each read once.
type files struct {
	from scenario.ReadFile

	mu    sync.Mutex
	held  map[string]*held
	asked map[string]bool // during a call of during
}

// held is a file's contents, or its read error.
type held struct {
	text []byte
	err  error
}

func newFiles(scenario string) *files {
	return &files{from: scenariofile.Beside(scenario), held: map[string]*held{}}
}

// read is a scenario.ReadFile. The result is shared and must not be changed.
func (f *files) read(name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked != nil {
		f.asked[name] = true
	}
	h := f.held[name]
	if h == nil {
		h = &held{}
		h.text, h.err = f.from(name)
		f.held[name] = h
	}
	return h.text, h.err
}

// during returns the names of the files that are read while do runs.
func (f *files) during(do func()) (names []string) {
	f.asked = map[string]bool{}
	do()
	for name := range f.asked {
		names = append(names, name)
	}
	f.asked = nil
	slices.Sort(names)
	return names
}

// texts returns the contents of the files, and the errors of others.
func (f *files) texts() (read map[string][]byte, absent map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	read, absent = map[string][]byte{}, map[string]string{}
	for name, h := range f.held {
		if h.err == nil {
			read[name] = h.text
		} else {
			absent[name] = h.err.Error()
		}
	}
	return read, absent
}

// digest addresses a file's content, or why it has none.
func (f *files) digest(name string) string {
	text, err := f.read(name)
	if err != nil {
		return "error " + err.Error()
	}
	return fmt.Sprintf("%x", digest(string(text)))
}
