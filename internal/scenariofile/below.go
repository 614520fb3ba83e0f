package scenariofile

import (
	"errors"
	"os"
	"path/filepath"

	"railyard/internal/input"
	"railyard/internal/scenario"
)

// ErrOutside reports that a file is outside of the folders that Below reads.
var ErrOutside = errors.New("is outside of the folder of the file that names it")

// Below reads the files named by another user's file, such as a batch script: in its folder and those below it, or
// in other folders. No file elsewhere is read and quoted, through symbolic links either.
func Below(path string, others ...string) scenario.ReadFile {
	return func(name string) ([]byte, error) {
		real, err := filepath.EvalSymlinks(RelativeTo(path, name))
		if err != nil {
			return nil, err
		}
		for _, folder := range append([]string{filepath.Dir(path)}, others...) {
			if contains(folder, real) {
				return input.Text(real, MaxSize)
			}
		}
		return nil, ErrOutside
	}
}

// Here is the working directory, for Below.
func Here() string {
	here, err := os.Getwd()
	if err != nil {
		return "."
	}
	return here
}

// contains reports whether a file without symbolic links is below a folder.
func contains(folder, file string) bool {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	a, err1 := filepath.Abs(real)
	b, err2 := filepath.Abs(file)
	rel, err3 := filepath.Rel(a, b)
	return errors.Join(err1, err2, err3) == nil && filepath.IsLocal(rel)
}
