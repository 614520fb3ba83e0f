package explain_test

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/whatif"
)

// TestPlace checks what the account says of messages that no packet looked at explains: their packets were trimmed, or
// queued at another port than those that were looked at, or their acknowledgements queued. What is said to be saved
// without the cause is what a run without it saves, within a fifth.
func TestPlace(t *testing.T) {
	for name, c := range map[string]struct {
		of   cause.ID
		text string
	}{
		"all-to-all over a slow uplink, sprayed": {cause.SlowLink, `
fabric: {kind: rail, hosts: 4, segments: 4, spines: 2, uplinks: 0, host_link: {rate: 400Gbps, cable: 5m},
  fabric_link: {rate: 800Gbps, cable: 30m}, pipeline: 300ns, cut_through: true}
server: {gpus: 1, nics: 1}
transport: {recovery: selective, write: only}
cc: {algorithm: none}
lb: spray-least
workload: {traffic: {alltoall: {bytes: 2174435B}}}
events: [{switch: spine-2, at: 38.4us, rate_share: 0.47}, {link: 'seg-1-rail-1:Eth5', at: 0s, rate_share: 0.44}]
`},
		"MRC reacts to one slow path of several": {cause.SlowLink, `
fabric: {kind: rail, hosts: 3, segments: 2, spines: 2, uplinks: 0, host_link: {rate: 100Gbps, cable: 5m},
  fabric_link: {rate: 100Gbps, cable: 30m}, pipeline: 500ns}
server: {gpus: 2, nics: 2, nic_latency: 0ns}
lb: ecmp
transport: mrc
workload: {traffic: {alltoall: {bytes: 4500284B}}}
events: [{switch: spine-2, at: 0s, rate_share: 0.11}]
`},
		"short messages trimmed at a slow switch": {cause.SlowLink, `
fabric: {kind: rail, hosts: 5, segments: 2, spines: 2, uplinks: 0, host_link: {rate: 25Gbps, cable: 3m},
  fabric_link: {rate: 25Gbps, cable: 30m}, pipeline: 1us}
server: {gpus: 4, nics: 4}
lb: ecmp
transport: mrc
workload: {traffic: {alltoall: {bytes: 700000B}}}
events: [{switch: spine-2, at: 51.8us, rate_share: 0.12}]
`},
		"acknowledgements behind data on a slow link": {cause.SlowLink, `
fabric: {kind: rail, hosts: 4, segments: 2, spines: 1, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
transport: {recovery: selective, write: only}
cc: {algorithm: nscc}
lb: ecmp
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-5/gpu-1, bytes: 8MB},
  {from: host-2/gpu-1, to: host-6/gpu-1, bytes: 8MB}, {from: host-7/gpu-1, to: host-3/gpu-1, bytes: 40MB}]}}
events: [{link: 'seg-1-rail-1:Eth5', at: 0s, rate_share: 0.1, direction: out}]
`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &whatif.Scenario{Name: "test.yaml", Text: []byte("name: test\n" + c.text)}
			base, err := s.Run(&whatif.Unchanged, whatif.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			known := facts.Of(base.Plan)
			facts.Count(known, base.Summary)
			without := c.of.Get().Without(known)
			other, err := s.Run(&without, whatif.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			saves, says := base.Summary.StepTime-other.Summary.StepTime, base.Summary.Chain.Saving[c.of]
			t.Logf("without %s %d ps of %d are saved, said are %d", c.of.Get().Name, saves, base.Summary.StepTime, says)
			if 5*abs(says-saves) > saves {
				t.Errorf("not within a fifth")
			}
		})
	}
}
