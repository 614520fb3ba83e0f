package flows_test

import (
	"fmt"
	"math"
	"testing"

	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

// packets runs a scenario text by packets and returns when its first flow ends.
func packets(t *testing.T, text string, sets ...string) unit.Time {
	t.Helper()
	d, err := scenario.Parse("test", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.New(p)
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
