package report

import (
	"strings"
	"testing"

	"railyard/internal/result"
)

// TestSteps checks that a step of computation alone names it, and that one of transfers alone has no table.
func TestSteps(t *testing.T) {
	for want, of := range map[bool]result.Step{true: {StepTime: 9, Compute: 9}, false: {StepTime: 9, ExposedOther: 9}} {
		var b strings.Builder
		steps(&b, &result.Summary{Step: of})
		if strings.Contains(b.String(), "compute") != want || want != (b.Len() > 0) {
			t.Errorf("%+v: %q", of, &b)
		}
	}
}
