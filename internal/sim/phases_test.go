package sim

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"
)

// trained is four servers whose switches an OCS connects as a ring for gradients, and fully for tokens.
const trained = `
fabric:
  kind: graph
  allow_deadlock: true
  host_link: {rate: 400Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  graph:
    hosts: [h1, h2, h3, h4]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}, {name: s3, role: leaf},
      {name: s4, role: leaf}]
    links: [{from: h1, to: s1}, {from: h2, to: s2}, {from: h3, to: s3}, {from: h4, to: s4},
      {from: s1, to: ocs-1, count: 4}, {from: s2, to: ocs-1, count: 4}, {from: s3, to: ocs-1, count: 4},
      {from: s4, to: ocs-1, count: 4}]
    ocs: [{name: ocs-1, ports: 16, reconfigure: %s, circuits: %s%s}]
server: {gpus: 1, nics: 1}
lb: spray
transport: {recovery: selective, write: only}
cc: {algorithm: none}
workload: {training: {model: small.json, dp: 4, sequence: 128, micro_batch: 1, bucket: 1GB, %s}}
`

const (
	// each to the next by two fibres; each to the others by one, and once more across
	ringMap = "[1-7, 2-8, 5-11, 6-12, 9-15, 10-16, 13-3, 14-4]"
	meshMap = "[1-5, 2-9, 3-13, 6-10, 7-14, 11-15]"
)

// Mirrors move when a phase of the job requires it, and the job's transfers wait for them. Nothing is lost or
// retransmitted, and the step takes longer by the time of the moves.
func TestCircuitsMoveByPhases(t *testing.T) {
	step := func(reconfigure, phases, rest string) (unit.Time, string) {
		t.Helper()
		r, s, _ := runAll(t, fmt.Sprintf(trained, reconfigure, ringMap, phases, rest))
		if s.Drops > 0 || s.Timeouts > 0 {
			t.Errorf("%s: %d packets are lost, %d time-outs", phases, s.Drops, s.Timeouts)
		}
		told := ""
		for _, e := range r.Plan.Events {
			if !e.FromStart() && !strings.HasSuffix(told, fmt.Sprint(e.Up)) {
				told += fmt.Sprint(" ", e.Up)
			}
		}
		return unit.Time(s.StepTime), told
	}
	const us = unit.Microsecond
	phases := ", phases: [{of: [other], circuits: " + meshMap + "}, {of: [dp], circuits: " + ringMap + "}]"
	still, told := step("1ms", "", "overlap: false")
	if told != "" {
		t.Errorf("circuits without phases move:%s", told)
	}
	same, told := step("1ms", phases, "overlap: false")
	if same != still || told != "" {
		t.Errorf("%v and%s where one phase has the map that is there, %v without", same, told, still)
	}
	other := strings.NewReplacer("[other]", "[dp]", "[dp]", "[other]").Replace(phases)
	var last unit.Time
	for i, reconfigure := range []unit.Time{100 * us, 1100 * us, 5100 * us} {
		took, told := step(reconfigure.String(), other, "overlap: false")
		if told != " false true" {
			t.Errorf("circuits go%s, want down and up once", told)
		}
		if i > 0 && took-last != reconfigure-[]unit.Time{100 * us, 1100 * us, 5100 * us}[i-1] {
			t.Errorf("a step of %v with mirrors of %v, %v before", took, reconfigure, last)
		}
		last = took
	}
}
