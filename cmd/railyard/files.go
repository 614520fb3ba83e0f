package main

import (
	"fmt"
	"os"
	"path/filepath"

	"railyard/internal/input"
)

// readBounded reads a file of at most max bytes; a larger one, a directory, a pipe or
// a device is refused before it is read.
func readBounded(path string, max int64) ([]byte, error) { return input.Read(path, max) }

func relativeTo(file, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(file), p)
}

// createNew creates a file; an existing one is replaced with force only.
func createNew(path string, force bool) (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if force {
		flags = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if os.IsExist(err) {
		err = fmt.Errorf("%s exists; --force replaces it", path)
	}
	if err != nil {
		return nil, &inputError{err}
	}
	return f, nil
}
