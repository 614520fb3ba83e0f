package coll

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The tests of this file compute NCCL's tuning model independently (src/graph/tuning.cc and search.cc), with
// separate constants.

// generation is a GPU and the bandwidths of its kernels in GB/s, by one, two and more nodes.
type generation struct {
	name                string
	hopper, blackwell   bool
	tree, ll, nvls      [3]float64
	treeLL128           [3]float64
	ll128Channel, share float64
}

var generations = []generation{
	{"a100", false, false, [3]float64{24, 23.6, 17.8}, [3]float64{87.7, 22.5, 19}, [3]float64{0, 0, 0},
		[3]float64{20, 20, 20}, 20, .85},
	{"h100", true, false, [3]float64{38.7, 41.4, 36}, [3]float64{141, 45, 35}, [3]float64{0, 57.7, 45.5},
		[3]float64{36.7, 36.7, 29}, 36.7, .85},
	{"b200", false, true, [3]float64{70, 42.8, 24}, [3]float64{282, 90, 70}, [3]float64{0, 96, 80},
		[3]float64{55.6, 31.67, 20}, 40, .74},
}

// tenths is the share that trees reach by size from 64 B on, by protocol: a digit is tenths, x is all.
var tenths = map[string]string{
	LL:     "xxxx987777654456789xxxx",
	LL128:  "xxxxx9888766666689999xx",
	Simple: "99999998766555567877899",
}

// TestTunedTimes compares every algorithm and protocol of the model with the sum by hand: base, hops inside nodes,
// hops between them, bytes over bandwidth.
func TestTunedTimes(t *testing.T) {
	inside := map[string]map[string]float64{ByRing: {LL: .6, LL128: 1.9, Simple: 3.4},
		ByTree: {LL: .6, LL128: 1.25, Simple: 4}}
	between := map[string]map[string]float64{ByRing: {LL: 2.7, LL128: 4, Simple: 14},
		ByTree: {LL: 5, LL128: 8.5, Simple: 14}}
	base := map[string]map[string]float64{ByRing: {LL: 6.6, LL128: 14, Simple: 8.4},
		ByTree: {LL: 6.8, LL128: 14, Simple: 8.4}}
	for _, g := range generations {
		for _, shape := range []struct{ nodes, per, log int }{{1, 8, 0}, {2, 8, 1}, {3, 4, 1}, {4, 1, 2}, {16, 8, 4}} {
			for _, nic := range []float64{50, 400} {
				m := Machine{Nodes: shape.nodes, PerNode: shape.per, NVLink: 240, NIC: nic, Channels: 4,
					Hopper: g.hopper, Blackwell: g.blackwell}
				n, at := float64(shape.nodes*shape.per), min(shape.nodes, 3)-1
				ring, tree := nic, nic
				if shape.nodes == 1 {
					ring = 240
				} else if shape.nodes == 2 {
					ring, tree = min(240, nic), min(240, 2*nic)
				}
				reach := map[string]float64{LL: min(ring/2, g.ll[at]), LL128: min(ring*.92, 4*g.ll128Channel),
					Simple: ring}
				up := min(tree*.92, 4*g.tree[at])
				both := map[string]float64{LL: min(up/3.8, g.ll[at]), LL128: min(up*15/16, 4*g.treeLL128[at]),
					Simple: up}
				for power := 5; power < 31; power++ {
					bytes := 1.5 * math.Exp2(float64(power))
					for kind, laps := range map[Kind]float64{AllReduce: 2, AllGather: 1, ReduceScatter: 1} {
						want := map[string]float64{}
						for _, p := range []string{LL, LL128, Simple} {
							hop := inside[ByRing][p]
							if shape.nodes > 1 {
								hop = max(hop, map[string]float64{LL: 1, LL128: 1, Simple: 3}[p])
							}
							crossings := laps * float64(shape.nodes-1)
							far := between[ByRing][p]
							if shape.per == 1 {
								far = between[ByTree][p]
							}
							latency := base[ByRing][p] + (laps*(n-1)-crossings)*hop + crossings*far
							if kind == AllReduce && p == Simple && shape.nodes > 1 && bytes >= 64*4*n {
								latency *= 1.4
							}
							want[ByRing+" "+p] = latency + bytes/1000/(reach[p]*n/(laps*(n-1)))
							if kind != AllReduce || shape.nodes == 1 {
								continue
							}
							bw := both[p] / 2
							if i := power - 6; i >= 0 && i < 23 && tenths[p][i] != 'x' {
								bw *= float64(tenths[p][i]-'0') / 10
							}
							want[ByTree+" "+p] = base[ByTree][p] + 2*float64(shape.per-1)*inside[ByTree][p] +
								2*float64(shape.log)*between[ByTree][p] + bytes/1000/bw
						}
						name := fmt.Sprintf("%s %+v nic %g %v %g", g.name, shape, nic, kind, bytes)
						compareTimes(t, name, m, kind, bytes, want)
					}
				}
			}
		}
	}
}

