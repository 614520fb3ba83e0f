package identify

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/internal/diagnose/readings"
	"railyard/unit"
)

// Limits of a directory's account: checked files and directories, and listed directories of a kind.
const (
	mostFiles   = 500
	mostFolders = 3
)

// contents is the contents of a directory and its subdirectories.
type contents struct {
	kinds         []string            // kinds in the order in which they are found
	files         map[string]int      // by kind
	folders       map[string][]string // folders by kind, relative to the directory
	runs, unknown int
	seen          int // files and folders
	limited       bool
}

// find searches a directory and its subdirectories, except run directories and hidden ones.
func find(dir string) (*contents, error) {
	c := &contents{files: map[string]int{}, folders: map[string][]string{}}
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch c.seen++; {
		case path == dir:
			c.seen = 0
			return err
		case c.seen > mostFiles:
			c.limited = true
			return filepath.SkipAll
		case e.IsDir() && isRun(&File{Path: path, Dir: true}):
			c.runs++
			return filepath.SkipDir
		case e.IsDir() && (err != nil || strings.HasPrefix(e.Name(), ".")):
			return filepath.SkipDir
		case e.IsDir():
			return nil
		}
		in, err := filepath.Rel(dir, filepath.Dir(path))
		c.add(&File{Path: path}, in)
		return err
	})
	return c, err
}

// add counts a file of a folder by its kind.
func (c *contents) add(f *File, in string) {
	var err error
	n := -1
	if f.Head, err = head(f.Path); err == nil && len(f.Head) > 0 {
		n = slices.IndexFunc(kinds, func(k Kind) bool { return k.is(f) })
	}
	if n < 0 {
		c.unknown++
		return
	}
	name := kinds[n].Name
	if c.files[name]++; c.files[name] == 1 {
		c.kinds = append(c.kinds, name)
	}
	if !slices.Contains(c.folders[name], in) {
		c.folders[name] = append(c.folders[name], in)
	}
}

// where names the folders of a kind; "" for files of the directory itself.
func (c *contents) where(kind string) string {
	in := slices.Clone(c.folders[kind])
	if i := slices.Index(in, "."); i >= 0 {
		in[i] = "this directory"
	}
	switch {
	case len(in) == 1 && in[0] == "this directory":
		return ""
	case len(in) <= mostFolders:
		return " in " + strings.Join(in, ", ")
	}
	return fmt.Sprintf(" in %d folders (%s, …)", len(in), strings.Join(in[:mostFolders], ", "))
}

// showDirectory counts the kinds of the files of a directory and its folders.
func showDirectory(f *File, a *Account) error {
	c, err := find(f.Path)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(f.Path, "study.json")); err == nil {
		a.What = "directory of a study"
		a.next("rank the trials", "sweep show %s", f.quoted())
		a.next("list the columns of SQL queries", "query %s", f.quoted())
	}
	if c.runs > 0 {
		a.show("%s", unit.Plural(c.runs, "run"))
		a.next("open the runs in the page", "serve")
	}
	for _, name := range c.kinds {
		k := kinds[slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })]
		a.show("%s%s: %s", unit.Plural(c.files[name], "file"), c.where(name), k.What)
		// files of one fabric are compared in pairs
		if len(c.folders[name]) > 1 && (name == "configuration" || name == "host") {
			nextOf(name, f, a)
			continue
		}
		folders := c.folders[name]
		if name == "counters" {
			folders = diagnosed(f.Path, folders)
		}
		for _, in := range folders[:min(mostFolders, len(folders))] {
			nextOf(name, &File{Path: filepath.Join(f.Path, in), Scenario: f.Scenario}, a)
		}
	}
	if len(a.Shows) == 0 && len(a.Next) == 0 {
		return fmt.Errorf("%s: contains no supported file (%s)", f.Path, unit.Plural(c.seen, "entry"))
	}
	if c.limited {
		a.show("more than %d entries: the others were not opened", mostFiles)
	}
	if c.unknown > 0 {
		a.show("%s of unsupported formats", unit.Plural(c.unknown, "file"))
	}
	return nil
}

// diagnosed are the folders of counters in a directory, as diagnose takes them. The folders before/ and after/ of
// one folder are two snapshots, which are diagnosed together.
func diagnosed(dir string, folders []string) (out []string) {
	for _, in := range folders {
		for d := in; d != "."; d = filepath.Dir(d) {
			_, _, two := readings.Two(filepath.Join(dir, filepath.Dir(d)))
			if base := filepath.Base(d); two && (base == "before" || base == "after") {
				in = filepath.Dir(d)
			}
		}
		if !slices.Contains(out, in) {
			out = append(out, in)
		}
	}
	return out
}

// nextOf lists the command for a folder with files of a kind.
func nextOf(kind string, f *File, a *Account) {
	switch kind {
	case "configuration", "host":
		a.next("find errors in configurations", "config lint %s%s", f.quoted(), f.fabric("--fabric"))
	case "counters":
		a.next("find faults and congestion", "diagnose %s%s", f.quoted(), f.fabric("--fabric"))
	case "cabling", "trace":
		a.next("convert to a scenario", "import %s --out imported.yaml", f.quoted())
	}
}
