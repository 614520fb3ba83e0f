package scenario

import (
	"strings"
	"testing"

	"railyard/internal/topo"
	"railyard/unit"
)

const aFew = `
fabric: {kind: rail, hosts: 2, spines: 2, uplinks: 1}
server: {gpus: 2, nics: 2}
workload: {traffic: {permutation: {bytes: 1MB}}}
deviations:
`

func TestDeviations(t *testing.T) {
	p, err := resolved(t, aFew+`
  - {node: rail-2, ecn: false, mtu: 2KiB, dscp: {24: 0}, xoff: 50KB, headroom: 1KB, watchdog: false}
  - {port: "rail-1:Eth1", pfc: false}
  - {node: host-2, pfc: false, data_dscp: 0, cnp_dscp: 24, pcie: 10Gbps}
`)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Graph.Nodes {
		n, spec := &p.Graph.Nodes[i], p.SpecOf(i)
		if n.Role == topo.Host {
			continue
		}
		q, deviates := &spec.Queues[3], n.Name == "rail-2"
		if deviates != (q.WRED.Max == 0) || deviates != (spec.MTU == 2048) ||
			deviates != (spec.DSCP[24] == 0) ||
			deviates != (q.XOff == 50*unit.KB) || deviates != (q.Headroom == unit.KB) ||
			deviates == spec.Watchdog.On || q.XOn >= q.XOff || !q.Lossless {
			t.Errorf("%s: %+v", n.Name, spec)
		}
	}
	l, node, _ := p.Graph.FindPort("rail-1:Eth1")
	if mask, said := p.PFC[topo.LinkEnd{Link: l, Node: node}]; !said || mask != 0 || len(p.PFC) != 3 {
		t.Errorf("PFC of ports: %v", p.PFC)
	}
	if len(p.Markings) != 2 || len(p.Buses) != 2 || *p.Markings[2].Data != 0 || *p.Markings[3].CNP != 24 {
		t.Errorf("NICs: %v, %v", p.Markings, p.Buses)
	}
}

func TestBadDeviations(t *testing.T) {
	for text, want := range map[string]string{
		"{ecn: false}":                             "deviations[0].node: set node, the device",
		"{node: rail-1, port: \"rail-1:Eth1\"}":    "one of them",
		"{node: rail-9, ecn: false}":               "unknown name \"rail-9\"",
		"{node: host-1, ecn: false}":               "is of switches",
		"{node: rail-1, cnp_dscp: 24}":             "is of servers",
		"{port: \"rail-1:Eth99\", pfc: false}":     "unknown port",
		"{port: \"rail-1:Eth1\", mtu: 2KiB}":       "is of a whole device",
		"{port: \"rail-1:Eth1\"}":                  "is empty",
		"{node: rail-1, dscp: {99: 0}}":            "is not a DSCP",
		"{node: rail-1, mtu: 100B}":                "is out of range",
		"{node: rail-1, xoff: 900MB}":              "above the buffer",
		"{node: host-1, data_dscp: 64}":            "64 is out of range 0–63",
		"{node: rail-1, colour: red}":              "colour",
		"{node: rail-1, pfc: maybe}":               "pfc",
		"{node: host-1, pfc: false, xoff: 200KB}":  "xoff",
		"{node: rail-1, dscp: {24: 9}}":            "9 is out of range 0–7",
		"{node: host-1, pcie: 0Gbps, ecn: false} ": "pcie",
	} {
		if _, err := resolved(t, aFew+"  - "+text+"\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, should say %s", text, err, want)
		}
	}
}
