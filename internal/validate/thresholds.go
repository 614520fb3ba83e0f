package validate

import (
	"fmt"
	"strings"

	"railyard/unit"
)

// narrowing is a host at 100 Gbit/s whose flow must leave the first switch at 50: its ingress fills, is paused, and
// drains at 50 until the host may resume.
const narrowing = `
name: narrowing
fabric:
  kind: graph
  host_link: {rate: 100Gbps, cable: 3m}
  fabric_link: {rate: 50Gbps, cable: 3m}
  graph:
    hosts: [h1, h2]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}]
    links: [{from: h1, to: s1}, {from: s1, to: s2}, {from: h2, to: s2}]
server: {gpus: 1, nics: 1}
cc: {algorithm: none}
switch: {buffer: 4MB, queues: {"3": {wred_min: 0B, wred_max: 0B}}}
workload: {traffic: {flows: [{from: h1/gpu-1, to: h2/gpu-1, bytes: 10MB}]}}
`

// thresholds: the duration of a pause depends on how far the ingress drains. Two runs with different levels to
// resume at differ by the bytes between the levels.
func thresholds() ([]Row, error) {
	const sai = "SAI XON_TH: resume at max(xon, limit - xon_offset)"
	drain := func(b unit.Bytes) float64 { return float64(b) * 8 / 50e3 }
	var rows []Row
	for _, c := range []struct {
		claim     string
		at        string
		low, high string
		less      unit.Bytes // difference that the second drains
	}{
		{"static xOFF 1 MB: xON 100 KB or 500 KB", "xoff=1MB", "xon=100KB", "xon=500KB", 400 * unit.KB},
		{"alpha 1: xON 100 KB or 500 KB", "xoff=0B alpha=1", "xon=100KB", "xon=500KB", 400 * unit.KB},
		// The threshold T = alpha (B - u) grows while u drains: u = (alpha B - offset) / (1 + alpha).
		{"alpha 1: xON 100 KB and offset 500 KB or 100 KB", "xoff=0B alpha=1 xon=100KB", "xon_offset=500KB",
			"xon_offset=100KB", 400 * unit.KB / 2},
		{"alpha 1/4: offset 500 KB or 100 KB", "xoff=0B alpha=0.25 xon=0B", "xon_offset=500KB",
			"xon_offset=100KB", 400 * unit.KB * 4 / 5},
	} {
		low := must(firstPause(c.at, c.low))
		high := must(firstPause(c.at, c.high))
		// Frames spend 4,194 bytes of wire for 4,174 of buffer.
		rows = append(rows, within(c.claim+": the first pause is shorter by", sai, drain(c.less)*4194/4174,
			(low-high).Micros(), 0.03, "%.2f us"))
	}
	return rows, nil
}

// firstPause returns how long the ingress of s1 was congested for the first time.
func firstPause(settings ...string) (unit.Time, error) {
	var sets []string
	for _, s := range settings {
		for _, set := range strings.Fields(s) {
			sets = append(sets, "switch.queues.3."+set)
		}
	}
	r := must(start(narrowing, sets...))
	off, on := unit.Never, unit.Never
	r.Net.Trace = func(at unit.Time, what string, _ int32, _ int) {
		switch {
		case what == "xoff" && off == unit.Never:
			off = at
		case what == "xon" && on == unit.Never:
			on = at
		}
	}
	do(r.Go(nil))
	if on == unit.Never || r.Net.Drops > 0 {
		return 0, fmt.Errorf("the flow was not paused and resumed, or lost %d packets", r.Net.Drops)
	}
	return on - off, nil
}
