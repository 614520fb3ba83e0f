package planted

// queues are thresholds that small runs reach: marks from 60 KB, pauses from 800 KB.
const queues = `
switch:
  queues: {3: {wred_min: 60KB, wred_max: 500KB, xoff: 800KB, xon: 500KB}}
  watchdog: {on: false}
`

// Bases are the healthy fabrics. rail has three leaves with four hosts each under two spines;
// clos is a fat tree of three tiers with 16 hosts. Their links between switches have room for
// any hash. The traffic of -busy ends is an incast: congestion, and no fault.
var Bases = map[string]string{
	"rail": `
fabric: {kind: rail, segments: 3, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 20m}}
server: {gpus: 1, nics: 1}
` + queues + `
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-5/gpu-1, bytes: 4MiB}
      - {from: host-2/gpu-1, to: host-6/gpu-1, bytes: 4MiB}
      - {from: host-3/gpu-1, to: host-7/gpu-1, bytes: 4MiB}
      - {from: host-4/gpu-1, to: host-8/gpu-1, bytes: 4MiB}
      - {from: host-5/gpu-1, to: host-9/gpu-1, bytes: 4MiB}
      - {from: host-6/gpu-1, to: host-10/gpu-1, bytes: 4MiB}
      - {from: host-7/gpu-1, to: host-11/gpu-1, bytes: 4MiB}
      - {from: host-8/gpu-1, to: host-12/gpu-1, bytes: 4MiB}
      - {from: host-9/gpu-1, to: host-1/gpu-1, bytes: 4MiB}
      - {from: host-10/gpu-1, to: host-2/gpu-1, bytes: 4MiB}
      - {from: host-11/gpu-1, to: host-3/gpu-1, bytes: 4MiB}
      - {from: host-12/gpu-1, to: host-4/gpu-1, bytes: 4MiB}
`,
	"rail-busy": `
fabric: {kind: rail, segments: 3, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 20m}}
server: {gpus: 1, nics: 1}
` + queues + `
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-5/gpu-1, bytes: 2MiB}
      - {from: host-2/gpu-1, to: host-5/gpu-1, bytes: 2MiB}
      - {from: host-8/gpu-1, to: host-5/gpu-1, bytes: 2MiB}
      - {from: host-6/gpu-1, to: host-1/gpu-1, bytes: 2MiB}
      - {from: host-7/gpu-1, to: host-1/gpu-1, bytes: 2MiB}
      - {from: host-3/gpu-1, to: host-1/gpu-1, bytes: 2MiB}
      - {from: host-4/gpu-1, to: host-9/gpu-1, bytes: 2MiB}
      - {from: host-10/gpu-1, to: host-9/gpu-1, bytes: 2MiB}
      - {from: host-12/gpu-1, to: host-9/gpu-1, bytes: 2MiB}
      - {from: host-11/gpu-1, to: host-2/gpu-1, bytes: 2MiB}
      - {from: host-9/gpu-1, to: host-6/gpu-1, bytes: 2MiB}
`,
	"clos": `
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 400Gbps,
	cable: 20m}}
server: {gpus: 1, nics: 1}
` + queues + `
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-6/gpu-1, bytes: 2MiB}
      - {from: host-2/gpu-1, to: host-9/gpu-1, bytes: 2MiB}
      - {from: host-3/gpu-1, to: host-13/gpu-1, bytes: 2MiB}
      - {from: host-4/gpu-1, to: host-7/gpu-1, bytes: 2MiB}
      - {from: host-5/gpu-1, to: host-10/gpu-1, bytes: 2MiB}
      - {from: host-6/gpu-1, to: host-14/gpu-1, bytes: 2MiB}
      - {from: host-7/gpu-1, to: host-1/gpu-1, bytes: 2MiB}
      - {from: host-8/gpu-1, to: host-11/gpu-1, bytes: 2MiB}
      - {from: host-9/gpu-1, to: host-15/gpu-1, bytes: 2MiB}
      - {from: host-10/gpu-1, to: host-2/gpu-1, bytes: 2MiB}
      - {from: host-11/gpu-1, to: host-16/gpu-1, bytes: 2MiB}
      - {from: host-12/gpu-1, to: host-3/gpu-1, bytes: 2MiB}
      - {from: host-13/gpu-1, to: host-8/gpu-1, bytes: 2MiB}
      - {from: host-14/gpu-1, to: host-12/gpu-1, bytes: 2MiB}
      - {from: host-15/gpu-1, to: host-4/gpu-1, bytes: 2MiB}
      - {from: host-16/gpu-1, to: host-5/gpu-1, bytes: 2MiB}
`,
	"clos-busy": `
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {rate: 400Gbps,
	cable: 20m}}
server: {gpus: 1, nics: 1}
` + queues + `
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-6/gpu-1, bytes: 2MiB}
      - {from: host-9/gpu-1, to: host-6/gpu-1, bytes: 2MiB}
      - {from: host-5/gpu-1, to: host-6/gpu-1, bytes: 2MiB}
      - {from: host-2/gpu-1, to: host-13/gpu-1, bytes: 2MiB}
      - {from: host-7/gpu-1, to: host-13/gpu-1, bytes: 2MiB}
      - {from: host-14/gpu-1, to: host-13/gpu-1, bytes: 2MiB}
      - {from: host-3/gpu-1, to: host-1/gpu-1, bytes: 2MiB}
      - {from: host-10/gpu-1, to: host-1/gpu-1, bytes: 2MiB}
      - {from: host-2/gpu-1, to: host-1/gpu-1, bytes: 2MiB}
      - {from: host-15/gpu-1, to: host-9/gpu-1, bytes: 2MiB}
      - {from: host-10/gpu-1, to: host-9/gpu-1, bytes: 2MiB}
      - {from: host-4/gpu-1, to: host-9/gpu-1, bytes: 2MiB}
      - {from: host-16/gpu-1, to: host-11/gpu-1, bytes: 2MiB}
`,
	"clos-pod": `
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 100Gbps, cable: 20m}}
server: {gpus: 1, nics: 1}
` + queues + `
workload:
  traffic:
    flows:
      - {from: host-1/gpu-1, to: host-5/gpu-1, bytes: 2MiB}
      - {from: host-1/gpu-1, to: host-9/gpu-1, bytes: 2MiB}
      - {from: host-2/gpu-1, to: host-13/gpu-1, bytes: 2MiB}
      - {from: host-2/gpu-1, to: host-7/gpu-1, bytes: 2MiB}
      - {from: host-3/gpu-1, to: host-11/gpu-1, bytes: 2MiB}
      - {from: host-3/gpu-1, to: host-15/gpu-1, bytes: 2MiB}
      - {from: host-4/gpu-1, to: host-6/gpu-1, bytes: 2MiB}
      - {from: host-4/gpu-1, to: host-10/gpu-1, bytes: 2MiB}
`,
}
