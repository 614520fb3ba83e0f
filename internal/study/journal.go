package study

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"railyard/internal/input"

	"golang.org/x/sys/unix"
)

// Journal is a file of JSON lines from which an interrupted study resumes, owned by one process at a time.
type Journal struct {
	file *os.File
	size int64 // size of its intact lines
}

// OpenLines opens the journal at a path, with its folder. It passes the lines of an earlier study with their
// positions to each, one after another, so the journal may be larger than memory. With anew there are none. An
// incomplete last line is removed.
func OpenLines(path string, anew bool, each func(at int64, line []byte) error) (*Journal, error) {
	return openJournal(path, anew, func(f *os.File) (int64, error) {
		sound, err := lines(f, each)
		if err != nil {
			return 0, resumed(path, err)
		}
		return sound, nil
	})
}

// ViewLines opens the journal at a path for reading alone, also while a process writes it.
func ViewLines(path string, each func(at int64, line []byte) error) (*Journal, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, input.Fault(err)
	}
	size, err := lines(f, each)
	if err != nil {
		f.Close()
		return nil, input.Fault(fmt.Errorf("%s: %w", path, err))
	}
	return &Journal{f, size}, nil
}

// lines reads complete lines and returns the end of the last one.
func lines(f *os.File, each func(at int64, line []byte) error) (at int64, err error) {
	r := bufio.NewReaderSize(f, 1<<20)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return at, err
		}
		if err := each(at, line[:len(line)-1]); err != nil {
			return at, fmt.Errorf("line %d: %w", n, err)
		}
		at += int64(len(line))
	}
}

// resumed describes why a journal cannot be continued.
func resumed(path string, err error) error {
	return fmt.Errorf("%s cannot be resumed: %w; another --out, or --force to begin anew", path, err)
}

// openJournal opens and locks a journal; read returns how much of it is sound.
func openJournal(path string, anew bool, read func(*os.File) (sound int64, err error)) (j *Journal, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, input.Fault(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, input.Fault(err)
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, input.Fault(fmt.Errorf("another process simulates the study in %s; accepted: another directory, or its end",
			filepath.Dir(path)))
	}
	sound := int64(0)
	if !anew {
		if sound, err = read(f); err != nil {
			return nil, input.Fault(err)
		}
	}
	if err := f.Truncate(sound); err != nil {
		return nil, err
	}
	if _, err := f.Seek(sound, io.SeekStart); err != nil {
		return nil, err
	}
	return &Journal{f, sound}, nil
}

// Add appends a value as one line.
func (j *Journal) Add(v any) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = j.Append(b)
	}
	return err
}

// Append appends a line and returns its offset. After an incomplete write, the journal is truncated to the line's
// start.
func (j *Journal) Append(line []byte) (at int64, err error) {
	at = j.size
	if _, err = j.file.WriteAt(append(line, '\n'), at); err != nil {
		_ = j.file.Truncate(at)
		return at, err
	}
	j.size += int64(len(line)) + 1
	return at, nil
}

// ReadAt reads the line of len(b) bytes that begins at a place.
func (j *Journal) ReadAt(b []byte, at int64) error {
	_, err := j.file.ReadAt(b, at)
	return err
}

// Sync flushes added lines to disk.
func (j *Journal) Sync() error { return j.file.Sync() }

// Close gives the journal up to others.
func (j *Journal) Close() error { return j.file.Close() }
