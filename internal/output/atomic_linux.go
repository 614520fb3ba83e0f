package output

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Exchange exchanges two files or directories in one step. It reports an error if the file system does not support it.
func Exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// renameNew renames a file to a name that does not exist.
func renameNew(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}

// unnamed opens a file without a name in a directory.
func unnamed(dir string) (int, error) {
	return unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
}

// name gives an unnamed file a name.
func name(fd uintptr, path string) error {
	return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
}

// MountPoint reports whether a directory is the root of a mounted file system.
func MountPoint(dir string) bool {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_BASIC_STATS, &st)
	return err == nil && st.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0 &&
		st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
