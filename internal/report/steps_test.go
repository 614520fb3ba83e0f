package report

import (
	"strings"
	"testing"

	"railyard/internal/result"
)

// TestSteps checks that a step of computing alone names it, and that one of transfers alone has no table.
func TestSteps(t *testing.T) {
	for of, want := range map[result.Step]bool{{StepTime: 9, Compute: 9}: true, {StepTime: 9, ExposedOther: 9}: false} {
		var b strings.Builder
		steps(&b, &result.Summary{Step: of})
		if strings.Contains(b.String(), "compute") != want || want != (b.Len() > 0) {
			t.Errorf("%+v: %q", of, &b)
		}
	}
}
