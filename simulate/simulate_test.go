package simulate

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// small is a scenario that ends in a tenth of a second.
const small = `name: small
fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {incast: {bytes: 200KB, fan_in: 3}}}
`

// TestText simulates a text, a file and with a directory: the same results; values are overridden, faults returned.
func TestText(t *testing.T) {
	s, err := Text([]byte(small))
	if err != nil || !s.Complete || s.StepTime <= 0 {
		t.Fatal(s, err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "small.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := File(file)
	if err != nil || again.StepTime != s.StepTime {
		t.Errorf("%v, %v", again, err)
	}
	kept, err := Run(context.Background(), file, nil, Options{Dir: filepath.Join(dir, "run"), Set: []string{"seed=2"}})
	if err != nil || kept.Seed != 2 {
		t.Errorf("%v, %v", kept, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "run", "summary.json")); err != nil {
		t.Error(err)
	}
	for _, set := range []string{"lb=sprai", "fabric.hosts=0", "nothing"} {
		if _, err := Text([]byte(small), set); err == nil {
			t.Errorf("%s is accepted", set)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ended, file, nil, Options{}); err == nil {
		t.Error("a run that was cancelled ends without an error")
	}
}
