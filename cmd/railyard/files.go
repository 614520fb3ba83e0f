package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"railyard/internal/input"
	"railyard/internal/scenario"

	"golang.org/x/sys/unix"
)

// readBounded reads a file of at most max bytes, or a pipe; a larger one, a directory or
// a device is refused before it is read. The mark with which some editors begin a text
// is no part of it.
func readBounded(path string, max int64) ([]byte, error) {
	b, err := input.Text(path, max)
	return bytes.TrimPrefix(b, []byte("\ufeff")), err
}

// walkFiles visits the regular files of a folder and of those in it, in the order of their names; hidden ones
// are left out. A folder with more than most of them is an error.
func walkFiles(dir string, most int, visit func(path string) error) error {
	n := 0
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && path != dir:
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		if n++; n > most {
			return fmt.Errorf("%s holds more than %d files", dir, most)
		}
		return visit(path)
	})
}

// stdin is a scenario from standard input, which can be read once.
var stdin = sync.OnceValues(func() ([]byte, error) {
	return io.ReadAll(io.LimitReader(os.Stdin, scenario.MaxSize+1)) // Parse refuses one byte too many
})

func relativeTo(file, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(file), p)
}

// output is a file that appears under its name once it is whole: until then it has no name,
// so that nothing is left of a command that is killed, or, where the file system knows no
// such files, a hidden one beside it.
type output struct {
	*os.File
	path  string
	force bool
	bare  bool // it has no name yet
}

// create begins a file; an existing one is replaced with force only. A device or a pipe is
// written to as it is.
func create(path string, force bool) (*output, error) {
	st, err := os.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return nil, &inputError{fmt.Errorf("%s is a folder, expected the name of a file", path)}
	case err == nil && !force:
		return nil, &inputError{fmt.Errorf("%s exists; --force replaces it", path)}
	case err == nil && !st.Mode().IsRegular():
		return special(path)
	}
	if fd, err := unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC,
		0o644); err == nil {
		return &output{os.NewFile(uintptr(fd), path), path, force, true}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if errors.Is(err, fs.ErrNotExist) { // its own name would puzzle
		return nil, &inputError{fmt.Errorf("%s: there is no folder %s", path, filepath.Dir(path))}
	}
	if err != nil {
		return nil, &inputError{err}
	}
	return &output{f, path, force, false}, nil
}

// special opens a device, or a pipe that somebody reads: without a reader it would be
// waited for.
func special(path string) (*output, error) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENXIO) {
		return nil, &inputError{fmt.Errorf("%s is a pipe that nobody reads", path)}
	}
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err != nil {
		return nil, &inputError{fmt.Errorf("%s: %w", path, err)}
	}
	return &output{File: os.NewFile(uintptr(fd), path)}, nil
}

// keep gives a whole file its name; without force a file that has come meanwhile stays.
func (o *output) keep() error {
	if o.path == "" {
		return o.Close()
	}
	hidden, err := o.Name(), error(nil)
	if !o.bare {
		err = o.Chmod(0o644)
	} else { // a link cannot replace a file, a rename can
		hidden = filepath.Join(filepath.Dir(o.path), fmt.Sprintf(".%s-%d", filepath.Base(o.path),
			os.Getpid()))
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", o.Fd()), unix.AT_FDCWD, hidden,
			unix.AT_SYMLINK_FOLLOW)
	}
	err = errors.Join(err, o.Close())
	if err == nil && o.force {
		err = os.Rename(hidden, o.path)
	} else if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, hidden, unix.AT_FDCWD, o.path, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // this file system cannot
			err = os.Rename(hidden, o.path)
		}
	}
	if err != nil {
		os.Remove(hidden)
		return fmt.Errorf("%s: %w", o.path, err)
	}
	return nil
}

// drop gives a file up that is not whole.
func (o *output) drop() {
	o.Close()
	if o.path != "" && !o.bare {
		os.Remove(o.Name())
	}
}

// writeOut writes a file whole, or leaves none.
func writeOut(path string, force bool, write func(io.Writer) error) error {
	f, err := create(path, force)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		f.drop()
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.keep()
}

// writeBytes writes a file whole, or leaves none.
func writeBytes(path string, force bool, b []byte) error {
	return writeOut(path, force, func(w io.Writer) error { _, err := w.Write(b); return err })
}
