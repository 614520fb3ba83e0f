package explain_test

import (
	"os"
	"testing"

	"railyard/internal/result"
	"railyard/internal/scenario"
	"railyard/internal/sim"
)

// load builds the run of a scenario text.
func load(t testing.TB, text string, sets ...string) *sim.Run {
	t.Helper()
	d, err := scenario.Parse("test.yaml", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(func(name string) ([]byte, error) { return os.ReadFile("testdata/" + name) })
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runAll simulates a scenario's packets to the end and explains the run.
func runAll(t testing.TB, text string, sets ...string) (*sim.Run, *result.Summary, *result.Tables) {
	t.Helper()
	r := load(t, text, sets...)
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	s, tab, _ := r.Outcome("test")
	return r, s, tab
}

// A port that is down during the whole run lowers the bound as a NIC at half rate does; one that fails later does not.
func TestBoundOfFailedPort(t *testing.T) {
	const text = "fabric: {kind: pod, segments: 1, hosts: 2, spines: 1, host_link: {rate: 200Gbps}}\n" +
		"server: {gpus: 2, nics: 2, nic_ports: 2, bond: affinity}\n" +
		"transport: {qps: 2, recovery: selective, write: only}\ncc: {algorithm: none}\nlb: spray-least\n" +
		"workload: {traffic: {collective: {kind: all-reduce, bytes: 4MB, algorithm: ring, channels: 2}}}\n"
	for _, c := range []struct {
		event string
		want  float64 // of the bound without events
	}{{"", 1}, {"events: [{nic: host-1/nic-1, rate_share: 0.5, at: 0s}]\n", 0.5},
		{"failures: [{link: 'host-1:nic1', at: 0s}]\n", 0.5}, {"failures: [{link: 'host-1:nic1', at: 20us}]\n", 1}} {
		_, whole, _ := runAll(t, text)
		_, s, _ := runAll(t, text+c.event)
		if got := s.Collectives[0].Bound / whole.Collectives[0].Bound; got != c.want {
			t.Errorf("%q: %g of the bound, want %g", c.event, got, c.want)
		}
	}
}
