package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"railyard/internal/cause"
	"railyard/internal/facts"
	"railyard/internal/result"
)

// TestOnePortOfBundle checks what a connection costs whose only queue pair uses one port of its NIC's bundle: as much
// as a run saves in which it has one per port and packets are sprayed. Between switches they are so without congestion
// control here: DCQCN cuts the rates of sprayed packets that meet.
func TestOnePortOfBundle(t *testing.T) {
	const ring = `{ring-allreduce: {bytes: 40MB}}`
	const links = `host_link: {rate: 200Gbps, cable: 5m}, fabric_link: {rate: 400Gbps, cable: 30m}}`
	const rail = `{kind: pod, segments: 1, hosts: 4, spines: 2, ` + links
	const pod = `{kind: pod, segments: 2, hosts: 4, spines: 4, uplinks: 4, ` + links
	for _, c := range []struct {
		fabric, traffic, bond string
		sets                  []string
		least                 float64 // of the step; 0: under 1 %
	}{
		{rail, ring, "hash", nil, 0.48},
		{rail, ring, "affinity", nil, 0.48},
		{pod, ring, "affinity", []string{"cc.algorithm=none"}, 0.48},
		{pod, ring, "hash", []string{"lb=spray", "cc.algorithm=none", "transport.recovery=selective",
			"transport.write=only"}, 0.48},
		{rail, ring, "affinity", []string{"transport.qps=2"}, 0},
		{rail, ring, "spray", []string{"transport.recovery=selective", "transport.write=only"}, 0},
		{rail, ring, "hash", []string{"transport=mrc"}, 0},
		{rail, `{alltoall: {bytes: 16MB}}`, "affinity", nil, 0.48},
	} {
		text := fmt.Sprintf("name: bundle\nfabric: %s\nserver: {gpus: 1, nics: 1, nic_ports: 2, bond: %s}\n"+
			"workload: {traffic: %s}\n", c.fabric, c.bond, c.traffic)
		r, s, _ := runAll(t, text, c.sets...)
		cost, step := s.Chain.Own[cause.OnePort], float64(s.StepTime)
		name := fmt.Sprint(c.traffic, " ", c.bond, " ", c.sets)
		if c.least == 0 {
			if float64(cost) > 0.01*step {
				t.Errorf("%s: %d of %d ps for one port", name, cost, s.StepTime)
			}
			continue
		}
		without := cause.ID(cause.OnePort).Get().Without(facts.Of(r.Plan))
		_, other, _ := runAll(t, text, append(c.sets, without.Set...)...)
		saved := s.StepTime - other.StepTime
		d := float64(s.Chain.Saving[cause.OnePort]-saved) / step
		if d < -0.02 || d > 0.02 || float64(cost) < c.least*step {
			t.Errorf("%s: costs %d, saves %d, simulated %d of %d ps", name, cost, s.Chain.Saving[cause.OnePort], saved,
				s.StepTime)
		}
		if !strings.Contains(s.Slowest.Why, "one port of a bundle") || !hasRemedy(s, "transport.qps=2") {
			t.Errorf("%s: %s, %+v", name, s.Slowest.Why, s.Remedies)
		}
	}
}

// hasRemedy reports whether some remedy of a run sets something.
func hasRemedy(s *result.Summary, set string) bool {
	for i := range s.Remedies {
		for _, one := range s.Remedies[i].Set {
			if one == set {
				return true
			}
		}
	}
	return false
}
