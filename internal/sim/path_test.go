package sim

import (
	"slices"
	"testing"
)

// The path for which a queue pair's bytes are counted is that of its packets, and one of the equally short paths.
func TestPathIsWherePacketsGo(t *testing.T) {
	r, _, _ := runAll(t, "name: x\nfabric: {kind: fat-tree, k: 4, host_link: {rate: 400Gbps, delay: "+
		"1us}}\ncc: {algorithm: none}\n"+
		"workload: {traffic: {permutation: {bytes: 1MB}}}\n")
	frames := map[int32]int64{}
	for c := range int32(r.Hosts.Conns()) {
		path, choices := r.Hosts.Path(c), r.Hosts.Choices(c)
		if len(path) != len(choices)+1 {
			t.Fatalf("%d ports on a path of %d hops and the NIC's own", len(path), len(choices))
		}
		for i, p := range path {
			frames[p] += 245 // 1 MB in packets of 4,096 bytes
			if i > 0 && !slices.Contains(choices[i-1], p) {
				t.Errorf("hop %d by %s, which is not a choice", i, r.PortName(p))
			}
		}
	}
	for p := range r.Net.Ports {
		data := r.Net.Ports[p].TxBytes / 4000
		if want := frames[int32(p)]; data < want || data > want+want/10+40 {
			t.Errorf("%s sent about %d data packets, paths say %d", r.PortName(int32(p)), data, want)
		}
	}
}
