package explain_test

import (
	"strings"
	"testing"

	"railyard/internal/cause"
)

// TestSlowestOfQueued checks that a message that waits for others of its queue pair is not said to collide where no
// flow of the run does: replays of long rings post single messages at other times than the run.
func TestSlowestOfQueued(t *testing.T) {
	_, s, _ := runAll(t, `name: planes
fabric:
  host_link: {rate: 400Gbps, cable: 5m}
  fabric_link: {rate: 800Gbps, cable: 30m}
  types:
    gpu: {gpus: 8, nics: 8}
    leaf: {role: leaf}
    spine: {}
  nodes:
    gpu: {type: gpu, count: 32}
    leaf: {type: leaf, per: {pod: 2, plane: 4}, named: "leaf-{pod}-{plane}"}
    spine: {type: spine, count: 2}
  cables:
    - {from: gpu, to: leaf, match: {pod: n/16, plane: nic%4}}
    - {from: leaf, to: spine, count: 2}
workload:
  traffic: {collective: {kind: all-reduce, algorithm: ring, channels: 8, bytes: 512MiB}}
`)
	if ps := s.Chain.Costs(cause.Collision); ps != 0 || strings.Contains(s.Slowest.Why, "collision") ||
		!strings.Contains(s.Slowest.Why, "behind 6 earlier messages of its queue pair; then its ideal time") ||
		s.Slowest.Causes.Total() != s.Slowest.Time-s.Slowest.Behind || s.Slowest.Earlier != 6 {
		t.Errorf("%d ps of the step, %s", ps, s.Slowest.Why)
	}
}
