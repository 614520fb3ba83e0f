package explain_test

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/result"
)

// TestHeldAfterACollision checks that the time which congestion control takes after a hash collision is saved with
// the collision. Two flows share one of two uplinks, and spraying in turn fills both exactly and without a queue.
func TestHeldAfterACollision(t *testing.T) {
	const text = `
seed: 5
fabric: {kind: rail, hosts: 2, segments: 2, spines: 2, uplinks: 1, host_link: {rate: 400Gbps, cable: 3m},
         fabric_link: {rate: 400Gbps, cable: 30m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 4MB},
                             {from: host-2/gpu-1, to: host-4/gpu-1, bytes: 4MB}]}}
`
	_, met, _ := runAll(t, text)
	_, sprayed, _ := runAll(t, text, "lb=spray", "transport.recovery=selective", "transport.write=only")
	saved := met.StepTime - sprayed.StepTime
	costs, alone := met.Chain.Costs(cause.Collision), met.Chain.Saving[cause.Collision]
	if 2*saved < met.StepTime || 50*abs(costs-saved) > saved || 50*abs(alone-saved) > saved {
		t.Errorf("the collision costs %d ps and saves %d of %d by the account; spraying saves %d", costs, alone, met.StepTime,
			saved)
	}
}

// TestHeldAfterAnEarlierCollision checks that a message without a queue, whose queue pair congestion control still
// holds below line rate, loses that time to the collision in which earlier messages waited: of two jobs on hashed
// uplinks, spraying saves it.
func TestHeldAfterAnEarlierCollision(t *testing.T) {
	const text = `
fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, uplinks: 1, host_link: {rate: 400Gbps}}
server: {gpus: 2, nics: 2, gpu: h100}
jobs:
  - {name: train, on: [host-1, host-2, host-5, host-6], traffic: {ring-allreduce: {bytes: 256MB, groups: rail}}}
  - {name: infer, on: [host-3, host-4, host-7, host-8], traffic: {alltoall: {bytes: 64MB, groups: rail}}}
`
	_, met, _ := runAll(t, text)
	_, sprayed, _ := runAll(t, text, "lb=spray-least", "transport.recovery=selective", "transport.write=only")
	saved, c := met.StepTime-sprayed.StepTime, met.Chain
	if top, _ := c.Leading(0); top != cause.Collision || 5*abs(c.Saving[cause.Collision]-saved) > saved {
		t.Errorf("%s leads; the collision saves %d of %d by the account, spraying %d", top.Get().Name,
			c.Saving[cause.Collision], met.StepTime, saved)
	}
}

// TestHeldBeforeAQueue checks that a queue does not explain what congestion control held before it: a message alone on
// an idle fabric loses nothing to the incast that later ones of its queue pair meet.
func TestHeldBeforeAQueue(t *testing.T) {
	const text = `
fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, uplinks: 1, host_link: {rate: 400Gbps, cable: 5m}}
server: {gpus: 1, nics: 1}
transport: {recovery: selective, write: only, qps: 1}
cc: {algorithm: hpcc}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-5/gpu-1, bytes: 3MB},
                             {from: host-1/gpu-1, to: host-5/gpu-1, bytes: 4MB, start: 1ms},
                             {from: host-2/gpu-1, to: host-5/gpu-1, bytes: 8MB, start: 1ms},
                             {from: host-3/gpu-1, to: host-5/gpu-1, bytes: 8MB, start: 1ms}]}}
`
	_, _, tables := runAll(t, text)
	seen := 0
	for _, row := range tables.Causes {
		if row.Scope != result.OfMessage || row.Instance != 0 {
			continue
		}
		if seen++; row.Cause == cause.Incast.Get().Key && row.Reaction > 0 {
			t.Errorf("the first message loses %d ps to the reaction to a later incast", row.Reaction)
		}
	}
	if seen == 0 {
		t.Error("no account of the first message")
	}
}
