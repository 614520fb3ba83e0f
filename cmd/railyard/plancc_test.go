package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// The cost model includes the waste of a congestion control: steps take at least as long as without any, and the
// output has the waste.
func TestPlanSearchUnderCongestionControl(t *testing.T) {
	fabric := filepath.Join(scenarios(t), "cc-zoo.yaml")
	seconds := map[string]float64{}
	for _, name := range []string{"none", "eqds"} {
		code, out, errs := call(t, "plan", "search", "gpt3-125m", "--fabric", fabric, "--global-batch", "32",
			"--simulate", "0", "--json", "--cc", name)
		var got struct {
			Waste      float64 `json:"cc_waste"`
			Candidates []struct {
				Seconds float64 `json:"step_seconds"`
			}
		}
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || len(got.Candidates) == 0 {
			t.Fatalf("%s: exit %d, %v, %s", name, code, err, errs)
		}
		if (got.Waste == 1) != (name == "none") || got.Waste > 1.2 {
			t.Errorf("%s wastes %v", name, got.Waste)
		}
		seconds[name] = got.Candidates[0].Seconds
	}
	if seconds["eqds"] < seconds["none"] {
		t.Errorf("a step takes %v s", seconds)
	}
	code, out, _ := call(t, "plan", "search", "gpt3-125m", "--fabric", fabric, "--global-batch", "32",
		"--simulate", "0", "--cc", "swift")
	if code != 0 || !strings.Contains(out, "swift: transfers between hosts take 1.0") {
		t.Errorf("exit %d: %s", code, out)
	}
	code, _, errs := call(t, "plan", "search", "gpt3-125m", "--fabric", fabric, "--cc", "cubic")
	if code != 2 || !strings.Contains(errs, `"cubic"`) || !strings.Contains(errs, "accepted: ") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
