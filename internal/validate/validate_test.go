package validate

import "testing"

// TestChecks runs the accuracy report: no row may disagree with its reference
// without a reason beside it.
func TestChecks(t *testing.T) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			rows, err := c.Run()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				switch r.Verdict() {
				case "FAILS":
					t.Errorf("%s: expected %s (%s), ours %s, %s", r.Claim, r.Expected, r.Source,
						r.Ours, r.Diff)
				case "differs":
					t.Logf("%s: expected %s, ours %s: %s", r.Claim, r.Expected, r.Ours, r.Note)
				}
			}
		})
	}
}
