package coll

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/unit"
)

// Machine is the input of NCCL's tuning model: nodes, GPUs per node, bandwidths.
type Machine struct {
	Nodes, PerNode int
	NVLink         float64 // GB/s of all channels inside a node
	NIC            float64 // GB/s of all channels between nodes
	Channels       int
	Hopper         bool // per-channel limits of H100 and newer, else of A100
	Blackwell      bool // GPUs are B200 or newer
	NVLS           bool // NVLink SHARP
}

// Choice is an algorithm and a protocol with the time that the model gives them.
type Choice struct {
	Algorithm string  `json:"algorithm"`
	Protocol  string  `json:"protocol"`
	Micros    float64 `json:"microseconds"` // estimated time, at least that of the NICs
	BusBW     float64 `json:"busbw_gbytes_s"`
	Reckoned  float64 `json:"nccl_microseconds"` // time by which NCCL chooses
}

// Protocols of NCCL.
const (
	LL     = "ll"     // 4 bytes of data with 4 of flag: no synchronisation, half the bandwidth
	LL128  = "ll128"  // 120 bytes with 8 of flag
	Simple = "simple" // whole slices, with a synchronisation each
)

// NVLSLatency is the time of a reduction by NVSwitch before the first byte, in microseconds. nvlsNet is the latency
// of NVLSTree's hop between servers (hwLat of nccl src/graph/tuning.cc).
const (
	NVLSLatency = 25.0
	nvlsNet     = 20.9
)

// Protocols lists them in NCCL's order.
var Protocols = []string{LL, LL128, Simple}

// ByNVLS is the name of NVLink SHARP.
const ByNVLS = "nvls"

// Constants of nccl src/graph/tuning.cc, in microseconds, arrays by protocol (docs/references.md, nccl-tuning).
var (
	baseTree, baseRing = [3]float64{6.8, 14, 8.4}, [3]float64{6.6, 14, 8.4}
	linkTree, linkRing = [3]float64{0.6, 1.25, 4.0}, [3]float64{0.6, 1.9, 3.4} // over NVLink
	netTree, netRing   = [3]float64{5, 8.5, 14}, [3]float64{2.7, 4, 14}        // over the network
)

// limits are per-channel and total bandwidths of a GPU's kernels, in GB/s, for one, two, and more nodes; nvls are
// the bandwidths of NVLSTree.
type limits struct {
	tree, treeLL128, ll, nvls [3]float64
	ll128                     float64
}

var (
	blackwell = limits{tree: [3]float64{70, 42.8, 24}, treeLL128: [3]float64{55.6, 31.67, 20},
		ll: [3]float64{282, 90, 70}, nvls: [3]float64{0, 96, 80}, ll128: 40}
	hopper = limits{tree: [3]float64{38.7, 41.4, 36}, treeLL128: [3]float64{36.7, 36.7, 29},
		ll: [3]float64{141, 45, 35}, nvls: [3]float64{0, 57.7, 45.5}, ll128: 36.7}
	ampere = limits{tree: [3]float64{24, 23.6, 17.8}, treeLL128: [3]float64{20, 20, 20},
		ll: [3]float64{87.7, 22.5, 19}, ll128: 20}
)