// compareTimes compares all choices of a machine with the expected ones, and their bandwidths with their times.
func compareTimes(t *testing.T, name string, m Machine, kind Kind, bytes float64, want map[string]float64) {
	t.Helper()
	got, err := m.Tune(kind, bytes)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%s: %d choices, want %d: %v", name, len(got), len(want), err)
	}
	factor, n := 1.0, float64(m.Nodes*m.PerNode)
	if factor = (n - 1) / n; kind == AllReduce {
		factor *= 2
	}
	last := 0.0
	for _, c := range got {
		w := want[strings.TrimSpace(c.Algorithm+" "+c.Protocol)]
		busbw := factor * bytes / 1000 / c.Micros
		if math.Abs(c.Micros-w) > 1e-9*w || math.Abs(c.BusBW-busbw) > 1e-9*busbw || c.Micros < last {
			t.Errorf("%s: %+v after one of %g us, want %.6g us", name, c, last, w)
		}
		last = c.Micros
	}
}

// h100 is a machine with a number of nodes and GPUs in each, NVLink and NICs in GB/s, and channels.
func h100(nodes, per int, nvlink, nic float64, channels int) Machine {
	return Machine{Nodes: nodes, PerNode: per, NVLink: nvlink, NIC: nic, Channels: channels, Hopper: true}
}

