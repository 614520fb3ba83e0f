package sim

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"
)

// TestRandomLoss sends messages of 64 packets one after another between two hosts, with random loss of packets and
// answers. Transports that recover by packet rather than by time-out stay near the time without loss at 1 %. They
// are faster than selective repeat, RoCE's better mode, by more the more is lost.
func TestRandomLoss(t *testing.T) {
	const messages = 40
	var ops strings.Builder
	for i := range messages {
		after := ""
		if i > 0 {
			after = fmt.Sprintf(", after: [m%d]", i-1)
		}
		fmt.Fprintf(&ops, "    - {id: m%d, gpu: host-1/gpu-1, to: host-2/gpu-1, send: 256KiB%s}\n", i, after)
	}
	took := func(transport string, loss float64) (mean unit.Time) {
		t.Helper()
		const seeds = 3
		for seed := range seeds {
			plan, err := parsed(fmt.Sprintf("name: loss\nfabric: {kind: single-rail, hosts: 2, host_link: {rate: 100Gbps, "+
				"cable: 3m, bit_error_rate: %.3g}}\nserver: {gpus: 1, nics: 1}\nworkload:\n  ops:\n%s",
				loss/2/8/(4096+82), ops.String()), []string{"transport=" + transport, fmt.Sprint("seed=", seed+1)})
			if err != nil {
				t.Fatal(err)
			}
			r, err := New(plan)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Go(nil); err != nil {
				t.Fatal(err)
			}
			mean += r.Net.Q.Now() / messages / seeds
		}
		return mean
	}
	clean := took("roce-selective", 0)
	rc := map[float64]unit.Time{0.01: took("roce-selective", 0.01), 0.05: took("roce-selective", 0.05)}
	for _, c := range []struct {
		transport string
		at1, at5  float64 // maximum, relative to the time without loss
	}{{"mrc", 1.25, 3}, {"srd", 1.1, 1.2}, {"falcon", 1.1, 1.2}} {
		one, five := took(c.transport, 0.01), took(c.transport, 0.05)
		t.Logf("%s: %v without loss, %v at 1 %% (selective repeat %v), %v at 5 %% (%v)", c.transport, clean, one, rc[0.01],
			five, rc[0.05])
		if float64(one) > c.at1*float64(clean) || float64(five) > c.at5*float64(clean) || one > rc[0.01] ||
			five > rc[0.05] {
			t.Errorf("%s: %v at 1 %%, %v at 5 %%, %v without loss; selective repeat %v, %v", c.transport, one, five, clean,
				rc[0.01], rc[0.05])
		}
	}
}
