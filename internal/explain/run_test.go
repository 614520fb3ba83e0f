package explain_test

import (
	"os"
	"testing"

	"railyard/internal/cause"
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
	if c := s.Chain; c != nil && s.PFCPauses == 0 && s.PacketHops > 0 && c.Costs(cause.Pause) > 0 {
		t.Errorf("%d ps for pauses in a run without any", c.Costs(cause.Pause))
	}
	return r, s, tab
}

// TestNoPauses checks messages at random times, which queue at receivers' links and never long enough for a pause.
func TestNoPauses(t *testing.T) {
	_, s, _ := runAll(t, "fabric: {kind: single-rail, hosts: 32, host_link: {rate: 100Gbps}}\n"+
		"server: {gpus: 1, nics: 1, nic_latency: 0s}\ncc: {algorithm: none}\n"+
		"workload: {traffic: {background: {load: 50, sizes: 4096B, for: 1ms}}}\n")
	if lost := s.Chain.Lost(); s.PFCPauses > 0 || lost > s.Flows.Max {
		t.Errorf("%d ps above line rate, %d pauses; the slowest message takes %d ps", lost, s.PFCPauses, s.Flows.Max)
	}
}

// The bound is that of healthy ports: failed and slow ones are causes of the account, whose time is above their nominal
// rate, too.
func TestBoundWithFaults(t *testing.T) {
	const text = "fabric: {kind: pod, segments: 1, hosts: 2, spines: 1, host_link: {rate: 200Gbps}}\n" +
		"server: {gpus: 2, nics: 2, nic_ports: 2, bond: affinity}\n" +
		"transport: {qps: 2, recovery: selective, write: only}\ncc: {algorithm: none}\nlb: spray-least\n" +
		"workload: {traffic: {collective: {kind: all-reduce, bytes: 4MB, algorithm: ring, channels: 2}}}\n"
	_, whole, _ := runAll(t, text)
	for event, id := range map[string]cause.ID{
		"events: [{nic: host-1/nic-1, rate_share: 0.5, at: 0s}]\n": cause.SlowLink,
		"failures: [{link: 'host-1:nic1', at: 0s}]\n":              cause.FailedCapacity,
		"failures: [{link: 'host-1:nic1', at: 20us}]\n":            cause.Retransmission,
	} {
		_, s, _ := runAll(t, text+event)
		c := &s.Collectives[0]
		lost := float64(s.Chain.Lost()) / float64(s.StepTime)
		if c.Bound != whole.Collectives[0].Bound || s.Chain.Ranked(0)[0] != id || c.BusBW/c.Bound+lost < 0.8 {
			t.Errorf("%q: bound %g, %g without faults; %.2f of it, %.2f lost, first %v", event, c.Bound,
				whole.Collectives[0].Bound, c.BusBW/c.Bound, lost, s.Chain.Ranked(0)[0].Get().Key)
		}
	}
}