// TestTunedNVLS computes NVLS and NVLSTree by hand: 25 us, and 20.9 per hop of the tree up and down. There is a
// channel per head, each as fast as NVLink, the reduction or NICs permit.
func TestTunedNVLS(t *testing.T) {
	for _, c := range []struct {
		name             string
		m                Machine
		latency, channel float64 // GB/s of each head
		heads            float64 // 0: no NVLS
	}{
		{"H100, one node, NVLink is full", h100(1, 8, 371, 400, 16),
			25, 371.0 / 8, 8},
		{"H100, two GPUs add up less", h100(1, 2, 371, 400, 16),
			25, 2 * 371.0 / 2 * .85 / 2, 2},
		{"B200, two GPUs", Machine{Nodes: 1, PerNode: 2, NVLink: 700, NIC: 400, Channels: 16, Blackwell: true},
			25, 2 * 700.0 / 2 * .74 / 2, 2},
		{"72 GPUs have 32 heads", Machine{Nodes: 1, PerNode: 72, NVLink: 700, NIC: 400, Channels: 64, Blackwell: true},
			25, 700.0 / 32, 32},
		{"one GPU", h100(2, 1, 371, 400, 16), 0, 0, 0},
		{"two nodes, a channel's limit", h100(2, 8, 371, 400, 16),
			25 + 2*20.9, 57.7, 8},
		{"two nodes, twice the NICs", h100(2, 8, 371, 100, 16),
			25 + 2*20.9, 2 * 100.0 / 8, 8},
		{"four nodes, the NICs", h100(4, 8, 371, 100, 16),
			25 + 4*20.9, 100.0 / 8, 8},
		{"five nodes, a channel's limit", h100(5, 8, 371, 400, 16),
			25 + 4*20.9, 45.5, 8},
		{"B200, two nodes, a channel's limit", Machine{Nodes: 2, PerNode: 8, NVLink: 900, NIC: 400, Channels: 16,
			Blackwell: true}, 25 + 2*20.9, 96, 8},
		{"B200, five nodes, a channel's limit", Machine{Nodes: 5, PerNode: 8, NVLink: 900, NIC: 800, Channels: 16,
			Blackwell: true}, 25 + 4*20.9, 80, 8},
		{"four heads for eight channels", h100(4, 8, 371, 100, 8),
			25 + 4*20.9, 100.0 / 4, 4},
		{"two heads for four channels, the sums", h100(2, 8, 60, 400, 4),
			25 + 2*20.9, 2 * 60.0 / 2 * .85 / 2, 2},
		{"one head for two channels", h100(4, 8, 371, 100, 2), 0, 0, 0},
	} {
		c.m.NVLS = true
		n := float64(c.m.Nodes * c.m.PerNode)
		got, err := c.m.Tune(AllReduce, 1e9)
		if err != nil {
			t.Fatal(err)
		}
		found := 0.0
		for _, choice := range got {
			if strings.HasPrefix(choice.Algorithm, ByNVLS) {
				found = choice.Reckoned
				if tree := choice.Algorithm == ByNVLSTree; tree != (c.m.Nodes > 1) || choice.Protocol != Simple {
					t.Errorf("%s: %+v", c.name, choice)
				}
			}
		}
		want := 0.0
		if c.heads > 0 {
			want = c.latency + 1e6/(c.heads*c.channel*n/(2*(n-1)))
		}
		if math.Abs(found-want) > 1e-6 {
			t.Errorf("%s: %.3f us, want %.3f", c.name, found, want)
		}
	}
	off := h100(1, 8, 371, 400, 16)
	if got, _ := off.Tune(AllReduce, 1e9); len(got) != 3 {
		t.Errorf("without NVLS: %+v", got)
	}
	on := off
	on.NVLS = true
	if got, _ := on.Tune(AllGather, 1e9); len(got) != 3 {
		t.Errorf("all-gathers by NVLS: %+v", got)
	}
}

// TestMachineBounds accepts machines up to both ends of the range and rejects the next value.
func TestMachineBounds(t *testing.T) {
	good := Machine{Nodes: 2, PerNode: 8, NVLink: 371, NIC: 400, Channels: 16}
	set := map[string]func(m *Machine, v float64){
		"nodes":    func(m *Machine, v float64) { m.Nodes = int(v) },
		"per node": func(m *Machine, v float64) { m.PerNode = int(v) },
		"single":   func(m *Machine, v float64) { m.Nodes, m.PerNode = 1, int(v) },
		"channels": func(m *Machine, v float64) { m.Channels = int(v) },
		"NVLink":   func(m *Machine, v float64) { m.NVLink = v },
		"NIC":      func(m *Machine, v float64) { m.NIC = v },
	}
	for what, values := range map[string]struct{ good, poor []float64 }{
		"nodes":    {[]float64{1, 131072}, []float64{-1, 0, 131073}},
		"per node": {[]float64{1, 1024}, []float64{-1, 0, 1025}},
		"single":   {[]float64{2, 1024}, []float64{1, 0}},
		"channels": {[]float64{1, 64}, []float64{-1, 0, 65}},
		"NVLink":   {[]float64{1e-3, 1e6}, []float64{0, -1, math.NaN()}},
		"NIC":      {[]float64{1e-3, 1e6}, []float64{0, -1, math.NaN()}},
	} {
		for fits, vs := range map[bool][]float64{true: values.good, false: values.poor} {
			for _, v := range vs {
				m := good
				set[what](&m, v)
				if _, err := m.Tune(AllReduce, 1); (err == nil) != fits {
					t.Errorf("%s %g: accepted should be %v: %v", what, v, fits, err)
				}
			}
		}
	}
	for b, fits := range map[float64]bool{0: false, -1: false, 1e-3: true, 1e17: true, 1e18: false} {
		if _, err := good.Tune(AllReduce, b); (err == nil) != fits {
			t.Errorf("%g bytes: accepted should be %v: %v", b, fits, err)
		}
	}
}

