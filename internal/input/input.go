package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// File is a regular file, open for reading up to the size it had when it was opened. Bytes appended later are
// ignored, as are those of files without a size that the kernel generates while they are read (/proc/kmsg).
type File struct {
	*os.File
	Size int64
	left io.Reader
}

// Open opens a regular file of at most max bytes; 0: of any size.
func Open(path string, max int64) (*File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, missing(path, err)
	}
	if err := check(path, st, max); err != nil {
		return nil, err
	}
	// It may have been replaced since: a pipe opened this way does not block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if st, err = f.Stat(); err == nil {
		err = check(path, st, max)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f, st.Size(), io.LimitReader(f, st.Size())}, nil
}

// missing describes a file that does not exist, and names the place of shipped files with that name.
func missing(path string, err error) error {
	where := ""
	if name, shipped := strings.CutPrefix(path, "scenarios/"); shipped && errors.Is(err, fs.ErrNotExist) {
		where = "; shipped ones are in the folder scenarios of repository and archive, or /usr/share/railyard/scenarios/" + name
	}
	return fmt.Errorf("%s: %w%s", path, Reason(err), where)
}

// Reason returns the reason of a file's error, without the names of file and system call.
func Reason(err error) error {
	if wrong := (*os.PathError)(nil); errors.As(err, &wrong) {
		return wrong.Err
	}
	return err
}

// Read reads up to the size of the file when it was opened.
func (f *File) Read(b []byte) (int, error) { return f.left.Read(b) }

// Read reads a regular file of at most max bytes.
func Read(path string, max int64) ([]byte, error) {
	f, err := Open(path, max)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func check(path string, st fs.FileInfo, max int64) error {
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file but %s", path, kind(st.Mode()))
	}
	if max > 0 && st.Size() > max {
		return fmt.Errorf("%s has %d bytes, at most %d are read", path, st.Size(), max)
	}
	return nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
