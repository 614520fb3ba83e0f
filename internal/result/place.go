package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"railyard/internal/input"
	"railyard/internal/output"

	"golang.org/x/sys/unix"
)

// Errors of a place that cannot be had.
var (
	ErrExists = errors.New("the run directory exists already")
	ErrBusy   = errors.New("another run is going to write there")
)

// Place is a run directory reserved for one run. No other process can reserve it, and write access was tested.
// Files are first written to a hidden folder on the same file system, next to the directory. It is inside the
// directory if that cannot be renamed: a mount point, the current directory, one with a read-only parent, or one
// with unrelated files.
type Place struct {
	Dir string
	// Earlier reports whether Dir contains a run, Whole whether that run is complete.
	Earlier, Whole bool

	hidden string // path at which files are written first
	inside bool   // hidden is in Dir, into which files are moved one by one
	lock   *lock  // of hidden
	own    *lock  // identity of Dir, once it exists
	made   []string
	wrote  bool
}

const (
	prefix = ".railyard-" // prefix of a hidden folder next to a run directory; its name follows
	inner  = ".railyard"  // the hidden folder inside
	ready  = "ready"      // folder in inner: a complete run before its move
)

// probeSize is the number of bytes that must fit before a run starts: an empty run directory has 40 KB.
const probeSize = 256 << 10

// Reserve takes dir for a run. It may be missing, empty, or, with force, contain a run.
func Reserve(dir string, force bool) (p *Place, err error) {
	p = &Place{Dir: filepath.Clean(dir)}
	defer func() {
		if err != nil {
			p.Release()
			p = nil
		}
	}()
	if real, err := filepath.EvalSymlinks(p.Dir); err == nil {
		p.Dir = real // the target of a symbolic link is exchanged, not the link
	} else if _, err := os.Lstat(p.Dir); err == nil {
		return p, fmt.Errorf("%s is a symbolic link that leads nowhere", dir)
	}
	st, err := os.Stat(p.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if p.made, err = mkdirs(filepath.Dir(p.Dir)); err != nil {
			return p, err
		}
	case err != nil:
		return p, err
	case !st.IsDir():
		return p, fmt.Errorf("%s is a file, expected a directory", dir)
	default:
		if err := p.existing(force); err != nil {
			return p, err
		}
	}
	if err := p.open(); err != nil {
		return p, err
	}
	if p.own == nil && exists(p.Dir) { // a run has ended since
		return p, p.existing(force)
	}
	return p, nil
}

// existing checks an existing directory.
func (p *Place) existing(force bool) (err error) {
	if p.own, err = lockFolder(p.Dir); err != nil {
		return p.busy(err)
	}
	if in := filepath.Join(p.Dir, inner); exists(in) {
		if err := folder(in); err != nil {
			return err
		}
		if err := clean(in, p.Dir); err != nil { // left by a run that was killed
			return err
		}
	}
	run, foreign, err := look(p.Dir)
	switch {
	case err != nil:
		return err
	case !run && len(foreign) == 0:
	case run && !force:
		return fmt.Errorf("%w: %s; choose another --out or add --force to replace it", ErrExists, p.Dir)
	case !run:
		return fmt.Errorf("%s holds files (%s) but no run: it is not replaced; choose another --out", p.Dir, foreign[0])
	default:
		m, err := readManifest(p.Dir)
		if err != nil {
			return fmt.Errorf("%s holds a run.json that Railyard did not write, and is not replaced: %w", p.Dir, err)
		}
		p.Earlier, p.Whole = true, m.Complete
	}
	p.inside = len(foreign) > 0 || pinned(p.Dir) || unix.Access(filepath.Dir(p.Dir), unix.W_OK) != nil
	return nil
}

// Fresh reserves a new directory in root whose name starts with name.
func Fresh(root, name string) (*Place, error) {
	made, err := mkdirs(root)
	if err != nil {
		return nil, err
	}
	for i := 1; i < 1_000_000; i++ {
		p := &Place{Dir: filepath.Join(root, fmt.Sprintf("%s-%03d", name, i)), made: made}
		if exists(p.Dir) {
			continue
		}
		switch err := p.open(); {
		case err == nil && !exists(p.Dir):
			return p, nil
		case err != nil && !errors.Is(err, ErrBusy):
			p.Release()
			return nil, err
		}
		p.made = nil
		p.Release()
	}
	return nil, fmt.Errorf("%s is full of runs called %s", root, name)
}

// open creates and locks the hidden folder, and tests whether files can be written there.
func (p *Place) open() (err error) {
	p.hidden = filepath.Join(filepath.Dir(p.Dir), prefix+filepath.Base(p.Dir))
	if p.inside {
		p.hidden = filepath.Join(p.Dir, inner)
	}
	if p.lock, err = lockHidden(p.hidden); err != nil {
		return p.busy(err)
	}
	if err := empty(p.hidden, p.Dir); err != nil {
		return err
	}
	if !p.inside {
		sweep(filepath.Dir(p.Dir), p.hidden)
	}
	return probe(p.hidden)
}

func (p *Place) busy(err error) error {
	if errors.Is(err, ErrBusy) {
		return fmt.Errorf("%w: %s; choose another --out", err, p.Dir)
	}
	return err
}

// Left reports whether a killed process left its hidden folder next to a run directory.
func Left(dir string) bool {
	return exists(filepath.Join(filepath.Dir(filepath.Clean(dir)), prefix+filepath.Base(dir)))
}

// Aside reserves a place for results that must not replace the results in p.
func (p *Place) Aside() (*Place, error) {
	if p.inside {
		return Fresh(p.Dir, "interrupted")
	}
	return Fresh(filepath.Dir(p.Dir), filepath.Base(p.Dir))
}

