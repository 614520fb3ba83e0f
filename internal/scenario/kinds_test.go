package scenario

import (
	"strings"
	"testing"
)

// A key without effect is a mistake of its author, and is rejected with the effective one.
func TestKeysWithoutEffect(t *testing.T) {
	const work = "\nworkload: {traffic: {permutation: {bytes: 1MB}}}\n"
	for _, c := range [][2]string{
		{"fabric: {kind: fat-tree, k: 4, hosts: 8}",
			"1:32: fabric.hosts: has no effect on a fat-tree fabric; what counts there: k, tiers,"},
		{"fabric: {kind: fat-tree, k: 4}\nserver: {gpus: 8}",
			"2:10: server.gpus: has no effect on a fat-tree"},
		{"fabric: {kind: rail, hosts: 2, spines: 2, super_spines: 4}",
			"fabric.super_spines: has no effect with one pod"},
		{"fabric: {kind: rail, hosts: 2, spines: 2, far_link: {cable: 9m}}",
			"fabric.far_link: has no effect with one pod"},
		{"fabric: {kind: torus, k: 2, far_link: {cable: 9m}}",
			"fabric.far_link: has no effect on a torus"},
		{"fabric: {kind: rail-only, hosts: 2, spines: 2}",
			"fabric.spines: has no effect on a rail-only fabric"},
		{"fabric: {kind: dragonfly, k: 2, segments: 2, hosts: 3}",
			"fabric.segments: has no effect on a dragonfly"},
		{"fabric: {kind: torus, k: 2, spines: 1}",
			"what counts there: k, hosts, uplinks"},
		{"fabric: {kind: graph, planes: 2}",
			"fabric.planes: has no effect on a graph fabric"},
		{"fabric: {types: {a: {}}, hosts: 2}",
			"fabric.hosts: has no effect on a fabric of types"},
		{"fabric: {types: {a: {}}, nodes: {}, cables: []}\nserver: {nics: 2}",
			"server.nics: has no effect: set in the types"},
	} {
		if _, err := resolved(t, c[0]+work); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s\n  %v\nwant %s", c[0], err, c[1])
		}
	}
	// A permutation by rail stays on the rails.
	p, err := resolved(t, "fabric: {kind: rail, hosts: 5, spines: 2}"+
		"\nworkload: {traffic: {permutation: {bytes: 1MB, groups: rail}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range p.Jobs[0].DAG.Ops {
		if src, dst := int(o.Rank), int(o.Peer); src == dst || p.Graph.LocalOf(src) != p.Graph.LocalOf(dst) {
			t.Errorf("%d sends to %d", src, dst)
		}
	}
	if got := len(p.Jobs[0].DAG.Ops); got != 40 {
		t.Errorf("%d transfers of 40 GPUs", got)
	}
	// The default value of a key may also be set explicitly.
	if _, err := resolved(t, "fabric: {kind: fat-tree, k: 4, pods: 1, segments: 1, spines: 0}"+
		"\nserver: {gpus: 1}"+work); err != nil {
		t.Error(err)
	}
}
