package importing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/trace"
)

// The assumed fabric, for ranks without a description of their fabric, loads and has enough GPUs for them.
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

// TestAssumedGPUs: --gpus sets the hosts of a trace without cabling, and is refused where the trace has a count.
func TestAssumedGPUs(t *testing.T) {
	t.Chdir(t.TempDir())
	text := map[string]string{
		"a.goal": "num_ranks 16\nrank 0 {\ncalc 1\n}\n",
		"a.cm":   "Nodes 16\nConnections 1\n0->9 id 1 start 0 size 1000\n",
	}
	for name, text := range text {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, gpus := range []int{1, 4} {
			out, err := Read(Request{Files: []string{name}, GPUs: gpus})
			if err != nil {
				t.Fatal(name, err)
			}
			want := fmt.Sprintf("hosts: %d, spines: 1}\nserver: {gpus: %d,", 16/gpus, gpus)
			if !strings.Contains(out.YAML(), want) {
				t.Errorf("%s --gpus %d: no %q in\n%s", name, gpus, want, out.YAML())
			}
		}
	}
	c := reader{Request: Request{GPUs: 4}}
	if _, err := c.siteOf(&Trace{Format: "nccl-log", site: trace.Site{GPUs: 8}}); err == nil ||
		!strings.Contains(err.Error(), "8 GPUs per host") {
		t.Error(err)
	}
}
