package planted

import (
	"fmt"
	"strings"
)

// queues are thresholds that small runs reach: marks from 60 KB, pauses from 800 KB.
const queues = `
server: {gpus: 1, nics: 1}
switch:
  queues: {3: {wred_min: 60KB, wred_max: 500KB, xoff: 800KB, xon: 500KB}}
  watchdog: {on: false}
workload:
  traffic:
    flows:
`

// rail is three segments with four hosts each under two spines. clos is a fat tree of three tiers with 16 hosts, up
// to the rate of its fabric links.
const (
	rail = `
fabric: {kind: rail, segments: 3, hosts: 4, spines: 2, uplinks: 1, host_link: {rate: 100Gbps, cable: 3m},
  fabric_link: {rate: 400Gbps, cable: 20m}}` + queues
	clos = `
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, cable: 3m}, fabric_link: {cable: 20m, rate: `
)

// Bases are the healthy fabrics. Their links between switches have room for any hash. The traffic of -busy ends is an
// incast: congestion, and no fault.
var Bases = map[string]string{
	"rail":      rail + flows("4MiB", "1>5 2>6 3>7 4>8 5>9 6>10 7>11 8>12 9>1 10>2 11>3 12>4"),
	"rail-busy": rail + flows("2MiB", "1>5 2>5 8>5 6>1 7>1 3>1 4>9 10>9 12>9 11>2 9>6"),
	"clos": clos + "400Gbps}}" + queues +
		flows("2MiB", "1>6 2>9 3>13 4>7 5>10 6>14 7>1 8>11 9>15 10>2 11>16 12>3 13>8 14>12 15>4 16>5"),
	"clos-busy": clos + "400Gbps}}" + queues +
		flows("2MiB", "1>6 9>6 5>6 2>13 7>13 14>13 3>1 10>1 2>1 15>9 10>9 4>9 16>11"),
	"clos-pod": clos + "100Gbps}}" + queues + flows("2MiB", "1>5 1>9 2>13 2>7 3>11 3>15 4>6 4>10"),
}

// flows are messages of the given size between the only GPUs of two hosts.
func flows(bytes, pairs string) string {
	var b strings.Builder
	for pair := range strings.FieldsSeq(pairs) {
		from, to, _ := strings.Cut(pair, ">")
		fmt.Fprintf(&b, "      - {from: host-%s/gpu-1, to: host-%s/gpu-1, bytes: %s}\n", from, to, bytes)
	}
	return b.String()
}
