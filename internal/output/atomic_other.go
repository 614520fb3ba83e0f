//go:build unix && !linux

package output

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Exchange reports that this system cannot exchange two directories in one step.
func Exchange(string, string) error { return unix.ENOSYS }

// renameNew reports that this system has no renaming to a new name only.
func renameNew(string, string) error { return unix.ENOSYS }

// unnamed reports that this system has no files without a name.
func unnamed(string) (int, error) { return -1, unix.ENOSYS }

// name reports that this system has no files without a name.
func name(uintptr, string) error { return unix.ENOSYS }

// MountPoint reports whether a directory is on another device than its parent.
func MountPoint(dir string) bool {
	var at, above unix.Stat_t
	if unix.Stat(dir, &at) != nil || unix.Stat(filepath.Join(dir, ".."), &above) != nil {
		return false
	}
	full, err := filepath.Abs(dir)
	return err == nil && (at.Dev != above.Dev || full == string(os.PathSeparator))
}
