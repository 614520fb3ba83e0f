package validate

import (
	"slices"
	"strings"
	"testing"

	"railyard/internal/long"
)

// TestSettingsClose computes differing rows again with the setting that their reason names. The setting must close
// the gap. Groups that take more than a second run only with RAILYARD_LONG. Groups of more than 15 seconds do not
// run.
func TestSettingsClose(t *testing.T) {
	lines := documented(t)
	for _, c := range Checks() {
		closes := func(line string) bool { return strings.Contains(line, "closes the gap:* `") }
		if !slices.ContainsFunc(lines[c.Name], closes) || c.Seconds > 1 && !long.On() || c.Seconds > 15 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) { settingsClose(t, c) })
	}
}

func settingsClose(t *testing.T, c Check) {
	rows := must(c.Run())
	for _, why := range (&Group{Rows: rows}).Reasons() {
		if why.Setting == NoSetting {
			continue
		}
		closing = strings.Fields(why.Setting)
		again, err := c.Run()
		if closing = nil; err != nil || len(again) != len(rows) {
			t.Errorf("%s: with %s %d rows of %d, %v", why.Name, why.Setting, len(again), len(rows), err)
			continue
		}
		for i, r := range again {
			if rows[i].Reason == why && !r.OK {
				t.Errorf("%s: with %s %s has %s where %s is expected: %s", why.Name, why.Setting, r.Claim, r.Ours,
					r.Expected, why.Effect)
			}
		}
	}
}
