package importing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/trace"
)

// What is assumed for ranks of whose fabric nothing is said loads and has room for them.
func TestAssumedFabrics(t *testing.T) {
	for _, ranks := range []int{1, 7, 8, 512, 513, 2056, 32768} {
		text, note := assumed(ranks, "goal", trace.Site{})
		text += fmt.Sprintf("workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-%d/gpu-1, "+
			"bytes: 1KB}]}}\n", max(2, (ranks+7)/8))
		if _, err := loads(text, nil); err != nil {
			t.Errorf("%d ranks, %s: %v", ranks, note, err)
		}
	}
	c := reader{Request: Request{Files: []string{filepath.Join(t.TempDir(), "wide.goal")}}}
	text := []byte("num_ranks 100000\nrank 99999 {\ncalc 1\n}\n")
	if err := os.WriteFile(c.Files[0], text, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.traces(c.Files, nil); err == nil || !strings.Contains(err.Error(),
		"100,000 ranks fit no default fabric; pass a file with the cabling too") {
		t.Error(err)
	}
}
