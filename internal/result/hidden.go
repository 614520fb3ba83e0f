package result

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockName is the file in a hidden folder that its run has locked. The kernel releases the lock when the run ends
// for any reason.
const lockName = "lock"

// lock is a held file lock or, if the file system has no locks, a placeholder.
type lock struct {
	f    *os.File
	held bool
}

func (l *lock) free() {
	if l != nil {
		l.f.Close()
	}
}

// lockHidden creates a hidden folder and locks it.
func lockHidden(dir string) (*lock, error) {
	return locked(filepath.Join(dir, lockName), func(path string) (*os.File, error) {
		if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
			return nil, err
		}
		if err := folder(dir); err != nil {
			return nil, err
		}
		return os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	})
}

// folder checks that a hidden folder is a directory: a symbolic link of that name would empty an unrelated directory.
func folder(hidden string) error {
	st, err := os.Lstat(hidden)
	if err == nil && !st.IsDir() {
		return fmt.Errorf("%s is not a folder that Railyard made: remove it or choose another --out", hidden)
	}
	return err
}

// lockFolder locks an existing folder.
func lockFolder(dir string) (*lock, error) { return locked(dir, os.Open) }

// locked opens and locks a path. The previous owner may have removed it meanwhile, or sweep may be checking it, so
// lockHidden retries several times.
func locked(path string, open func(string) (*os.File, error)) (*lock, error) {
	for try := 0; ; try++ {
		f, err := open(path)
		if errors.Is(err, os.ErrNotExist) && try < 10 {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) {
			if a, err1 := f.Stat(); err1 == nil {
				if b, err2 := os.Stat(path); err2 == nil && os.SameFile(a, b) {
					return &lock{f: f, held: err == nil}, nil
				}
			}
		}
		f.Close()
		if try == 10 {
			return nil, ErrBusy
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// sweep removes the remains of killed runs next to a run directory.
func sweep(parent, but string) {
	list, _ := filepath.Glob(filepath.Join(escape(parent), prefix+"*"))
	for _, dir := range list {
		if st, err := os.Lstat(dir); dir == but || err != nil || !st.IsDir() {
			continue
		}
		if l, err := lockHidden(dir); err == nil {
			if l.held {
				_ = clean(dir, filepath.Join(parent, strings.TrimPrefix(filepath.Base(dir), prefix)))
			}
			l.free()
		}
	}
}

// escape makes a pattern of Glob that means a path.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// clean removes a hidden folder.
func clean(hidden, dir string) error {
	if err := empty(hidden, dir); err != nil {
		return err
	}
	os.Remove(filepath.Join(hidden, lockName))
	return os.Remove(hidden)
}

// empty removes the contents of a hidden folder. A complete run that was not yet moved is moved. Files that are not
// a run's return to dir, from where they came.
func empty(hidden, dir string) error {
	entries, err := os.ReadDir(hidden)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(hidden, e.Name())
		switch {
		case e.Name() == ready && e.IsDir():
			if err := install(path, dir); err != nil {
				discard(path, dir)
			}
		case e.IsDir():
			discard(path, dir)
		case ours(e.Name()) || e.Name() == probeName:
			os.Remove(path)
		}
	}
	return nil
}

// discard removes a run's files, moves others to dir, and removes the folder.
func discard(folder, dir string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if ours(e.Name()) {
			os.Remove(path)
		} else if to := filepath.Join(dir, e.Name()); dir != "" && exists(dir) && !exists(to) {
			_ = os.Rename(path, to)
		}
	}
	os.Remove(folder)
}

// runFiles returns the file names that a run directory accepts, including those of earlier versions.
func runFiles() []string {
	names := []string{"rates.parquet", NICsTable + ".parquet",
		"topology.json", "trace.json", "capture.pcapng", FollowedFile, "summary.json", "run.json"}
	for _, f := range (&Tables{}).files() {
		names = append(names, f.Name)
	}
	return names
}

// ours reports whether a file of a run directory is one that runs write. Nothing else is
// ever removed.
func ours(name string) bool { return slices.Contains(runFiles(), name) }

const probeName = "probe"

// probe checks that a folder accepts files with content, because a full disk often accepts empty ones.
func probe(dir string) error {
	path := filepath.Join(dir, probeName)
	defer os.Remove(path)
	return writeFile(path, asBytes(make([]byte, probeSize)))
}
