package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/lab/load"
)

// Over the narrow ports of a lab each congestion control delivers every element. Marks are counted, and the plot
// has a panel for each.
func TestRealLabCompare(t *testing.T) {
	needsLab(t)
	t.Parallel()
	name := ownName("cc")
	raise(t, name, "--rate", "200Mbps", "--routing", "static")
	png := filepath.Join(t.TempDir(), "cc.png")
	for mib := 1; ; mib *= 2 { // a busy machine may fill no port until more is to be sent
		code, out, errs := call(t, "lab", "compare", "--name", name, "--cc", "dcqcn,swift,nscc", "--bytes",
			fmt.Sprint(mib, "MiB"), "--iters", "2", "--rate-plot", png, "--force", "--json")
		var all []load.Variant
		if code != 0 || json.Unmarshal([]byte(out), &all) != nil || len(all) != 3 {
			t.Fatalf("exit %d, %s%s", code, out, errs)
		}
		for i, want := range []string{"dcqcn", "swift", "nscc"} {
			v := all[i]
			least := float64(mib) * 1.5 * 8 * (1 << 20) / 100 // 1.5 times as much over a narrow port, us
			if v.CC != want || v.Row.Wrong != 0 || v.Row.TimeUS < least {
				t.Errorf("%+v", v)
			}
		}
		if all[0].Marked > 0 && all[0].Row.Stats.Cuts > 0 && all[1].Row.Stats.Cuts > 0 {
			break
		} else if mib > 64 {
			t.Fatalf("marks and cuts: %+v", all)
		}
		t.Logf("%d MiB: %+v", mib, all)
	}
	if b, err := os.ReadFile(png); err != nil || !strings.HasPrefix(string(b), "\x89PNG") {
		t.Errorf("no plot: %v", err)
	}
	if code, _, errs := call(t, "lab", "compare", "--name", name, "--bytes", "3B"); code != 2 ||
		!strings.Contains(errs, "is out of range 4–") {
		t.Errorf("3 bytes: exit %d, %s", code, errs)
	}
}
