package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestRun checks that a process's memory and exit code arrive, and that the table refuses one above its limit.
func TestRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "took")
	if code := run(file, []string{"sh", "-c", "exit 3"}); code != 3 {
		t.Errorf("exit code %d, expected 3", code)
	}
	if code := run(file, []string{"sh", "-c", "kill -9 $$"}); code == 0 {
		t.Error("a killed program counts as success")
	}
	b, err := os.ReadFile(file)
	var one took
	if err != nil || json.Unmarshal(bytes.SplitN(b, []byte("\n"), 2)[0], &one) != nil || one.RSS < 100_000 {
		t.Errorf("%s %v: expected a line with the memory of sh", b, err)
	}
	for most, code := range map[string]int{"2GB": 0, "0.0001GB": 1, "much": 2} {
		if got := table(file, []string{"--most", most}); got != code {
			t.Errorf("--most %s: exit %d, expected %d", most, got, code)
		}
	}
}
