package result_test

import (
	"os"
	"path/filepath"
	"testing"

	"railyard/internal/result"
)

// Any content of a run's directory is read or rejected.
func FuzzRun(f *testing.F) {
	f.Add([]byte(`{"version": "1", "name": "x", "step_time_ps": 5, "collectives": [{"name": "a", "count": 1}]}`),
		[]byte(`{"version": "1", "files": {"summary.json": {"bytes": 9, "sha256": "00"}}}`))
	f.Add([]byte(`{"version": "1", "links": {"max": 1e309}}`), []byte(`{`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, summary, manifest []byte) {
		for name, text := range map[string][]byte{"summary.json": summary, "run.json": manifest,
			"flows.parquet": manifest} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := result.ReadSummary(dir); err == nil && s == nil {
			t.Error("neither a summary nor an error")
		}
		if m, err := result.ReadManifest(dir); err == nil && m == nil {
			t.Error("neither a manifest nor an error")
		}
		result.ReadFollowed(dir)
	})
}
