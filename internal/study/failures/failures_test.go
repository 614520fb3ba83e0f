package failures

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"railyard/internal/study"
)

const rails = `
name: rails
fabric: {kind: rail, segments: 2, hosts: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps},
         fabric_link: {rate: 100Gbps}, routing: {converge: 10us}}
server: {gpus: 1, nics: 1}
transport: {timeout: 6}
workload: {traffic: {permutation: {bytes: 4MB}}}
`

// Of equivalent elements one is simulated, and stands for all; a server's only NIC is a single point of failure, one of
// two spines is none. What the study says does not depend on the number of workers.
func TestSimulate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rails.yaml")
	if err := os.WriteFile(path, []byte(rails), 0o600); err != nil {
		t.Fatal(err)
	}
	var first *Variant
	for _, workers := range []int{1, 3} {
		s := Study{Kinds: []string{"nic", "switch"}, PerClass: 1, Runs: 100, Pool: &study.Pool{Workers: workers}}
		all, err := s.Variants(study.Matrix{Scenarios: []string{path}})
		if err != nil || len(all) != 1 {
			t.Fatalf("%d variants, %v", len(all), err)
		}
		v := all[0]
		if err := s.Simulate(context.Background(), v); err != nil {
			t.Fatal(err)
		}
		if v.Base <= 0 || v.At <= 0 || v.At >= v.Base || v.Sums.Elements != 4+4 {
			t.Fatalf("%+v", v)
		}
		members := 0
		for _, r := range v.Rows {
			members += r.Alike
			if r.Kind == "nic" != r.Lost && r.Tier != "rail" {
				t.Errorf("%+v", r)
			}
			if r.Kind == "switch" && r.Tier == "spine" && (r.Lost || r.Alike != 2 || r.Step < v.Base) {
				t.Errorf("%+v, without failure %v", r, v.Base)
			}
		}
		if members != v.Sums.Elements {
			t.Errorf("rows stand for %d elements of %d", members, v.Sums.Elements)
		}
		if first == nil {
			first = v
			continue
		}
		for i := range v.Rows {
			if v.Rows[i].Name != first.Rows[i].Name || v.Rows[i].Step != first.Rows[i].Step {
				t.Errorf("%d workers: %+v, one: %+v", workers, v.Rows[i], first.Rows[i])
			}
		}
	}
}

// A failure behind the end of the step, or at no time at all, is refused: nothing would fail.
func TestTimeOfFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rails.yaml")
	if err := os.WriteFile(path, []byte(rails), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ at, want string }{
		{"5s", "is not within the step of rails"},
		{"soon", "expected a time"},
		{"-1us", "expected a time"},
		{"100000s", "expected a time"},
		{"10us", ""},
	} {
		s := Study{Kinds: []string{"switch"}, PerClass: 1, Runs: 100, At: c.at, Pool: &study.Pool{Workers: 1}}
		all, err := s.Variants(study.Matrix{Scenarios: []string{path}})
		if err == nil {
			err = s.Simulate(context.Background(), all[0])
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("--at %s: %v, expected %q", c.at, err, c.want)
		}
	}
}
