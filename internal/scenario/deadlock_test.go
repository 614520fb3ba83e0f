package scenario

import (
	"strings"
	"testing"
)

const ringText = `
name: ring
fabric:
  kind: graph
  host_link: {rate: 100Gbps, cable: 3m}
  graph:
    hosts: [h1, h2, h3, h4]
    switches: [{name: s1, role: leaf}, {name: s2, role: leaf}, {name: s3, role: leaf}, {name: s4, role: leaf}]
    links: [{from: h1, to: s1}, {from: h2, to: s2}, {from: h3, to: s3}, {from: h4, to: s4},
      {from: s1, to: s2}, {from: s2, to: s3}, {from: s3, to: s4}, {from: s4, to: s1}]
server: {gpus: 1, nics: 1}
workload: {traffic: {flows: [{from: h1/gpu-1, to: h3/gpu-1, bytes: 20MB}]}}
`

// TestDeadlockIsTold: a fabric with a possible circular pause dependency is rejected with the ports of the cycle
// and the remedy. If it is allowed, or without lossless traffic, it runs. A tree has no cycle, but may have one
// when cables fail.
func TestDeadlockIsTold(t *testing.T) {
	tree := "name: tree\nfabric: {kind: rail, hosts: 1, segments: 4, spines: 2}\n" +
		"server: {gpus: 1, nics: 1}\n" +
		"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1MB}]}}\nfailures:\n"
	broken := "  - {link: 'seg-1-rail-1:Eth3', at: 1ms, converge: 1ms}\n" +
		"  - {link: 'seg-4-rail-1:Eth2', at: 2ms, converge: 1ms}\n"
	torus := "name: torus\nfabric: {kind: torus, k: 4, uplinks: 1}\nserver: {gpus: 1, nics: 1}\n" +
		"workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-2/gpu-1, bytes: 1MB}]}}\n"
	for _, c := range []struct {
		text string
		sets []string
		fail string // text of the error
		note string // and of a note
	}{
		{ringText, nil, "x.yaml:3:1: fabric: pauses can deadlock: packets on their routes close a ring of " +
			"4 buffers, each of which may wait for the next: s1:Eth2, s2:Eth3, s3:Eth3, s4:Eth3", ""},
		{ringText, []string{"fabric.allow_deadlock=true"}, "", "which fabric.allow_deadlock allows"},
		{ringText, []string{"switch.pfc=false", "transport.recovery=selective"}, "", ""},
		{torus, nil, "accepted: lb: dimension-order, minimal-adaptive or valiant, switch.pfc", ""},
		{torus, []string{"lb=dimension-order"}, "", ""},
		{torus, []string{"lb=minimal-adaptive"}, "", ""},
		{torus, []string{"lb=valiant"}, "", ""},
		{tree, nil, "", ""},
		{tree + broken, nil, "", "from 3ms on pauses can deadlock"},
	} {
		p, err := resolved(t, strings.TrimSuffix(c.text, "failures:\n"), c.sets...)
		if err != nil {
			t.Fatalf("%q: %v", c.sets, err)
		}
		err = p.Deadlock(p.Graph.Reroute(nil, nil, Besides(p.LB, p.Scheduled)))
		if (err == nil) != (c.fail == "") || err != nil && !strings.Contains(err.Error(), c.fail) {
			t.Errorf("%q: %v, want %q", c.sets, err, c.fail)
		}
		notes := strings.Join(p.Notes, "\n")
		notes = strings.ReplaceAll(notes, "against deadlock", "")
		if strings.Contains(notes, "deadlock") != (c.note != "") || !strings.Contains(notes, c.note) {
			t.Errorf("%q: notes %q, want %q", c.sets, notes, c.note)
		}
		if (p.Ring() != "") != ((c.text == ringText || c.text == torus && c.sets == nil) && len(c.sets) < 2) {
			t.Errorf("%q: the ring is %q", c.sets, p.Ring())
		}
	}
}
