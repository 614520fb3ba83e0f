package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"railyard/internal/input"

	"golang.org/x/sys/unix"
)

// Journal is a file of JSON lines that an interrupted study goes on from, held by one process at a time.
type Journal struct{ file *os.File }

// maxJournal bounds what is read back.
const maxJournal = 1 << 30

// OpenJournal opens the journal at a path, with its folder. resume is given what an earlier study has left there,
// unless anew, and returns how much of it is sound; the rest is cut off. It is not called when there is nothing.
func OpenJournal(path string, anew bool, resume func(text []byte) (sound int, err error)) (j *Journal, sound int,
	err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, 0, input.Fault(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, 0, input.Fault(err)
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, 0, input.Fault(fmt.Errorf("another search is at work in %s; choose another --out",
			filepath.Dir(path)))
	}
	if !anew {
		text, err := input.Text(path, maxJournal)
		if err != nil {
			return nil, 0, input.Fault(err)
		}
		if len(text) > 0 {
			if sound, err = resume(text); err != nil {
				return nil, 0, input.Fault(fmt.Errorf("%s cannot be resumed: %w; another --out, or --force to begin anew", path, err))
			}
		}
	}
	if err := f.Truncate(int64(sound)); err != nil {
		return nil, 0, err
	}
	if _, err := f.Seek(int64(sound), 0); err != nil {
		return nil, 0, err
	}
	return &Journal{f}, sound, nil
}

// Add appends a value as one line.
func (j *Journal) Add(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = j.file.Write(append(b, '\n'))
	}
	return err
}

// Close gives the journal up to others.
func (j *Journal) Close() error { return j.file.Close() }
