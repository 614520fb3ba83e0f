package sim

import "testing"

// Switches that read entropy values use the cables that these name. Each cable of a leaf carries its share of the
// values. A broken cable's values move to others once routes converge.
func TestStructuredCables(t *testing.T) {
	const text = `name: x
fabric: {kind: rail, segments: 2, hosts: 4, spines: 4, uplinks: 2, host_link: {rate: 100Gbps, cable: 3m}}
server: {gpus: 1, nics: 1}
transport: mrc
lb: structured
workload: {traffic: {flows: [{from: host-1/gpu-1, to: host-5/gpu-1, bytes: 8MB}]}}
`
	uplinks := func(r *Run) (bytes []int64) {
		leaf := r.Graph.Node("seg-1-rail-1")
		for l, link := range r.Graph.Links {
			if link.A == leaf && r.Graph.Nodes[link.B].Tier == 2 {
				bytes = append(bytes, r.Net.Ports[r.Port(l, leaf)].TxBytes)
			}
		}
		return bytes
	}
	r, _, _ := runAll(t, text)
	got := uplinks(r)
	for i, n := range got {
		if len(got) != 8 || n < 900_000 || n > 1_150_000 {
			t.Errorf("uplink %d of %d carried %d bytes", i, len(got), n)
		}
	}
	// Two cables of one spine differ only in tier 2's bits, on the downward path.
	spine, leaf := r.Graph.Node("spine-1"), r.Graph.Node("seg-2-rail-1")
	for l, link := range r.Graph.Links {
		if link.A == leaf && link.B == spine {
			if n := r.Net.Ports[r.Port(l, spine)].TxBytes; n < 900_000 || n > 1_150_000 {
				t.Errorf("a cable down from spine-1 carried %d bytes", n)
			}
		}
	}
	r, _, _ = runAll(t, text+"failures: [{link: 'seg-1-rail-1:Eth5', at: 20us, converge: 5us}]\n")
	if got = uplinks(r); got[0] == 0 || got[0] > 200_000 || r.Failed() != nil {
		t.Errorf("%v bytes, %v", got, r.Failed())
	}
}
