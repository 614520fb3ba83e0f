package web

import (
	"testing"

	"railyard/internal/runner"
	"railyard/internal/scenario"
	"railyard/internal/sim"
	"railyard/unit"
)

const step = `name: step
fabric: {kind: rail, hosts: 4, segments: 2, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 30m}}
server: {gpus: 2, nics: 2}
workload: {training: {model: llama-2-7b, tp: 2, pp: 8, sequence: 256, global_batch: 16}}
`

// pods have locations: a pod and a rack. The servers of a pod share NVLink.
const pods = `name: pods
fabric:
  types: {host: {gpus: 1, nics: 1, nic_rate: 100Gbps, domain: pod}, rtsw: {role: leaf}, ctsw: {role: spine}}
  nodes:
    host: {type: host, per: {pod: 2, rack: 48}}
    rtsw: {type: rtsw, per: {pod: 2, rack: 48}}
    ctsw: {type: ctsw, count: 2}
  cables:
    - {from: host, to: rtsw, same: [pod, rack]}
    - {from: rtsw, to: ctsw}
  fabric_link: {rate: 100Gbps}
workload: {traffic: {permutation: {bytes: 64KiB}}}
`

const flows = `name: captured
fabric: {kind: rail, hosts: 3, spines: 1, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-3/gpu-1, bytes: 2MB}, {from: host-2/gpu-1, to: host-3/gpu-1, bytes: 2MB}]}}
`

const lossy = `name: lossy
fabric: {kind: rail-only, hosts: 8, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
transport: {recovery: selective, timeout: 8}
switch: {buffer: 400KB, queues: {3: {lossless: false, xoff: 0B, limit: 40KB, wred_min: 0B, wred_max: 0B}}}
workload: {traffic: {alltoall: {bytes: 4MB}}}
`

// Runs that end differently: two jobs that share ports, a job whose rail's switch goes down, a torus whose pauses
// wait for one another.
var endings = map[string]string{
	"met": `fabric: {kind: rail, hosts: 2, segments: 2, spines: 1, uplinks: 1}
server: {gpus: 2, nics: 2}
placement: spread
jobs:
  experts: {gpus: 4, traffic: {alltoall: {bytes: 4MB}}}
  replicas: {gpus: 4, start: 20us, traffic: {ring-allreduce: {bytes: 4MB}}}
`,
	"cut": `fabric: {kind: rail, hosts: 4, spines: 2}
server: {gpus: 2, nics: 2}
events: [{switch: rail-1, at: 50us, up: false}]
workload: {traffic: {ring-allreduce: {bytes: 8MB}}}
`,
	"slowed": `fabric: {kind: rail, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 100Gbps},
  fabric_link: {rate: 100Gbps}}
server: {gpus: 2, nics: 2}
events:
  - {link: "rail-1:Eth5", at: 50us, up: false, converge: 20us}
  - {link: "rail-1:Eth5", at: 200us, up: true, rate: 50Gbps, converge: 20us}
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-4/gpu-2, bytes: 8MB}]}}
`,
	"ringed": `fabric: {kind: rail-only, hosts: 32, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
workload: {traffic: {ring-allreduce: {bytes: 1MB}}}
`,
	"listed": `fabric: {kind: rail-only, hosts: 2, host_link: {rate: 100Gbps}}
server: {gpus: 1, nics: 1}
workload:
  ops:
    - {id: a, gpu: host-1/gpu-1, compute: 100us}
    - {id: b, gpu: host-1/gpu-1, send: 1MB, to: host-2/gpu-1, after: [a]}
`,
	"locked": `fabric: {kind: torus, k: 4, uplinks: 1, allow_deadlock: true,
  host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 100Gbps, cable: 10m}}
server: {gpus: 4, nics: 4}
cc: {algorithm: none}
transport: {timeout: 0}
switch: {buffer: 8MB, queues: {"3": {xoff: 100KB, xon: 50KB, wred_max: 0B, wred_min: 0B}}}
workload: {traffic: {permutation: {bytes: 4MB}}}
`}

// ending writes the run of a scenario, however it ends.
func ending(t *testing.T, dir, text string) {
	t.Helper()
	r := built(t, text)
	run := &runner.Runner{Plan: r.Plan, Run: r, Version: "test"}
	if err := run.Reserve(dir, false); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run.Go(nil); err != nil {
		t.Fatal(err)
	}
}

// built is the run of a scenario before it begins.
func built(t *testing.T, text string, sets ...string) *sim.Run {
	t.Helper()
	d, err := scenario.Parse("x", []byte(text), sets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// captured writes a run with a capture, as the run command does.
func captured(t *testing.T, dir string) {
	t.Helper()
	capturedAs(t, dir)
}

// capturedAs is captured with other settings.
func capturedAs(t *testing.T, dir string, sets ...string) {
	t.Helper()
	r := built(t, flows, sets...)
	tap, err := r.Capture([]string{"rail-1:Eth3"}, 0, 200*unit.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	follow, err := r.Follow([]sim.Named{{QP: 1, PSN: 30, Behind: true}})
	if err != nil {
		t.Fatal(err)
	}
	run := &runner.Runner{Plan: r.Plan, Run: r, Version: "test", Capture: tap,
		Follow: follow}
	if err := run.Reserve(dir, false); err != nil {
		t.Fatal(err)
	}
	if _, goErr, err := run.Go(nil); goErr != nil || err != nil {
		t.Fatal(goErr, err)
	}
}