// Taken reports whether a program that ignores locks has created files in the directory since it was reserved.
func (p *Place) Taken() bool {
	if p.Earlier || p.wrote {
		return false
	}
	run, foreign, err := look(p.Dir)
	return err == nil && (run || len(foreign) > 0)
}

// Write puts a run into the directory. The run is first written completely to the hidden folder. The directory
// therefore has this run, the previous one, or none, and never parts of one.
func (p *Place) Write(m *Manifest, s *Summary, t *Tables, files ...File) error {
	tmp, err := os.MkdirTemp(p.hidden, "new-*")
	if err != nil {
		return err
	}
	err = os.Chmod(tmp, 0o755)
	if err == nil {
		err = fill(tmp, m, s, t, files...)
	}
	if err == nil {
		err = p.commit(tmp)
	}
	if err != nil {
		discard(tmp, "")
	}
	p.wrote = p.wrote || err == nil
	return err
}

// commit renames a complete run to its name.
func (p *Place) commit(tmp string) error {
	if p.inside {
		whole := filepath.Join(p.hidden, ready)
		if err := os.Rename(tmp, whole); err != nil {
			return err
		}
		return install(whole, p.Dir)
	}
	own, err := lockFolder(tmp)
	if err != nil {
		return err
	}
	if err := exchange(tmp, p.Dir); err != nil {
		own.free()
		return p.within(tmp, err)
	}
	p.own.free()
	p.own = own
	discard(tmp, p.Dir) // the run before
	return nil
}

// within moves a run's files into a directory that cannot be exchanged: one of another user in a folder like /tmp,
// or of a container image.
func (p *Place) within(tmp string, why error) error {
	hidden := filepath.Join(p.Dir, inner)
	if err := os.Mkdir(hidden, 0o755); err != nil {
		return why
	}
	whole := filepath.Join(hidden, ready)
	if err := os.Rename(tmp, whole); err != nil {
		os.Remove(hidden)
		return why
	}
	return errors.Join(install(whole, p.Dir), os.Remove(hidden))
}

// exchange swaps two directories atomically. After a crash, or for a concurrent reader, one of them is complete. If
// the file system does not support that, the previous run is renamed first.
func exchange(tmp, dir string) error {
	switch err := output.Exchange(tmp, dir); {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrNotExist) || !exists(dir):
		return os.Rename(tmp, dir)
	}
	old := tmp + ".old"
	if err := os.Rename(dir, old); err != nil {
		return err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.Rename(old, tmp)
}

// install moves the files of a complete run into dir and removes the files of the previous run. If it is killed,
// the next run continues it. run.json is last, and each listed file has been moved or is still here.
func install(whole, dir string) error {
	m, err := readManifest(whole)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, f := range m.Files {
		keep[f] = true
	}
	var gone []string
	for _, f := range runFiles() {
		switch {
		case !keep[f]:
			gone = append(gone, f)
		case (f == "run.json" || f == "summary.json") && exists(filepath.Join(whole, f)):
			gone = append(gone, f) // a mixture must not look like a run
		}
	}
	for _, f := range gone {
		if err := os.Remove(filepath.Join(dir, f)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, f := range m.Files { // run.json is the last
		err := os.Rename(filepath.Join(whole, f), filepath.Join(dir, f))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Remove(whole)
}

// Release gives up the reservation and removes the hidden files.
func (p *Place) Release() {
	if p == nil {
		return
	}
	if p.lock != nil {
		_ = empty(p.hidden, p.Dir)
		os.Remove(filepath.Join(p.hidden, lockName))
		os.Remove(p.hidden)
	}
	p.lock.free()
	p.own.free()
	p.lock, p.own = nil, nil
	for i := len(p.made) - 1; i >= 0; i-- {
		os.Remove(p.made[i]) // refused unless it is empty
	}
}

// look reports whether a directory contains a run, and lists its other files.
func look(dir string) (run bool, foreign []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "run.json" || name == "summary.json":
			run = true
		case name == inner || name == "lost+found" || ours(name):
		default:
			foreign = append(foreign, name)
		}
	}
	return run, foreign, err
}

// readManifest reads run.json, and refuses one that no run has written.
func readManifest(dir string) (*Manifest, error) {
	b, err := input.Read(filepath.Join(dir, "run.json"), MaxJSON)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, err
	}
	if m.Version == "" || len(m.Tables) == 0 || m.Resolved == nil {
		return nil, errors.New("it has no version, tables and resolved values")
	}
	for _, f := range m.Files {
		if !ours(f) {
			return nil, fmt.Errorf("it lists %q, which is not a file of a run", f)
		}
	}
	return m, nil
}

// pinned reports whether a directory cannot be exchanged for another: a mount point, or one that contains the current
// directory.
func pinned(dir string) bool {
	if output.MountPoint(dir) {
		return true
	}
	full, err1 := filepath.Abs(dir)
	here, err2 := os.Getwd()
	if err1 != nil || err2 != nil {
		return true
	}
	if here, err1 = filepath.EvalSymlinks(here); err1 != nil {
		return true
	}
	if full, err1 = filepath.EvalSymlinks(full); err1 != nil {
		return true
	}
	rel, err := filepath.Rel(full, here)
	return err != nil || rel != ".." && !strings.HasPrefix(rel, "../")
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// mkdirs creates a directory and its parents, and returns the created ones.
func mkdirs(dir string) (made []string, err error) {
	for d := filepath.Clean(dir); !exists(d); d = filepath.Dir(d) {
		made = append([]string{d}, made...)
	}
	return made, os.MkdirAll(dir, 0o755)
}