// TestProtocolCosts: beyond the wire's own latency, which is LL's, LL128 and Simple add the tuning model's
// difference. LL sends 4 bytes of flag with 4 of data, and LL128 8 with 120.
func TestProtocolCosts(t *testing.T) {
	for _, c := range []struct {
		protocol   string
		local      bool
		wait, wire float64
	}{{LL, true, 0, 2}, {LL, false, 0, 2}, {LL128, true, 1.3, 16.0 / 15}, {LL128, false, 1.3, 16.0 / 15},
		{Simple, true, 2.8, 1}, {Simple, false, 11.3, 1}} {
		wait, wire := ProtocolCost(c.protocol, c.local)
		if math.Abs(wait-c.wait) > 1e-9 || math.Abs(wire-c.wire) > 1e-9 {
			t.Errorf("%s, local %v: %g us and %g bytes a byte, want %g and %g", c.protocol, c.local,
				wait, wire, c.wait, c.wire)
		}
	}
	for by, want := range map[string][2]float64{ByNVLS: {18.2, 25}, ByNVLSTree: {18.2, 12.5}} {
		if net, local := NVLSCost(by, false), NVLSCost(by, true); math.Abs(net-want[0]) > 1e-9 || local != want[1] {
			t.Errorf("%s: %g us between nodes, %g inside, want %v", by, net, local, want)
		}
	}
}

// No estimate exceeds the NICs' bound, whatever NCCL's model has. For an all-reduce a server's NICs send at least
// 2(n-1)/n of the bytes, for other collectives half of that. In one server NVSwitch passes (n+1)/n through each
// GPU.
func TestNothingAboveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Machine{Nodes: rapid.IntRange(1, 64).Draw(t, "servers"), PerNode: rapid.IntRange(1, 72).Draw(t, "GPUs"),
			NVLink:   rapid.Float64Range(50, 900).Draw(t, "NVLink"),
			NIC:      rapid.Float64Range(12, 900).Draw(t, "NICs"),
			Channels: rapid.IntRange(1, 64).Draw(t, "channels"), Hopper: true,
			Blackwell: rapid.Bool().Draw(t, "blackwell"), NVLS: rapid.Bool().Draw(t, "NVLS")}
		if m.Nodes*m.PerNode < 2 {
			return
		}
		kind := rapid.SampledFrom([]Kind{AllReduce, AllGather, ReduceScatter}).Draw(t, "kind")
		bytes := rapid.Float64Range(1, 1e12).Draw(t, "bytes")
		all, err := m.Tune(kind, bytes)
		if err != nil {
			t.Fatal(err)
		}
		n, gpus := float64(m.Nodes), float64(m.PerNode)
		sent := (n - 1) / n * bytes / (1000 * m.NIC)
		if kind == AllReduce {
			sent *= 2
		}
		for _, c := range all {
			wire := sent
			if c.Algorithm == ByNVLS {
				wire = max(wire, bytes*(gpus+1)/gpus/(1000*m.NVLink))
			}
			if c.Micros < wire*(1-1e-12) {
				t.Errorf("%+v: %v of %g bytes by %s takes %.3f us, the wire %.3f", m, kind, bytes, c.Algorithm,
					c.Micros, wire)
			}
		}
	})
	// Two servers of eight B200 with 400G each, 8 GiB: 8 x 50 GB/s take 21.47 ms.
	b200 := Machine{Nodes: 2, PerNode: 8, NVLink: 721.8, NIC: 400, Channels: 16, Blackwell: true, NVLS: true}
	all, err := b200.Tune(AllReduce, 8<<30)
	if err != nil || all[0].Micros < 21474.8 || all[0].Micros > 22000 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestCopyRate checks the rates of kernels against NCCL's tables (llMaxBws, perChMaxRingLL128Bws,
