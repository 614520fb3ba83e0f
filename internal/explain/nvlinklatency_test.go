package explain_test

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/whatif"
)

// A step's latency is NVLink's as far as its tensor parallel groups wait for it: the rest is that of cables, switches
// and NICs.
func TestNVLinkLatency(t *testing.T) {
	for at, most := range map[[2]string]bool{
		{"gpus: 4, nics: 4", "tp: 4, dp: 2"}: true,
		{"gpus: 1, nics: 1", "tp: 1, dp: 2"}: false,
	} {
		s := &whatif.Scenario{Name: "nvlink.yaml", Text: []byte(`
fabric: {kind: rail, hosts: 2, spines: 1, host_link: {rate: 400Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {` + at[0] + `}
workload: {training: {model: gpt3-125m, sequence: 128, ` + at[1] + `}}
`)}
		o, err := s.Run(&whatif.Unchanged, whatif.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		all, inside := o.Summary.Chain.Own[cause.Latency], o.Summary.NVLinkLatency
		if all <= 0 || inside > all || (2*inside > all) != most {
			t.Errorf("%v: NVLink's are %d of %d ps", at, inside, all)
		}
	}
}
