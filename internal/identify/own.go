package identify

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"railyard/internal/result"
)

// The map lists files of runs and of studies that other kinds would recognize as theirs.
var (
	runFiles   = []string{"trace.json", "summary.json", "run.json", "topology.json"}
	studyFiles = []string{"study.json", "results.csv"}
)

// isOwn recognizes files by their names in a directory that has a file which marks it.
func isOwn(mark string, names []string) func(*File) bool {
	return func(f *File) bool {
		if f.Dir || !slices.Contains(names, filepath.Base(f.Path)) {
			return false
		}
		_, err := os.Stat(filepath.Join(filepath.Dir(f.Path), mark))
		return err == nil
	}
}

// showRunFile points to the run of a file.
func showRunFile(f *File, a *Account) error {
	dir := filepath.Dir(f.Path)
	if filepath.Base(f.Path) == "trace.json" {
		a.show("ranks and pauses of a run, for Perfetto")
	}
	a.show("of the run in %s", dir)
	a.next("print the report of its run", "report %s", shellWord(dir))
	a.nextWhy(dir)
	return nil
}

// nextWhy suggests the command for the causes of a run's lost time if the run has an account of them. Otherwise it
// returns the reason.
func (a *Account) nextWhy(dir string) {
	if _, err := result.ReadAccount(dir); err != nil {
		a.show("%v", err)
		return
	}
	a.next("explain where the time went, and simulate remedies", "why %s --try 3", shellWord(dir))
}

// ownTrace begins the file trace.json of a run.
const ownTrace = `"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"ranks"}}`

// isOwnTrace recognizes trace.json of a run in another directory than the run's.
func isOwnTrace(f *File) bool { return bytes.Contains(f.Head, []byte(ownTrace)) }

// showOwnTrace describes the purpose of the file.
func showOwnTrace(_ *File, a *Account) error {
	a.show("ranks and pauses of a run, for Perfetto; its run directory is not here")
	a.show("import does not read it: the run's scenario has the workload")
	return nil
}

// showStudyFile points to the study of a file.
func showStudyFile(f *File, a *Account) error {
	dir := filepath.Dir(f.Path)
	a.show("of the study in %s", dir)
	a.next("rank the trials", "sweep show %s", shellWord(dir))
	a.next("list the columns of SQL queries", "query %s", shellWord(dir))
	return nil
}
