package explain_test

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/facts"
)

// TestStorageCauses checks that slow media and full NICs of storage servers are causes of their own, with remedies at
// the servers, and that reads of all ranks together fill what bounds them.
func TestStorageCauses(t *testing.T) {
	const text = `name: sto
fabric: {kind: rail, segments: 1, hosts: 2, spines: 2, host_link: {rate: 400Gbps, cable: 5m}, ` +
		`fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpu: h100, gpus: 8, nics: 8}
storage: {servers: 2}
workload: {traffic: {storage: {read: 25MB, write: 0MB}}}
`
	slow := []string{"storage.read=80Gbps"}
	r, s, _ := runAll(t, text, slow...)
	without := cause.ID(cause.StorageMedia).Get().Without(facts.Of(r.Plan))
	_, fast, _ := runAll(t, text, append(slow, without.Set...)...)
	saved := float64(s.StepTime-fast.StepTime) / float64(s.StepTime)
	d := float64(s.Chain.Saving[cause.StorageMedia])/float64(s.StepTime) - saved
	if saved < 0.7 || d < -0.02 || d > 0.02 {
		t.Errorf("of %d ps media cost %d, save %d, simulated %.3f", s.StepTime, s.Chain.Own[cause.StorageMedia],
			s.Chain.Saving[cause.StorageMedia], saved)
	}
	if !hasRemedy(s, "storage.servers=4") || !hasRemedy(s, "storage.read=160Gbps") {
		t.Errorf("%+v", s.Remedies)
	}
	for name, x := range map[string]float64{"storage media": s.Collectives[0].BusBW / s.Collectives[0].Bound,
		"NIC": fast.Collectives[0].BusBW / fast.Collectives[0].Bound} {
		if x < 0.85 || x > 1 {
			t.Errorf("%s is in use for %.3f of the time", name, x)
		}
	}
	if own := fast.Chain.Own; own[cause.StorageNIC] < fast.StepTime/2 || own[cause.StorageMedia] > 0 ||
		own[cause.SharedNIC] > fast.StepTime/20 || !hasRemedy(fast, "storage.nics=4") {
		t.Errorf("without media of %d ps: %+v, %+v", fast.StepTime, own, fast.Remedies)
	}
}
