package result

import "os"

// Variant is one setting of a comparison with its runs, one per seed.
type Variant struct {
	Label  string
	Runs   []*Summary
	Failed string // why there is none, or not one per seed

	Switch, NIC string // what its congestion control takes of them, where that is compared
}

// Unfit is a variant that was not run, and why.
type Unfit struct{ Label, Why string }

// IsDir reports whether a path is a folder: a run, where a scenario file or a run can be named.
func IsDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}
