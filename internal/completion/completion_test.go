package completion

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Each shell has a script. Values are keys, the values of a key, models, runs, ports and pages; none for file names.
func TestValues(t *testing.T) {
	for shell, want := range map[string]bool{"bash": true, "zsh": true, "fish": true, "csh": false} {
		if got := len(Script(shell)) > 0; got != want {
			t.Errorf("%s: a script: %v, want %v", shell, got, want)
		}
	}
	scenario, err := filepath.Abs("../../scenarios/three-flows.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("runs/a", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("runs/a/run.json", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	values := Values(func() []string { return []string{"index"} })
	for _, c := range []struct {
		name, holder, last string
		before             []string
		want               string
	}{
		{"set", "", "", nil, "lb="}, {"grid", "", "lb=", nil, "lb=ecmp"}, {"model", "", "", nil, "h100"},
		{"", "RUN", "", nil, "runs/a"}, {"capture", "", "", []string{"run", scenario}, "rail-1:Eth1"}, {"", "PAGE", "", nil, "index"},
	} {
		if got := values(c.name, c.holder, c.last, c.before); !slices.Contains(got, c.want) {
			t.Errorf("%s%s %q: no %s among %d values", c.name, c.holder, c.last, c.want, len(got))
		}
	}
	for _, before := range [][]string{nil, {"missing.yaml"}} {
		if got := values("capture", "", "", before); got != nil {
			t.Errorf("ports of no scenario: %v", got)
		}
	}
	if got := values("out", "", "", nil); got != nil {
		t.Errorf("--out: %v", got)
	}
}
