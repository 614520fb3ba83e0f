package explain_test

import (
	"strings"
	"testing"

	"railyard/internal/cause"
)

// TestFixedRoutes checks that flows meet by oversubscription where routing leaves each one path: nothing is hashed.
func TestFixedRoutes(t *testing.T) {
	_, s, _ := runAll(t, `name: torus
fabric: {kind: torus, k: 3, hosts: 1, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
lb: dimension-order
workload: {traffic: {permutation: {bytes: 1MB}}}
`)
	if a := s.Chain; a.Of(cause.Collision) > 0 || 5*a.Costs(cause.Oversubscription) < s.StepTime ||
		!strings.Contains(s.Slowest.Why, "oversubscription: ") ||
		!strings.Contains(s.Slowest.Why, "the path of dimension-order routing") {
		t.Errorf("%v\n%s", a, s.Slowest.Why)
	}
}

// TestIncastOverSwitches checks that flows to one receiver are an incast although a link between switches on their only
// path is as full as the receiver's.
func TestIncastOverSwitches(t *testing.T) {
	_, s, _ := runAll(t, `name: chain
fabric: {kind: rail, segments: 2, hosts: 4, spines: 1, uplinks: 1, host_link: {rate: 100Gbps},
  fabric_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [
  {from: host-5/gpu-1, to: host-1/gpu-1, bytes: 2MB}, {from: host-6/gpu-1, to: host-1/gpu-1, bytes: 2MB},
  {from: host-7/gpu-1, to: host-1/gpu-1, bytes: 2MB}]}}
`)
	if a := s.Chain; 20*a.Costs(cause.Oversubscription) > s.StepTime || 4*a.Costs(cause.Incast) < s.StepTime {
		t.Errorf("incast costs %d ps, oversubscription %d, of %d", a.Costs(cause.Incast),
			a.Costs(cause.Oversubscription), s.StepTime)
	}
}

// TestSlowUplink checks that a slow link is the cause where uplinks would carry all that NICs send without it.
func TestSlowUplink(t *testing.T) {
	_, s, _ := runAll(t, `name: slow-uplink
fabric: {kind: rail, segments: 2, hosts: 4, spines: 4, uplinks: 1, host_link: {rate: 100Gbps},
  fabric_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
lb: spray-least
cc: {algorithm: none}
transport: {recovery: selective, write: only}
events: [{link: "seg-1-rail-1:Eth5", at: 0s, rate_share: 0.01}]
workload: {traffic: {flows: [
  {from: host-1/gpu-1, to: host-5/gpu-1, bytes: 4MB}, {from: host-2/gpu-1, to: host-6/gpu-1, bytes: 4MB},
  {from: host-3/gpu-1, to: host-7/gpu-1, bytes: 4MB}, {from: host-4/gpu-1, to: host-8/gpu-1, bytes: 4MB}]}}
`)
	if a := s.Chain; 50*a.Costs(cause.Oversubscription) > s.StepTime || 10*a.Costs(cause.SlowLink) < s.StepTime {
		t.Errorf("the slow link costs %d ps, oversubscription %d, of %d", a.Costs(cause.SlowLink),
			a.Costs(cause.Oversubscription), s.StepTime)
	}
}
