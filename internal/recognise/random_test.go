package recognise

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"railyard/internal/cabling"
	"railyard/internal/long"
	"railyard/internal/site"
	"railyard/internal/topo"
	"railyard/unit"

	"pgregory.net/rapid"
)

// Properties are drawn 40 times, or 400 when long tests run.
var _ = long.Draws(40, 400)

// drawFabric is a random fabric of any kind that the builders know, or like Alibaba's HPN.
func drawFabric(t *rapid.T) *topo.Graph {
	n := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
	p := topo.Params{HostCable: hostCable, Fabric: fabricCable}
	kind := rapid.SampledFrom([]string{"single-rail", "dual-rail", "rail-only", "rail", "pod", "fat-tree",
		"torus",
		"dragonfly", "hpn"}).Draw(t, "kind")
	if kind == "hpn" {
		return hpn(t, n("segments", 1, 4), n("hosts", 1, 5), n("aggs", 1, 4))
	}
	nics := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "nics")
	p.Server = topo.Server{GPUs: nics * n("per", 1, 2), NICs: nics, Ports: 1}
	p.Segments = 1
	switch p.Hosts = n("hosts", 1, 6); kind {
	case "dual-rail":
		p.Server.Ports = 2
	case "rail", "pod":
		p.Segments, p.Spines, p.Uplinks = n("segments", 1, 4), n("spines", 1, 4), n("uplinks", 1, 3)
		if kind == "pod" {
			p.Server.Ports = 2
		}
	case "fat-tree":
		p.K, p.Tiers = 2*n("k", 1, 4), n("tiers", 2, 3)
	case "torus":
		p.K, p.Uplinks = n("k", 2, 4), n("uplinks", 1, 2)
	case "dragonfly":
		p.K, p.GroupSize, p.Global = n("k", 1, 3), n("size", 1, 4), n("global", 1, 3)
	}
	g, err := topo.Build(kind, p)
	if err != nil {
		t.Skip(err)
	}
	return g
}

// Random fabrics of every kind come back: Recognise itself holds what it found against the
// cables, so an error is a bug. All but dragonflies, whose cables between groups follow no rule of
// the language, come back in few lines.
func TestRandomFabrics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawFabric(t)
		f, err := Recognise(cabling.Of(g), Options{})
		if err != nil {
			t.Fatal(err)
		}
		lines := len(f.Site.Nodes) + len(f.Site.Cables)
		if most := map[string]int{"dragonfly": 200, "torus": 16, "pod": 15}[g.Kind]; lines > max(most, 10) {
			t.Fatalf("%s: %d lines\n%s", g.Kind, lines, f.YAML("x", ""))
		}
	})
}

// Graphs without any pattern, of servers and switches with any names, come back as well.
func TestRandomCables(t *testing.T) {
	for _, seed := range []uint64{0x38d37} { // a rule in two patterns, one of which joins nothing
		randomCables(t, seed)
	}
	rapid.Check(t, func(t *rapid.T) { randomCables(t, rapid.Uint64().Draw(t, "seed")) })
}

// randomCables recognises the graph of a seed.
func randomCables(t interface{ Fatal(...any) }, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	names := []func(i int) string{
		func(i int) string { return fmt.Sprintf("sw-%d", i+1) },
		func(i int) string { return fmt.Sprintf("sw%d", i) },
		func(i int) string { return fmt.Sprintf("r%02d-tor%d", i/3+7, i%3) },
		func(i int) string { return fmt.Sprintf("%d.sw.%03d.x", 1+i%2, i) },
		func(i int) string { return strings.Repeat("0", i%4) + fmt.Sprint(i*i) },
	}
	pick := names[r.IntN(len(names))]
	var nodes []cabling.Node
	for i := range 2 + r.IntN(10) {
		nodes = append(nodes, cabling.Node{Name: "x" + pick(i), Kind: cabling.Switch, GPUs: -1})
	}
	switches := len(nodes)
	for i := range 1 + r.IntN(10) {
		nodes = append(nodes, cabling.Node{Name: fmt.Sprintf("h%d", i), Kind: cabling.Server, GPUs: -1})
	}
	var cables []cabling.Cable
	rates := []unit.Rate{400 * unit.Gbps, 100 * unit.Gbps}
	add := func(a, b int) {
		if a != b {
			cables = append(cables, cabling.Cable{A: cabling.End{Node: a}, B: cabling.End{Node: b},
				Rate: rates[r.IntN(2)], LengthMM: int64(1000 * (1 + r.IntN(2)))})
		}
	}
	for i := switches; i < len(nodes); i++ {
		for range 1 + r.IntN(3) {
			add(i, r.IntN(switches))
		}
	}
	for range r.IntN(30) {
		add(r.IntN(switches), r.IntN(switches))
	}
	if _, err := Recognise(cabling.New(nodes, cables), Options{}); err != nil {
		t.Fatal(err)
	}
}

// hpn is the shape of Alibaba's pod (Qian et al., SIGCOMM 2024, section 3): segments of servers
// whose NICs have a port in each of two planes.
func hpn(t rapid.TB, segments, hosts, aggs int) *topo.Graph {
	t.Helper()
	s := &site.Site{
		Types: []site.Type{{Name: "host", GPUs: 8, NICs: 8, NICPorts: 2, NICRate: 200 * unit.Gbps},
			{Name: "tor"},
			{Name: "agg", Role: "aggregation"}},
		Nodes: []site.Group{
			{Name: "host", Type: "host", Per: site.Pairs{{Key: "segment", Value: fmt.Sprint(segments)}},
				Count: hosts},
			{Name: "tor", Type: "tor", Per: site.Pairs{{Key: "segment", Value: fmt.Sprint(segments)},
				{Key: "rail", Value: "8"},
				{Key: "plane", Value: "2"}}},
			{Name: "agg", Type: "agg", Per: site.Pairs{{Key: "plane", Value: "2"}}, Count: aggs}},
		Cables: []site.Rule{
			{From: "host", To: "tor", Same: []string{"segment"},
				Match: site.Pairs{{Key: "rail", Value: "nic"}, {Key: "plane", Value: "port"}}},
			{From: "tor", To: "agg", Same: []string{"plane"}}},
	}
	g, err := s.Build(site.Defaults{Host: hostCable, Fabric: fabricCable})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// The pod comes back as it is written, with a NIC's ports and without.
func TestHPN(t *testing.T) {
	for ports, want := range map[int]string{
		1: "{from: host, to: tor, same: [segment], match: {rail: nic/2, plane: nic%2}}",
		2: "{from: host, to: tor, same: [segment], match: {rail: nic, plane: port}}",
	} {
		f, err := Recognise(cabling.Of(hpn(t, 5, 16, 8)), Options{NICPorts: ports})
		if err != nil {
			t.Fatal(err)
		}
		text := f.YAML("x", "")
		if !strings.Contains(text, want) || !strings.Contains(text, "{from: tor, to: agg, same: [plane]}") ||
			len(f.Site.Cables) != 2 {
			t.Error(text)
		}
	}
}