// treeShare is the share of its bandwidth that a tree of an all-reduce reaches: by protocol, then by the power of
// two from 64 B to 256 MB (treeCorrectionFactor of src/graph/tuning.cc). Beyond, the share is 1.
var treeShare = [3][23]float64{
	{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
	{1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
	{.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
}

// netOverhead is the minimum cost of a hop between nodes, in microseconds; three times that with Simple.
const netOverhead = 1.0

// Check refuses impossible machines.
func (m Machine) Check() error {
	if m.Nodes < 1 || m.PerNode < 1 || m.Nodes > 1<<17 || m.PerNode > 1<<10 || m.Nodes*m.PerNode < 2 ||
		m.Channels < 1 || m.Channels > MostChannels || !(m.NVLink > 0) || !(m.NIC > 0) {
		return fmt.Errorf("a collective needs two ranks, 1 to %d channels and positive rates", MostChannels)
	}
	return nil
}

// Tune returns every algorithm and protocol that NCCL would consider for a collective of the given bytes (for
// all-gathers and reduce-scatters, total over ranks). They are sorted by estimated time: latency plus bytes over
// bandwidth. All-reduces support rings, trees and, if NVSwitches reduce, NVLS in one node and NVLSTree in several;
// all-gathers and reduce-scatters are rings.
func (m Machine) Tune(kind Kind, bytes float64) ([]Choice, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if kind != AllReduce && kind != AllGather && kind != ReduceScatter {
		return nil, fmt.Errorf("the tuning model contains all-reduce, all-gather and reduce-scatter, not %v", kind)
	}
	if !(bytes > 0 && bytes < 1e18) {
		return nil, fmt.Errorf("a collective of %g bytes cannot be", bytes)
	}
	var out []Choice
	put := func(algorithm string, p int, latency, algbw, moved, reached float64) {
		t := latency + moved/(1000*min(reached, m.wire(kind)))
		out = append(out,
			Choice{algorithm, Protocols[p], t, bytes / (1000 * t) * kind.BusFactor(m.Nodes*m.PerNode),
				latency + bytes/(1000*algbw)})
	}
	add := func(algorithm string, p int, latency, algbw float64) { put(algorithm, p, latency, algbw, bytes, algbw) }
	for p := range Protocols {
		add(ByRing, p, m.ringLatency(kind, p, bytes), m.ringBandwidth(kind, p))
		if kind == AllReduce && m.Nodes > 1 {
			add(ByTree, p, m.treeLatency(p), m.treeBandwidth(p, bytes))
		}
	}
	if algbw := m.nvlsBandwidth(); kind == AllReduce && algbw > 0 {
		by, latency, reached, moved := ByNVLS, NVLSLatency, m.switched(), bytes
		if m.Nodes == 1 {
			moved += 2 * float64(nvlsRound(NVLSShare(m.Blackwell), m.PerNode, unit.Bytes(bytes)))
		} else {
			by, latency = ByNVLSTree, NVLSLatency+2*math.Floor(math.Log2(float64(m.Nodes)))*nvlsNet
			reached = min(reached, algbw)
		}
		put(by, 2, latency, algbw, moved, reached)
	}
	slices.SortStableFunc(out, func(a, b Choice) int { return cmp.Compare(a.Reckoned, b.Reckoned) })
	return out, nil
}

// steps returns the number of hops of a ring, and the number of hops that leave a node.
func (m Machine) steps(kind Kind) (all, inter float64) {
	all, inter = float64(m.Nodes*m.PerNode-1), float64(m.Nodes-1)
	if kind == AllReduce {
		all, inter = 2*all, 2*inter
	}
	return all, inter
}

func (m Machine) ringLatency(kind Kind, p int, bytes float64) float64 {
	all, inter := m.steps(kind)
	link, net, simple := linkRing[p], netRing[p], Protocols[p] == Simple
	if m.PerNode == 1 { // latencies are fully exposed
		net = netTree[p]
	}
	if m.Nodes > 1 {
		overhead := netOverhead
		if simple {
			overhead *= 3
		}
		link = max(link, overhead)
	}
	t := baseRing[p] + (all-inter)*link + inter*net
	if kind == AllReduce && simple && m.Nodes > 1 && bytes/float64(m.Channels*m.Nodes*m.PerNode) >= 64 {
		t *= 1.4
	}
	return t
}

func (m Machine) treeLatency(p int) float64 {
	return baseTree[p] + 2*(float64(m.PerNode-1)*linkTree[p]+math.Floor(math.Log2(float64(m.Nodes)))*netTree[p])
}

// bus returns the total bandwidth of all channels of a ring. NCCL searches a ring with one rate inside nodes and
// between them. Trees may be faster inside, up to twice, which matters on two nodes (nccl src/graph/search.cc,
// ncclTopoCompute; docs/references.md, nccl-tuning).
func (m Machine) bus() float64 {
	switch m.Nodes {
	case 1:
		return m.NVLink
	case 2:
		return min(m.NVLink, m.NIC)
	}
	return m.NIC
}

// treeBus returns the total bandwidth of all channels of a tree.
func (m Machine) treeBus() float64 {
	if m.Nodes == 2 {
		return min(m.NVLink, 2*m.NIC)
	}
	return m.bus()
}

// limits returns the limits of the GPUs.
func (m Machine) limits() limits {
	switch {
	case m.Blackwell:
		return blackwell
	case m.Hopper:
		return hopper
	}
	return ampere
}

// limit picks a limit by the number of nodes.
func (m Machine) limit() (tree, ll, ll128 float64) {
	l, i := m.limits(), min(m.Nodes, 3)-1
	return l.tree[i], l.ll[i], l.ll128
}

// wire returns the NICs' bound on the bandwidth of a collective, in GB/s. For an all-reduce a node sends at least
// 2(n-1)/n of the bytes, for other collectives half of that. Inf: nothing leaves the node.
func (m Machine) wire(kind Kind) float64 {
	n := float64(m.Nodes)
	if m.Nodes < 2 {
		return math.Inf(1)
	}
	if kind == AllReduce {
		return m.NIC * n / (2 * (n - 1))
	}
	return m.NIC * n / (n - 1)
}

// switched returns the bandwidth of an all-reduce by NVSwitch inside a node, in GB/s (NVLS). A GPU sends and
// receives (n+1)/n of the bytes at the share of NVLink's rate at which the switch reduces.
func (m Machine) switched() float64 {
	n := float64(m.PerNode)
	return m.NVLink * NVLSShare(m.Blackwell) * n / (n + 1)
}

// nvlsBandwidth returns the bandwidth of an all-reduce by NVSwitches, in GB/s, as NCCL estimates it: a channel per
// GPU where reductions start, each limited by NVLink and NICs. The estimate ignores that sums cross NVLink only
// once; measurements are higher (switched). 0: unsupported.
func (m Machine) nvlsBandwidth() float64 {
	heads := m.heads()
	if !m.NVLS || heads < 2 {
		return 0
	}
	n := float64(heads)
	intra := m.NVLink / n
	each := min(2*intra*NVLSShare(m.Blackwell)*(n-1)/n, intra)
	if m.Nodes > 1 {
		inter := m.NIC / n
		if m.Nodes == 2 {
			inter *= 2
		}
		each = min(2*intra*NVLSShare(m.Blackwell)*(n-1)/n, inter, m.limits().nvls[min(m.Nodes, 3)-1])
	}
	all, _ := m.steps(AllReduce)
	return n * each * float64(m.Nodes*m.PerNode) / all
}

// ringBandwidth returns the algorithm bandwidth of a ring, in GB/s.
func (m Machine) ringBandwidth(kind Kind, p int) float64 {
	bus := m.bus()
	_, ll, ll128 := m.limit()
	switch Protocols[p] {
	case LL:
		bus = min(ll, bus*0.5)
	case LL128:
		bus = min(bus*0.92, float64(m.Channels)*ll128)
	}
	all, _ := m.steps(kind)
	return bus * float64(m.Nodes*m.PerNode) / all
}

// treeLL128 returns the limit of a channel of a tree with LL128, in GB/s.
func (m Machine) treeLL128() float64 { return m.limits().treeLL128[min(m.Nodes, 3)-1] }

// CopyRate returns the rate at which a rank's kernels copy data with a protocol, over all channels and independent
// of links, in GB/s: llMaxBws, perChMaxRingLL128Bws, perChMaxTreeLL128Bws and perChMaxNVLSTreeBws of nccl
// src/graph/tuning.cc. A ring passes
// a rank's share of bus bandwidth, and a tree each byte up and down. NVLSTree passes NVSwitch's bytes of a rank
// (NVLSBytes). 0: no bound, or one that NVLink does not exceed.
func (m Machine) CopyRate(algorithm, protocol string) float64 {
	_, ll, ll128 := m.limit()
	switch {
	case protocol == LL:
		return ll
	case protocol == LL128 && algorithm == ByRing && float64(m.Channels)*ll128 < m.NVLink:
		return float64(m.Channels) * ll128
	case protocol == LL128 && algorithm == ByTree && float64(m.Channels)*m.treeLL128() < m.NVLink:
		return float64(m.Channels) * m.treeLL128()
	case algorithm == ByNVLSTree && m.Nodes > 1:
		ranks, n := float64(m.Nodes*m.PerNode), float64(m.PerNode)
		all, _ := m.steps(AllReduce)
		bus := float64(m.heads()) * m.limits().nvls[min(m.Nodes, 3)-1]
		if rate := bus * ranks / all * (n + 1) / n / NVLSShare(m.Blackwell); rate < m.NVLink {
			return rate
		}
	}
	return 0
}

// heads returns the number of GPUs of a node where NVSwitch's sums begin, between nodes each with a NIC.
func (m Machine) heads() int {
	if m.Nodes > 1 {
		return min(m.PerNode, nvlsHeads, m.Channels/2)
	}
	return min(m.PerNode, nvlsHeads)
}

// treeBandwidth is the same for trees, which send every byte up and down.
func (m Machine) treeBandwidth(p int, bytes float64) float64 {
	tree, ll, _ := m.limit()
	bus := min(m.treeBus()*0.92, float64(m.Channels)*tree)
	switch Protocols[p] {
	case LL:
		bus = min(bus/3.8, ll)
	case LL128:
		bus = min(bus*120/128, float64(m.Channels)*m.treeLL128())
	}
	if i := math.Floor(math.Log2(bytes / 64)); i >= 0 && i < float64(len(treeShare[p])) {
		bus *= treeShare[p][int(i)]
	}
	return bus / 2
}

// ProtocolCost returns the cost that a protocol adds to a transfer: microseconds beyond LL's latency, which is the
// wire's own, and the bytes on the wire per byte of data.
func ProtocolCost(protocol string, local bool) (wait, wire float64) {
	hop := netRing
	if local {
		hop = linkRing
	}
	switch protocol {
	case LL:
		return 0, 2
	case LL128:
		return hop[1] - hop[0], 128.0 / 120
	}
	return hop[2] - hop[0], 1
}

// StartCost returns a protocol's one-time cost before the first transfer, in microseconds: baseLat of the tuning model,
// for trees and rings; NVLS has none.
func StartCost(algorithm, protocol string) float64 {
	of := baseRing
	switch algorithm {
	case ByNVLS, ByNVLSTree:
		return 0
	case ByTree:
		of = baseTree
	}
	if p := slices.Index(Protocols, protocol); p >= 0 {
		return of[p]
	}
	return 0
}

// NVLSCost is ProtocolCost's wait where NVSwitch adds up: for NVLSTree half of it before the trees and half after
// them.
func NVLSCost(by string, local bool) (wait float64) {
	switch {
	case !local:
		return nvlsNet - netRing[0]
	case by == ByNVLSTree:
		return NVLSLatency / 2
	}
	return NVLSLatency
}
