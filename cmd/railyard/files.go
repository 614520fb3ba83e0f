package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// readBounded reads at most max bytes of a file; a larger one, a directory or a
// device is refused before it is read.
func readBounded(path string, max int64) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if st.Size() > max {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are read", path, st.Size(), max)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, max+1))
}

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
