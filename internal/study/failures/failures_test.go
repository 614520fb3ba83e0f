package failures

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/result"
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

// Of equivalent elements one is simulated and represents all. A server's only NIC is a single point of failure; one
// of two spines is not. The result of the study does not depend on the number of workers.
func TestSimulate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rails.yaml")
	if err := os.WriteFile(path, []byte(rails), 0o600); err != nil {
		t.Fatal(err)
	}
	var first *Variant
	for _, workers := range []int{1, 3} {
		s := Study{Kinds: []string{"nic", "nvswitch", "switch"}, PerClass: 1, Runs: 100, Pool: &study.Pool{Workers: workers}}
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
		if !slices.Contains(v.Notes, "the fabric has nothing of nvswitch") {
			t.Errorf("notes %q", v.Notes)
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

// A failure after the end of the step, or without a time, is rejected, because it would have no effect.
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

// straggling is a permutation whose slowest message ends long after most others, so a failure at half of the step
// costs nothing.
const straggling = `
name: straggling
fabric: {kind: rail, segments: 2, hosts: 8, spines: 4, uplinks: 1, host_link: {rate: 100Gbps},
         fabric_link: {rate: 200Gbps}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {permutation: {bytes: 4MB}}}
`

// TestTime checks that a failure occurs while at least half of the traffic is undelivered, or that a note gives the
// share.
func TestTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "straggling.yaml")
	if err := os.WriteFile(path, []byte(straggling), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at    string
		noted bool
	}{{"", false}, {"450us", true}} {
		s := Study{Kinds: []string{"switch"}, At: c.at, PerClass: 1, Runs: 100, Pool: &study.Pool{Workers: 1}}
		all, err := s.Variants(study.Matrix{Scenarios: []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		v := all[0]
		if err := s.Simulate(context.Background(), v); err != nil {
			t.Fatal(err)
		}
		noted := slices.ContainsFunc(v.Notes, func(n string) bool { return strings.Contains(n, "undelivered at the failure") })
		if v.Left == nil || *v.Left < 0.5 != c.noted || noted != c.noted || v.At > v.Base/2 != c.noted {
			t.Errorf("--at %q: at %g of %g s, %v left, %q", c.at, v.At, v.Base, *v.Left, v.Notes)
		}
	}
}

// TestHalfway checks the time by which half of the traffic is delivered.
func TestHalfway(t *testing.T) {
	flows := []result.FlowRow{{Bytes: 100, Done: 100}, {Bytes: 100, Done: 100}, {Bytes: 2, Done: 1000},
		{Bytes: 9, Done: -1}}
	if at := halfway(flows, 500); at < 50 || at > 51 {
		t.Errorf("%d", at)
	}
	if left, ok := undelivered(nil, 5); ok || left != 0 {
		t.Errorf("%g", left)
	}
}

// TestFaster checks why steps are shorter than without failure. Hashing is named only if ECMP hashes, and time-outs
// only if the step without failure has some.
func TestFaster(t *testing.T) {
	for _, c := range []struct {
		lb       string
		timeouts int64
		want     string
	}{{"ecmp", 0, "ECMP hashed"}, {"spray-least", 0, "packets take other paths"},
		{"spray-least", 1, "that one has 1 time-out and 0 retransmissions"}, {"ecmp", 1, "that one has 1 time-out"}} {
		path := filepath.Join(t.TempDir(), "rails.yaml")
		if err := os.WriteFile(path, []byte(rails), 0o600); err != nil {
			t.Fatal(err)
		}
		s := Study{Kinds: []string{"switch"}, Pool: &study.Pool{}}
		all, err := s.Variants(study.Matrix{Scenarios: []string{path}, Set: []string{"lb=" + c.lb}})
		if err != nil {
			t.Fatal(err)
		}
		all[0].base = &result.Summary{Timeouts: c.timeouts}
		if got := all[0].faster(); !strings.Contains(got, ": "+c.want) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
