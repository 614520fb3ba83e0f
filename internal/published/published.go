// Package published finds, for tests, the inputs that other tools' authors, operators and vendors have published:
// topologies, traces, configurations, YANG models, measurements. They are not part of the project. RAILYARD_SHARED
// names the folder that holds them under data; without it, a folder named shared in a parent of the working directory
// does.
//
//	files := published.Files(t, "configs", "frr", "*")
//	text := published.Read(t, "goal", "binary_tree_32.goal")
package published

import (
	"os"
	"path/filepath"
)

// tester is the part of testing.TB that this package uses; packages outside tests need not import testing.
type tester interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Files returns the paths that match a pattern below the folder data, sorted by name. It skips the test where there
// are none.
func Files(t tester, pattern ...string) []string {
	t.Helper()
	want := filepath.Join(pattern...)
	for _, dir := range folders() {
		files, err := filepath.Glob(filepath.Join(dir, "data", want))
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if len(files) > 0 {
			return files
		}
	}
	t.Skipf("RAILYARD_SHARED names no folder with data/%s", filepath.ToSlash(want))
	return nil
}

// Path returns the path of one file or folder below data, or skips the test where there is none.
func Path(t tester, name ...string) string {
	t.Helper()
	if files := Files(t, name...); len(files) > 0 {
		return files[0]
	}
	return ""
}

// Read returns the content of one file below data, or skips the test where there is none.
func Read(t tester, name ...string) []byte {
	t.Helper()
	path := Path(t, name...)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}

// folders lists where the inputs may be: the named folder alone, or every folder shared above the working directory.
func folders() []string {
	if dir := os.Getenv("RAILYARD_SHARED"); dir != "" {
		return []string{dir}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	var all []string
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		all = append(all, filepath.Join(dir, "shared"))
	}
	return all
}
