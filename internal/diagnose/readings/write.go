package readings

import (
	"os"
	"path/filepath"

	"railyard/internal/counters"
)

// Write writes the outputs of a system's devices, and of hosts, before and after some traffic: a directory each, as
// Snapshots reads them.
func Write(dir, system string, before, after []counters.Snapshot) error {
	for name, devices := range map[string][]counters.Snapshot{"before": before, "after": after} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(at, 0o777); err != nil {
			return err
		}
		for _, s := range devices {
			language := system
			if s.Kind == counters.Host {
				language = "host"
			}
			if err := os.WriteFile(filepath.Join(at, s.Device+".txt"), counters.Show(language, s), 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}
