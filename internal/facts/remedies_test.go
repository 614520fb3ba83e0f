package facts

import (
	"testing"

	"railyard/internal/cause"
	"railyard/internal/scenario"
)

// TestRemediesAreAccepted: the program accepts each remedy, and each run without a cause, in the scenarios it is for.
func TestRemediesAreAccepted(t *testing.T) {
	const lone = "server: {gpus: 1, nics: 1}\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"
	kinds := map[string]string{
		"rails":    rails,
		"fat tree": "name: tree\nfabric: {kind: fat-tree, k: 4}\n" + lone,
		"torus":    "name: torus\nfabric: {kind: torus, k: 3, hosts: 1}\nlb: dimension-order\n" + lone,
		"dragonfly": "name: df\nlb: minimal\n" +
			"fabric: {kind: dragonfly, k: 1, group_size: 2, global_links: 1, groups: 3}\n" + lone,
		"channels": "name: lag\nfabric:\n  types:\n    host: {gpus: 1, nics: 1, nic_rate: 100Gbps}\n" +
			"    leaf: {ports: 8x100Gbps}\n    spine: {like: leaf, role: spine}\n" +
			"  nodes: {host: {type: host, per: {pod: 2}, count: 2}, leaf: {type: leaf, per: {pod: 2}}, spine: {type: spine, count: 2}}\n" +
			"  cables:\n    - {from: host, to: leaf, same: pod}\n    - {from: leaf, to: spine, lag: 2, rate: 100Gbps}\n" +
			"workload: {traffic: {permutation: {bytes: 1MB}}}\n",
		"one leaf": "name: leaf\nfabric: {kind: single-rail, hosts: 4}\n" + lone,
	}
	tried := map[string]int{} // by fabric
	for name, text := range kinds {
		for _, transport := range []string{"", "transport=mrc", "transport=srd", "transport=falcon", "transport=uec",
			"cc.algorithm=nscc", "cc.algorithm=none", "transport.recovery=selective", "lb=spray",
			"fabric.host_link.rate=150Gbps"} {
			sets := []string{}
			if transport != "" {
				sets = append(sets, transport)
			}
			d, err := scenario.Parse("test", []byte(text), sets)
			if err != nil {
				t.Fatal(err)
			}
			p, err := d.Resolve(nil)
			if err != nil {
				continue // the fabric is not for this transport
			}
			f := Of(p)
			for _, c := range cause.All() {
				changes := append(c.Remedies(f), c.Without(f))
				for _, x := range changes {
					if !x.IsPossible() || len(x.Set) == 0 {
						continue
					}
					d, err := scenario.Parse("test", []byte(text), append(sets[:len(sets):len(sets)], x.Set...))
					if err == nil {
						_, err = d.Resolve(nil)
					}
					if tried[name]++; err != nil {
						t.Errorf("%s, %s, %s: %s %v: %v", name, transport, c.Name, x.Says, x.Set, err)
					}
				}
			}
		}
	}
	for name := range kinds {
		if tried[name] < 20 {
			t.Errorf("%s: %d changes were tried", name, tried[name])
		}
	}
}
