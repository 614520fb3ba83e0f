package sim

import (
	"testing"

	"railyard/unit"
)

// A cable down from a spine runs at a tenth. Switches that know only their own ports go on sending an eighth of the
// packets to the slow path and wait for them. Switches with grades from the spine avoid it, except for packets in
// flight and for the slow path's own capacity.
func TestGradesOfNeighbours(t *testing.T) {
	const text = `
name: slow
fabric: {kind: rail, hosts: 8, segments: 2, spines: 8, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 10m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {recovery: selective, write: only, nak_after: 32767, window: 32768}
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-9/gpu-1, bytes: 8MB}
      - {from: host-2/gpu-1, to: host-10/gpu-1, bytes: 8MB}
      - {from: host-3/gpu-1, to: host-11/gpu-1, bytes: 8MB}
      - {from: host-4/gpu-1, to: host-12/gpu-1, bytes: 8MB}
      - {from: host-5/gpu-1, to: host-13/gpu-1, bytes: 8MB}
      - {from: host-6/gpu-1, to: host-14/gpu-1, bytes: 8MB}
`
	const slow = "events: [{link: 'seg-2-rail-1:Eth12', at: 0s, rate_share: 0.1, direction: in}]\n"
	took := map[string]unit.Time{}
	for _, lb := range []string{"dlb", "glb"} {
		for name, text := range map[string]string{"whole": text, "slow": text + slow} {
			r, s, _ := runAll(t, text, "lb="+lb)
			if err := r.Net.Audit(); err != nil || s.Drops > 0 {
				t.Fatalf("%s, %s: %v, %d packets lost", lb, name, err, s.Drops)
			}
			took[lb+" "+name] = unit.Time(s.StepTime)
		}
	}
	line := unit.Serialize(8_000_000*4178/4096, 100*unit.Gbps)
	for _, lb := range []string{"dlb", "glb"} {
		if got := took[lb+" whole"]; got > line*21/20 {
			t.Errorf("%s with all cables whole: %v, at line rate %v", lb, got, line)
		}
	}
	// Six flows at line rate need seven tenths of the capacity of eight cables, so the others suffice without the
	// slow one.
	if got := took["glb slow"]; got > line*5/4 {
		t.Errorf("glb: %v, at line rate %v", got, line)
	}
	if got := took["dlb slow"]; got < 2*took["glb slow"] {
		t.Errorf("dlb: %v, glb: %v", got, took["glb slow"])
	}
}
