// Package output writes files that appear under their names once they are complete: Write and WriteBytes, or Create for
// incremental writers. An existing file is replaced with force only, and Fits refuses paths before the work that they
// are for. Exchange swaps two directories in one step. Errors that the user can fix are marked by input.Fault.
package output

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"railyard/internal/input"

	"golang.org/x/sys/unix"
)

// File is a file that appears under its name once it is complete. Until then it has no name, so that a killed command
// leaves nothing; if the file system does not support that, it is a hidden file next to the target.
type File struct {
	*os.File
	path  string
	force bool
	bare  bool // whether the file has no name yet
}

// Create begins a file; an existing one is replaced with force only. A device or a pipe is
// written to as it is.
func Create(path string, force bool) (*File, error) {
	st, err := os.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return nil, input.Fault(fmt.Errorf("%s is a folder, expected the name of a file", path))
	case err == nil && !force:
		return nil, input.Fault(fmt.Errorf("%s exists; --force replaces it", path))
	case err == nil && !st.Mode().IsRegular():
		return special(path)
	}
	if fd, err := unnamed(filepath.Dir(path)); err == nil {
		return &File{os.NewFile(uintptr(fd), path), path, force, true}, nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if errors.Is(err, fs.ErrNotExist) { // the file's own name would confuse the user
		return nil, input.Fault(fmt.Errorf("%s: directory %s does not exist", path, filepath.Dir(path)))
	}
	if err != nil {
		return nil, input.Fault(err)
	}
	return &File{f, path, force, false}, nil
}

// special opens a device, or a pipe with a reader: without one the call would block.
func special(path string) (*File, error) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENXIO) {
		return nil, input.Fault(fmt.Errorf("%s is a pipe without a reader", path))
	}
	if err == nil {
		err = unix.SetNonblock(fd, false)
	}
	if err != nil {
		return nil, input.Fault(fmt.Errorf("%s: %w", path, err))
	}
	return &File{File: os.NewFile(uintptr(fd), path)}, nil
}

// Keep gives a complete file its name; without force a file created meanwhile remains.
func (o *File) Keep() error {
	if o.path == "" {
		return o.Close()
	}
	hidden, err := o.Name(), error(nil)
	if !o.bare {
		err = o.Chmod(0o644)
	} else { // a link cannot replace a file, a rename can
		hidden = filepath.Join(filepath.Dir(o.path), fmt.Sprintf(".%s-%d", filepath.Base(o.path), os.Getpid()))
		err = name(o.Fd(), hidden)
	}
	err = errors.Join(err, o.Close())
	if err == nil && o.force {
		err = os.Rename(hidden, o.path)
	} else if err == nil {
		err = renameNew(hidden, o.path)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system does not support it
			err = os.Rename(hidden, o.path)
		}
	}
	if err != nil {
		os.Remove(hidden)
		return fmt.Errorf("%s: %w", o.path, err)
	}
	return nil
}

// Drop discards an incomplete file.
func (o *File) Drop() {
	o.Close()
	if o.path != "" && !o.bare {
		os.Remove(o.Name())
	}
}

// Inside refuses a file below a directory if a folder on the way to it is a symbolic link. The directory itself may
// be a link: the user named it.
func Inside(dir, path string) error {
	at := dir
	for _, part := range strings.Split(filepath.Dir(filepath.Clean(path)), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if st, err := os.Lstat(at); part != "." && err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return input.Fault(fmt.Errorf("%s is a symbolic link: %s would be written where it leads, outside %s; nothing is written", at, path, dir))
		}
	}
	return nil
}

// Fits refuses files that Write would refuse, before the work that they are for; "" is none.
func Fits(force bool, paths ...string) error {
	for _, p := range paths {
		if p == "" {
			continue
		}
		f, err := Create(p, force)
		if err != nil {
			return err
		}
		f.Drop()
	}
	return nil
}

// Write writes a complete file, or leaves none.
func Write(path string, force bool, write func(io.Writer) error) error {
	f, err := Create(path, force)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		f.Drop()
		return fmt.Errorf("%s: %w", path, input.Reason(err))
	}
	return f.Keep()
}

// WriteBytes writes a complete file, or leaves none.
func WriteBytes(path string, force bool, b []byte) error {
	return Write(path, force, func(w io.Writer) error { _, err := w.Write(b); return err })
}
