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
		"one leaf": "name: leaf\nfabric: {kind: single-rail, hosts: 4}\n" + lone,
	}
	tried := 0
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
					if tried++; err != nil {
						t.Errorf("%s, %s, %s: %s %v: %v", name, transport, c.Name, x.Says, x.Set, err)
					}
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d changes were tried", tried)
	}
}
