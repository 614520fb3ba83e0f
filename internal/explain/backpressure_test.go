package explain_test

import (
	"testing"

	"railyard/internal/cause"
	"railyard/unit"
)

// TestBackpressure checks the effect of PFC alone on flows beside an incast. The expected times are computed here
// from shares. Hosts 1 to 4 send at 100 Gbit/s over one uplink of 200 Gbit/s. Two of them send 4 MB each to host 5,
// and the others send 12 MB each to hosts 6 and 7. All flows run at 50 Gbit/s until the incast ends at 640 us. The
// others need 640 us more. Faster links between switches save nothing: the receiver's queue pauses the uplink, so
// the other flows get no more rate than those of the incast. Without the pauses 25 % would be saved.
func TestBackpressure(t *testing.T) {
	_, s, _ := runAll(t, `
fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 200Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
switch: {queues: {3: {xoff: 60KB, xon: 30KB}}}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-5/gpu-1, bytes: 4MB}, {from: host-2/gpu-1,
  to: host-5/gpu-1, bytes: 4MB}, {from: host-3/gpu-1, to: host-6/gpu-1, bytes: 12MB}, {from: host-4/gpu-1,
  to: host-7/gpu-1, bytes: 12MB}]}}`)
	least := int64(unit.Serialize(16*unit.MB, 100*unit.Gbps))
	if s.StepTime < least || s.StepTime > least*110/100 {
		t.Fatalf("the step takes %v", unit.Time(s.StepTime))
	}
	for id, most := range map[cause.ID]int64{cause.Oversubscription: 5, cause.Incast: 5} {
		if saves := s.Chain.Saving[id]; 100*saves > most*s.StepTime {
			t.Errorf("without %s alone %v of %v are expected to be saved", id.Get().Name, unit.Time(saves),
				unit.Time(s.StepTime))
		}
	}
}
