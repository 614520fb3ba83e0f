package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"railyard/internal/input"
)

// Kept is a journal of the results of trials by key, from which an interrupted study goes on. A nil *Kept keeps
// nothing.
type Kept struct {
	mu      sync.Mutex
	journal *Journal
	had     map[string]json.RawMessage
}

// Header is the first line of such a journal: the command, the version and a digest of all that determines the trials.
type Header struct {
	Command string `json:"command"`
	Version string `json:"version"`
	Of      string `json:"of"`
}

// keptLine is another line.
type keptLine struct {
	Trial  string          `json:"trial"`
	Result json.RawMessage `json:"result"`
}

// keptName is the file of such a journal.
const keptName = "simulations.jsonl"

// Keep opens the journal in a directory, which is new or has trials with the same header.
func Keep(dir string, h Header) (*Kept, error) {
	k := &Kept{had: map[string]json.RawMessage{}}
	path := filepath.Join(dir, keptName)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		if _, err := os.Stat(path); err != nil {
			return nil, input.Fault(fmt.Errorf("%s holds files but no study of railyard %s; choose another --study", dir, h.Command))
		}
	}
	j, err := openJournal(path, false, func(*os.File) (int64, error) {
		text, err := input.Text(path, maxJournal)
		if err != nil {
			return 0, err
		}
		sound, err := k.resume(h, text)
		if err != nil {
			err = fmt.Errorf("%s cannot be resumed: %w; accepted: another --study", dir, err)
		}
		return int64(sound), err
	})
	if k.journal = j; err == nil && j.size == 0 {
		err = j.Add(h)
	}
	return k, err
}

// resume reads the trials that are there and returns how much of the text is sound.
func (k *Kept) resume(h Header, text []byte) (sound int, err error) {
	for n := 0; ; n++ {
		line, _, whole := bytes.Cut(text[sound:], []byte("\n"))
		if !whole {
			return sound, nil
		}
		var had Header
		var r keptLine
		switch {
		case n == 0 && (json.Unmarshal(line, &had) != nil || had.Command == ""):
			return 0, fmt.Errorf("it is not a study of railyard %s", h.Command)
		case n == 0 && had.Command != h.Command:
			return 0, fmt.Errorf("it is a study of railyard %s, found railyard %s", had.Command, h.Command)
		case n == 0 && had != h:
			return 0, fmt.Errorf("it is a study of other scenarios, values or version")
		case n > 0:
			if err := json.Unmarshal(line, &r); err != nil || r.Trial == "" {
				return 0, fmt.Errorf("line %d is damaged", n+1)
			}
			k.had[r.Trial] = r.Result
		}
		sound += len(line) + 1
	}
}

// Get reads the result of a trial into v, and reports whether there is one.
func (k *Kept) Get(trial string, v any) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.had[trial]
	return ok && json.Unmarshal(b, v) == nil
}

// Put adds the result of a trial.
func (k *Kept) Put(trial string, v any) error {
	if k == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.journal.Add(keptLine{trial, b})
}

// Close gives the directory up to others.
func (k *Kept) Close() error {
	if k == nil {
		return nil
	}
	return k.journal.Close()
}
