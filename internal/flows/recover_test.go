package flows_test

import (
	"fmt"
	"math"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/exec"
	"railyard/internal/flows"
	"railyard/internal/result"
	"railyard/internal/sim"
	"railyard/scenarios"
	"railyard/unit"
)

// packets runs a scenario text by packets and returns when its first flow ends.
func packets(t *testing.T, text string, sets ...string) unit.Time {
	t.Helper()
	r, err := sim.New(planned(t, text, sets...))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Go(nil); err != nil {
		t.Fatal(err)
	}
	_, tab, _ := r.Outcome("test")
	return unit.Time(tab.Flows[0].Done)
}

// TestRecovery breaks a link under a queue pair: packets that follow by new routes show the gap, so it goes back at
// once where it still had some to send when routes converged, and only then: else it waits for its ACK timeout.
func TestRecovery(t *testing.T) {
	const mb = 1 << 20
	text := pair + traffic([3]int{1, 3, 8 * mb})
	r, _, _ := run(t, text)
	uplink := r.Observe().Ports[r.Hosts.Path(0)[1]].Link
	name := r.Graph.End(int(uplink), r.Graph.Links[uplink].A)
	for _, converge := range []string{"0us", "20us", "200us", "1ms"} {
		down := text + fmt.Sprintf("events:\n  - {at: 300us, link: %q, up: false, converge: %s}\n", name, converge)
		_, s, tab := run(t, down)
		got, want := float64(tab.Flows[0].Done), float64(packets(t, down))
		if math.Abs(got-want) > 0.05*want || !s.Complete {
			t.Errorf("routes converge after %s: %v as flows, %v by packets", converge, unit.Time(got), unit.Time(want))
		}
	}
}

// What congestion control withholds from flows is booked to it and not to latency, which packets and flows have alike.
func TestWithheldIsNoLatency(t *testing.T) {
	share := func(fidelity string) map[string]int64 {
		p, err := planned(t, scenarios.Texts()["three-flows.yaml"], "fidelity="+fidelity), error(nil)
		var r interface {
			Go(exec.Observer) error
			Outcome(string) (*result.Summary, *result.Tables, []string)
		}
		if fidelity == "flow" {
			r, err = flows.Build(p, flows.Estimate(p))
		} else {
			r, err = sim.New(p)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Go(nil); err != nil {
			t.Fatal(err)
		}
		s, _, _ := r.Outcome("test")
		got := map[string]int64{}
		for _, c := range []cause.ID{cause.Latency, cause.Recovering, cause.Incast, cause.Oversubscription} {
			got[c.Get().Key] = s.Chain.Of(c)
		}
		return got
	}
	packet, flow := share("packet"), share("flow")
	key := func(id cause.ID) string { return id.Get().Key }
	for _, id := range []cause.ID{cause.Latency, cause.Incast, cause.Oversubscription} {
		if a, b := packet[key(id)], flow[key(id)]; math.Abs(float64(a-b)) > 0.02*float64(a) {
			t.Errorf("%s: %v by packets, %v as flows", key(id), unit.Time(a), unit.Time(b))
		}
	}
	if flow[key(cause.Recovering)] < packet[key(cause.Recovering)]/2 {
		t.Errorf("CC recovering: %v by packets, %v as flows", unit.Time(packet[key(cause.Recovering)]),
			unit.Time(flow[key(cause.Recovering)]))
	}
}
