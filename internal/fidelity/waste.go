package fidelity

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/scenario"
)

// Waste returns the ratio of transfer times under a congestion control to those without any, on an idle path. It
// consists of the control's headers, its acknowledgements, and the rate that it leaves unused. The reference is a
// ring of four servers on one switch. It has the plan's NIC rate, transport, cables to servers, switch queues and
// parameters. It excludes the effects of congestion.
func Waste(p *scenario.Plan, algorithm string) (float64, error) {
	text := fmt.Sprintf("name: reference\n"+"fabric: {kind: rail-only, hosts: 4, host_link: {rate: %dbps}}\n"+
		"server: {gpus: 1, nics: 1}\n"+
		"workload: {traffic: {ring-allreduce: {bytes: 16MB}}}\n", int64(p.NICs.Rate))
	keys, values := p.Resolved()
	var sets []string
	for _, key := range keys {
		if slices.ContainsFunc([]string{"transport.", "switch.", "cc." + algorithm + ".", "fabric.host_link.",
			"fabric.pipeline", "server.nic_latency"},
			func(block string) bool { return strings.HasPrefix(key, block) }) {
			sets = append(sets, key+"="+values[key])
		}
	}
	with, err := referenceTime(text, append(slices.Clone(sets), "cc.algorithm="+algorithm))
	if err != nil {
		return 0, fmt.Errorf("what %s wastes: %w", algorithm, err)
	}
	without, err := referenceTime(text, append(slices.Clone(sets), "cc.algorithm=none"))
	if err != nil {
		return 0, fmt.Errorf("what %s wastes: %w", algorithm, err)
	}
	return with / without, nil
}

func referenceTime(text string, sets []string) (float64, error) {
	d, err := scenario.Parse("reference", []byte(text), sets)
	if err != nil {
		return 0, err
	}
	p, err := d.Resolve(nil)
	if err != nil {
		return 0, err
	}
	r, err := New(Default, p, 0)
	if err != nil {
		return 0, err
	}
	if err := r.Go(nil); err != nil {
		return 0, err
	}
	if err := r.Failed(); err != nil {
		return 0, err
	}
	s, _, _ := r.Outcome("")
	return float64(s.StepTime), nil
}
