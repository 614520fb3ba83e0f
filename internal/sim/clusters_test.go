package sim

import (
	"regexp"
	"testing"

	"railyard/internal/topo"
	"railyard/scenarios"
	"railyard/unit"
)

var setInAbout = regexp.MustCompile(`--set\s+(fabric\S+=\S+)`)

// small returns a shipped cluster with the changes from its description that make it small.
func small(t *testing.T, name string) (text string, sets []string) {
	t.Helper()
	text, ok := scenarios.Clusters()["clusters/"+name+".yaml"]
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	for _, m := range setInAbout.FindAllStringSubmatch(text, -1) {
		sets = append(sets, m[1])
	}
	return text, sets
}

// Every published cluster runs to its end when made small, loses nothing, and has no figure above its bound.
func TestSmallClusters(t *testing.T) {
	for name := range scenarios.Clusters() {
		name = name[len("clusters/") : len(name)-len(".yaml")]
		t.Run(name, func(t *testing.T) {
			text, sets := small(t, name)
			r, s, tab := runAll(t, text, sets...)
			if !s.Complete || s.Drops != 0 || s.Retransmissions != 0 {
				t.Errorf("complete %v, %d drops, %d retransmitted", s.Complete, s.Drops, s.Retransmissions)
			}
			possible(t, r, s, tab)
		})
	}
}

// rate returns the rate of a small cluster's traffic as a share of its bound.
func rate(t *testing.T, name string, more ...string) float64 {
	t.Helper()
	text, sets := small(t, name)
	_, s, _ := runAll(t, text, append(sets, more...)...)
	return s.Collectives[0].BusBW / s.Collectives[0].Bound
}

// The results of the clusters' papers, as far as a small cluster shows them: which variant is faster, and by how
// much at least.
func TestPublishedBehaviour(t *testing.T) {
	// HPN: one queue pair leaves one of a NIC's two ports idle, a second one uses it, and more spread the load.
	one, two, eight := rate(t, "hpn", "transport.qps=1"), rate(t, "hpn"), rate(t, "hpn", "transport.qps=8")
	if one > 0.5 || two < 1.5*one || eight < 1.3*two {
		t.Errorf("HPN: %.2f, %.2f and %.2f of the bound with 1, 2 and 8 queue pairs", one, two, eight)
	}
	// Meta, section 5.3: hashing over more queue pairs is faster than plain ECMP, by up to 40 % for a collective. A
	// random permutation, which has fewer flows, gains more.
	plain, four, many := rate(t, "meta-24k", "transport.qps=1"), rate(t, "meta-24k"),
		rate(t, "meta-24k", "transport.qps=16")
	if four < 1.2*plain || many < 1.1*four {
		t.Errorf("Meta: %.2f, %.2f and %.2f of the bound with 1, 4 and 16 queue pairs", plain, four, many)
	}
	// MegaScale, section 3.6: uplinks of twice a NIC's rate have fewer collisions than equal capacity in links of
	// the NIC's rate.
	var split, whole float64
	for _, seed := range []string{"seed=1", "seed=2", "seed=3", "seed=4"} {
		split += rate(t, "megascale", seed, "cc.algorithm=none") / 4
		whole += rate(t, "megascale", seed, "cc.algorithm=none", "fabric.nodes.agg.count=8",
			"fabric.nodes.core.per.plane=8", "fabric.cables[1].rate=200Gbps") / 4
	}
	if split < 1.1*whole {
		t.Errorf("MegaScale: %.2f of the bound with ports split, %.2f without", split, whole)
	}
	t.Logf("HPN %.2f %.2f %.2f, Meta %.2f %.2f %.2f, MegaScale %.2f %.2f", one, two, eight, plain, four, many,
		split, whole)
}

// Headroom depends on each port's own cable: the round trip of a fibre, or of ten metres to a server. With it PFC
// loses nothing over 80 km.
func TestHeadroomBetweenHalls(t *testing.T) {
	text, _ := small(t, "two-halls")
	for km, length := range map[int64]string{2: "2km", 10: "10km", 80: "80km"} {
		r, s, _ := runAll(t, text, "fabric.cables[3].length="+length)
		if s.PFCPauses == 0 || s.Drops != 0 {
			t.Errorf("%s: %d pauses, %d drops", length, s.PFCPauses, s.Drops)
		}
		// 400 Gbit/s are 50 bytes a nanosecond; light takes 5.05 ns a metre, twice.
		fibre := unit.Bytes(km * 1000 * 505 / 100 * 2 * 50)
		for i, p := range r.Net.Ports {
			n := &r.Graph.Nodes[p.Node]
			if n.Role == topo.Host {
				continue
			}
			far := r.Graph.Nodes[r.Net.Ports[p.Peer].Node].Role
			h := r.Net.HeadroomLimit(int32(i), 3)
			long := n.Role == topo.SuperSpine && far == topo.SuperSpine
			if long && (h < fibre || h > fibre+fibre/10+1e6) || !long && h > 200e3 {
				t.Errorf("%s: port %d of %s has %v, the fibre holds %v", length, i, n.Name, h, fibre)
			}
		}
	}
}
