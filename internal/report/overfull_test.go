package report

import (
	"bytes"
	"strings"
	"testing"

	"railyard/internal/result"
)

// TestOverfull: a comparison names variants whose training does not fit the GPUs' memory, including the fastest.
func TestOverfull(t *testing.T) {
	run := func(step int64) []*result.Summary {
		s := &result.Summary{Name: "a", Complete: true}
		s.StepTime = step
		return []*result.Summary{s}
	}
	all := []result.Variant{{Label: "vpp=1", Runs: run(2000)},
		{Label: "vpp=2", Runs: run(1000), Over: "80.3 of 85.5 GB (90 % may be filled)"}}
	var b bytes.Buffer
	Compare(&b, "two", all)
	for _, want := range []string{"vpp=2 is fastest, which does not fit the GPU memory: 1 ns",
		"does not fit: vpp=2: the fullest GPU needs 80.3 of 85.5 GB (90 % may be filled)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	all[1].Over = ""
	if Compare(&b, "two", all); strings.Contains(b.String(), "fit") {
		t.Error(b.String())
	}
}
