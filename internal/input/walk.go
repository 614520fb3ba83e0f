package input

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Walk visits the regular files of a folder and of those in it, in the order of their names; hidden ones
// are left out. A folder with more than most of them is an error.
func Walk(dir string, most int, visit func(path string) error) error {
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
