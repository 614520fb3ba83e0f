package readings

import (
	"os"
	"path/filepath"

	"railyard/internal/counters"
	"railyard/internal/output"
)

// Write writes the outputs of a system's devices, and of hosts, before and after some traffic: a directory each, as
// Snapshots reads them.
func Write(dir, system string, before, after []counters.Snapshot) error {
	rounds := map[string][]counters.Snapshot{"before": before, "after": after}
	for name := range rounds {
		if err := output.Inside(dir, filepath.Join(name, "any")); err != nil {
			return err
		}
	}
	for name, devices := range rounds {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(at, 0o777); err != nil {
			return err
		}
		for _, s := range devices {
			language := system
			if s.Kind == counters.Host {
				language = "host"
			}
			if err := output.WriteBytes(filepath.Join(at, s.Device+".txt"), true, counters.Show(language, s)); err != nil {
				return err
			}
		}
	}
	return nil
}