// perChMaxNVLSTreeBws). No estimate is below the time of copying: a ring's 2(n-1)/n of the bytes, a tree's bytes up and
// down, NVSwitch's 9/8.
func TestCopyRate(t *testing.T) {
	for _, c := range []struct {
		nodes, channels     int
		hopper              bool
		algorithm, protocol string
		want                float64
	}{
		{1, 16, true, ByRing, LL, 141}, {2, 16, true, ByTree, LL, 45}, {8, 16, true, ByRing, LL, 35},
		{8, 16, false, ByRing, LL, 19}, {8, 16, true, ByRing, LL128, 0}, {8, 2, true, ByRing, LL128, 73.4},
		{8, 2, true, ByTree, LL128, 58}, {8, 2, true, ByRing, Simple, 0},
		{8, 16, true, ByNVLSTree, Simple, 8 * 45.5 * 64 / 126 * 9 / 8 / .85},
		{2, 16, true, ByNVLSTree, Simple, 8 * 57.7 * 16 / 30 * 9 / 8 / .85}, {1, 16, true, ByNVLS, Simple, 0},
	} {
		m := Machine{Nodes: c.nodes, PerNode: 8, NVLink: 360, NIC: 400, Channels: c.channels, Hopper: c.hopper}
		if got := m.CopyRate(c.algorithm, c.protocol); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %g GB/s", c, got)
		}
		all, err := m.Tune(AllReduce, 1e9)
		if err != nil {
			t.Fatal(err)
		}
		n := float64(8 * c.nodes)
		sent := map[string]float64{ByRing: 2 * (n - 1) / n * 1e9, ByTree: 2e9,
			ByNVLSTree: 9e9 / 8 / .85}
		for _, x := range all {
			if rate := m.CopyRate(x.Algorithm, x.Protocol); rate > 0 && x.Reckoned < sent[x.Algorithm]/(1000*rate) {
				t.Errorf("%+v is below the time of copying at %g GB/s", x, rate)
			}
		}
	}
}

// TestTuneGrows doubles collectives of random machines. The time of NCCL's choice does not fall.
func TestTuneGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Machine{Nodes: rapid.IntRange(1, 64).Draw(t, "nodes"), PerNode: rapid.IntRange(2, 8).Draw(t, "per"),
			NVLink: rapid.Float64Range(100, 900).Draw(t, "nvlink"), NIC: rapid.Float64Range(10, 800).Draw(t, "nic"),
			Channels: rapid.IntRange(2, 32).Draw(t, "channels"), Hopper: rapid.Bool().Draw(t, "hopper"),
			NVLS: rapid.Bool().Draw(t, "nvls")}
		m.Blackwell = m.Hopper && rapid.Bool().Draw(t, "blackwell")
		kind := rapid.SampledFrom([]Kind{AllReduce, AllGather, ReduceScatter}).Draw(t, "kind")
		var was Choice
		for bytes := 1024.0; bytes <= 1<<33; bytes *= 2 {
			all, err := m.Tune(kind, bytes)
			if err != nil {
				t.Fatal(err)
			}
			if all[0].Reckoned < was.Reckoned || all[0].Micros < was.Micros {
				t.Fatalf("%+v, %v of %g bytes: %+v after %+v", m, kind, bytes, all[0], was)
			}
			was = all[0]
		}
	})
}
