package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Patience is the time for which a pipe may be silent, and mostPiped the default bound on its bytes.
const (
	Patience  = time.Minute
	mostPiped = 256 << 20
)

// piped keeps the contents of pipes, by device and number, with their total size. So a command that reads a file
// twice gets the same data twice. As no pipe can be read again, none is dropped; pipes beyond the limit most are
// refused.
var piped = struct {
	sync.Mutex
	texts       map[[2]uint64][]byte
	bytes, most int64
}{texts: map[[2]uint64][]byte{}, most: 4 * mostPiped}

// Text reads a regular file of at most max bytes, or a pipe until its writers close it. Shells substitute pipes for
// a command's output. With max 0 a file may have any size, and a pipe any size up to a limit. The byte order mark
// of some editors is removed.
func Text(path string, max int64) ([]byte, error) {
	read := func() ([]byte, error) { return Read(path, max) }
	if st, err := os.Stat(path); err == nil && st.Mode()&fs.ModeNamedPipe != 0 {
		read = func() ([]byte, error) { return pipe(path, st, max) }
	}
	b, err := read()
	return bytes.TrimPrefix(b, []byte("\ufeff")), err
}

// Pipe reports whether a path is a pipe, which disappears with its writer.
func Pipe(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode()&fs.ModeNamedPipe != 0
}

// Stream opens a regular file of at most max bytes, or a pipe, for reading from its beginning. size is 0 if it is
// unknown.
func Stream(path string, max int64) (from io.ReadCloser, size int64, err error) {
	st, err := os.Stat(path)
	if err != nil || st.Mode()&fs.ModeNamedPipe == 0 {
		f, err := Open(path, max)
		if err != nil {
			return nil, 0, err
		}
		return f, f.Size, nil
	}
	text, err := pipe(path, st, max)
	return io.NopCloser(bytes.NewReader(text)), int64(len(text)), err
}

// pipe reads a pipe, once.
func pipe(path string, st fs.FileInfo, max int64) ([]byte, error) {
	var key [2]uint64
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		key = [2]uint64{uint64(s.Dev), s.Ino}
	}
	piped.Lock()
	defer piped.Unlock()
	if text, ok := piped.texts[key]; ok {
		return bounded(path, text, max)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for a writer
	if err != nil {
		return nil, err
	}
	defer f.Close()
	most := max
	if most <= 0 {
		most = mostPiped
	}
	room := piped.most - piped.bytes
	var text []byte
	buf := make([]byte, 1<<16)
	for int64(len(text)) <= min(most, room) {
		if err := f.SetReadDeadline(time.Now().Add(Patience)); err != nil {
			return nil, fmt.Errorf("%s is a pipe that cannot be read: %w", path, err)
		}
		n, err := f.Read(buf)
		text = append(text, buf[:n]...)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, fmt.Errorf("%s is a pipe that brought nothing for %v", path, Patience)
		case err == io.EOF && len(text) == 0:
			return nil, fmt.Errorf("%s is a pipe without a writer, or one that wrote nothing", path)
		case err == io.EOF:
			piped.texts[key] = slices.Clip(text)
			piped.bytes += int64(len(text))
			return bounded(path, text, most)
		case err != nil:
			return nil, err
		}
	}
	if int64(len(text)) > room {
		return nil, fmt.Errorf("%s is a pipe, and all pipes bring more than %d bytes, the most that is kept: save some as files", path, piped.most)
	}
	return bounded(path, text, most)
}

// bounded refuses more than max bytes of a pipe.
func bounded(path string, text []byte, max int64) ([]byte, error) {
	if max > 0 && int64(len(text)) > max {
		return nil, fmt.Errorf("%s is a pipe with more than the %d bytes that are read", path, max)
	}
	return text, nil
}

// fault marks an error as the input's fault.
type fault struct{ error }

func (f *fault) Unwrap() error { return f.error }

// Fault marks an error as caused by the user's input: a file, a flag, a scenario. It returns nil for nil.
func Fault(err error) error {
	if err == nil {
		return nil
	}
	return &fault{err}
}

// IsFault reports whether an error is marked by Fault.
func IsFault(err error) bool {
	var f *fault
	return errors.As(err, &f)
}

// Behind returns the path of a directory, by which filepath.WalkDir follows it if it is a link.
func Behind(dir string) string {
	if st, err := os.Lstat(dir); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		return dir + string(filepath.Separator)
	}
	return dir
}

// Walk visits the regular files of a directory and its subdirectories, sorted by name; hidden ones are omitted. A
// folder with more than most of them is an error.
func Walk(dir string, most int, visit func(path string) error) error {
	n := 0
	return filepath.WalkDir(Behind(dir), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && path != Behind(dir):
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
