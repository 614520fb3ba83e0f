package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// Maps by phase are matchings and exclude other maps. They have each kind of transfer once, agree between OCSes,
// and leave a path for every transfer.
func TestPhasesRefused(t *testing.T) {
	const text = `
fabric:
  kind: graph
  allow_deadlock: true
  graph:
    hosts: [h1, h2, h3]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}, {name: s3, role: leaf}]
    links: [{from: h1, to: s1}, {from: h2, to: s2}, {from: h3, to: s3},
      {from: s1, to: ocs-1, count: 2}, {from: s2, to: ocs-1, count: 2}, {from: s3, to: ocs-1, count: 2}]
    ocs:
      - {name: ocs-1, ports: 6, reconfigure: 1ms, circuits: [1-3, 2-5, 4-6], phases: [%s]}
server: {gpus: 1, nics: 1}
%s
workload: {traffic: {ring-allreduce: {bytes: 1MB}}}
`
	const whole = "circuits: [1-3, 2-5, 4-6]"
	for phases, want := range map[string]string{
		"{of: [other], " + whole + "}":                                    "",
		"{of: [dp], circuits: [1-3, 3-5]}":                                "port 3 is in circuit",
		"{of: [], " + whole + "}":                                         "phases[0].of: is empty",
		"{of: [gossip], " + whole + "}":                                   "phases[0].of[0]",
		"{of: [dp], " + whole + "}, {of: [ep, dp], " + whole + "}":        "of[1]: dp has a map already",
		"{of: [other], circuits: [1-3]}":                                  "phases[0].circuits: leave h",
		"{of: [dp], " + whole + "}], schedule: [{at: 5ms, " + whole + "}": "excludes a schedule",
	} {
		_, err := resolved(t, fmt.Sprintf(text, phases, ""))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "x.yaml:11:")) {
			t.Errorf("%s: %v, want %q", phases, err, want)
		}
	}
	for event, want := range map[string]string{
		"{ocs: ocs-1, at: 0s, up: false}":                 "events[0]: is about a circuit of ocs-1",
		"{switch: s1, at: 0s, up: false}":                 "events[0]: is about a circuit of ocs-1",
		"{ocs: ocs-1, circuit: 1-3, at: 0s, stuck: true}": "events[0].stuck: ocs-1 moves by phases",
	} {
		_, err := resolved(t, fmt.Sprintf(text, "{of: [other], "+whole+"}", "events: ["+event+"]"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", event, err, want)
		}
	}
}
