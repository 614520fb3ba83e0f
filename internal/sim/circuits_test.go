package sim

import (
	"fmt"
	"strings"
	"testing"

	"railyard/unit"
)

// phases is four switches that an OCS connects in pairs, first 1 to 2 and 3 to 4, then 1 to 3 and 2 to 4.
const phases = `
fabric:
  kind: graph
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 100Gbps, cable: 30m}
  graph:
    hosts: [h1, h2, h3, h4]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}, {name: s3, role: leaf}, {name: s4, role: leaf}]
    links: [{from: h1, to: s1}, {from: h2, to: s2}, {from: h3, to: s3}, {from: h4, to: s4},
      {from: s1, to: ocs-1}, {from: s2, to: ocs-1}, {from: s3, to: ocs-1}, {from: s4, to: ocs-1}]
    ocs: [{name: ocs-1, ports: 4, reconfigure: %v, circuits: [1-2, 3-4],
      schedule: [{at: 20ms, circuits: [1-3, 2-4]}]}]
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
workload: {traffic: {flows: [%s]}}
`

// A circuit carries traffic as a cable does. While it moves, no packet passes. Packets sent then are retransmitted
// after the move; packets sent later are unaffected.
func TestCircuitsMove(t *testing.T) {
	took := func(reconfigure unit.Time, flow string) unit.Time {
		r, s, _ := runAll(t, fmt.Sprintf(phases, reconfigure, flow))
		if early := strings.Contains(flow, "start: 40ms"); early && s.Drops > 0 {
			t.Errorf("%d packets are lost on circuits that have been there for long", s.Drops)
		}
		last := len(r.Exec.End) - 1 // after the wait until start
		return r.Exec.End[last] - r.Exec.Start[last]
	}
	const ms = unit.Millisecond
	before := took(10*ms, "{from: h1/gpu-1, to: h2/gpu-1, bytes: 10MB}")
	if want := 10e6 * 8 / 100e9 * 4178 / 4096 * 1e3; float64(before)/float64(ms) < want ||
		float64(before)/float64(ms) > want*1.02 {
		t.Errorf("10 MB take %v over a circuit, want about %.3f ms", before, want)
	}
	behind := took(10*ms, "{from: h1/gpu-1, to: h3/gpu-1, bytes: 10MB, start: 40ms}")
	if behind != before {
		t.Errorf("10 MB take %v over the second map, %v over the first", behind, before)
	}
	for _, reconfigure := range []unit.Time{ms, 10 * ms, 50 * ms} {
		during := took(reconfigure, "{from: h1/gpu-1, to: h3/gpu-1, bytes: 10MB, start: 20ms}")
		if during < reconfigure || during > reconfigure+before+140*ms { // two time-outs
			t.Errorf("10 MB that meet circuits moving for %v take %v", reconfigure, during)
		}
	}
}
