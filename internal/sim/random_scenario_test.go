package sim

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/rng"
	"railyard/internal/route"
)

// drawn is a random scenario from a seed: small fabrics of every kind, queues from short to long, all transports,
// and some with failures, bit errors or storms. Its required properties depend on its features.
type drawn struct {
	*rng.Stream
	seed uint64
	text string
	sets []string

	gpus       int  // GPUs of a server
	regions    bool // the fabric has groups through which packets may go
	lossless   bool // no packet is dropped for lack of buffer
	cnps       bool // CNPs, which no WRED can mark, are in the data's queue
	errors     bool // bits flip
	dog        bool // a watchdog that restores within this run
	breaks     int  // links that break
	fixed      bool // a flow's packets take one path
	selective  bool
	nak        int // packets that must overtake a gap
	window     int
	timeout    int // exponent
	longestOut int // microseconds for which broken links are used, in total
}

func (d *drawn) of(words ...string) string { return words[d.Intn(len(words))] }
func (d *drawn) chance(p float64) bool     { return d.Float64() < p }
func (d *drawn) between(a, b int) int      { return a + d.Intn(b-a+1) }
func (d *drawn) set(format string, args ...any) {
	d.sets = append(d.sets, fmt.Sprintf(format, args...))
}

func (d *drawn) String() string {
	return d.text + "# " + strings.Join(d.sets, "\n# ")
}

// draw returns the scenario of a seed.
func draw(seed uint64) *drawn {
	stream := rng.New(seed, "a scenario")
	d := &drawn{Stream: &stream, seed: seed}
	fabric, ports := d.fabric()
	d.text = fmt.Sprintf("name: drawn\nseed: %d\nfabric: %s\nserver: {gpus: %d, nics: %d, nic_ports: %d}\n"+
		"workload: {traffic: {%s}}\n", d.between(1, 1_000_000), fabric, d.gpus, d.gpus, ports, d.load())
	d.queues()
	d.transport()
	d.congestion()
	d.server()
	if d.chance(0.3) {
		d.set("switch.watchdog.poll=10us")
		d.set("switch.watchdog.detect=%s", d.of("10us", "100us", "1ms"))
		d.set("switch.watchdog.restore=%s", d.of("10us", "100us", "1ms"))
		d.set("switch.watchdog.action=%s", d.of("drop", "forward"))
		d.dog = true
	}
	if d.chance(0.3) {
		rate := d.of("0.000000001", "0.00000001", "0.0000001")
		d.set("fabric.%s_link.bit_error_rate=%s", d.of("host", "fabric"), rate)
		d.errors = true
	}
	if d.chance(0.25) {
		d.breaks = d.between(1, 4)
	}
	if d.chance(0.2) {
		d.set("fabric.ip=6")
	}
	return d
}

var drawnRates = []string{"10Gbps", "25Gbps", "40Gbps", "50Gbps", "100Gbps", "150Gbps", "200Gbps", "300Gbps",
	"400Gbps", "600Gbps", "800Gbps", "1600Gbps", "3200Gbps"}

// fabric draws a fabric of a few switches.
func (d *drawn) fabric() (block string, ports int) {
	rate := d.of(drawnRates...)
	up := rate
	if d.chance(0.5) {
		up = d.of(drawnRates...)
	}
	links := fmt.Sprintf("host_link: {rate: %s, cable: %s}, fabric_link: {rate: %s, cable: %s}",
		rate, d.of("1m", "3m", "100m"), up, d.of("1m", "3m", "30m", "300m", "2km"))
	ports, d.gpus = 1, 2
	switch d.Intn(6) {
	case 0:
		block, d.gpus = "kind: fat-tree, k: 4", 1
	case 1:
		block = fmt.Sprintf("kind: rail, hosts: 4, spines: %d, uplinks: %d", d.between(2, 4), d.between(1, 2))
	case 2:
		block, ports = fmt.Sprintf("kind: pod, segments: 2, hosts: 2, spines: %d", d.between(2, 4)), 2
	case 3:
		block = "kind: rail-only, hosts: 5"
	case 4:
		block, d.gpus = "kind: dragonfly, allow_deadlock: true, k: 1, groups: 3, group_size: 2", 1
		d.regions = true
	case 5:
		block, d.gpus = "kind: graph, allow_deadlock: true, graph: "+d.graph(), 1
	}
	return fmt.Sprintf("{%s, %s, cut_through: %v, pipeline: %s}", block, links, d.chance(0.3),
		d.of("0ns", "400ns", "1us")), ports
}

// graph is two leaves below three spines, with cables of many rates.
func (d *drawn) graph() string {
	rate := func() string { return d.of(drawnRates...) }
	return "{hosts: [h1, h2, h3, h4], switches: [{name: a, role: leaf, tier: 1}, {name: b, role: leaf, " +
		"tier: 1}, " +
		"{name: x, role: spine, tier: 2}, {name: y, role: spine, tier: 2}, {name: z, role: spine, tier: 2}], " +
		"links: [{from: h1, to: a}, {from: h2, to: a}, {from: h3, to: b}, {from: h4, to: b}, " +
		fmt.Sprintf("{from: a, to: x, rate: %s}, {from: a, to: y, rate: %s}, {from: a, to: z, count: 2}, "+
			"{from: b, to: x, rate: %s}, {from: b, to: y}, {from: b, to: z, rate: %s}]}",
			rate(), rate(), rate(), rate())
}

// load draws a pattern and its size, from one byte up.
func (d *drawn) load() string {
	pattern := d.of("permutation: {bytes: %s}", "alltoall: {bytes: %s}", "incast: {bytes: %s, fan_in: 3}",
		"ring-allreduce: {bytes: %s}", "broadcast: {bytes: %s}",
		"collective: {kind: all-reduce, bytes: %s, algorithm: tree}",
		"collective: {kind: all-to-all, bytes: %s, algorithm: pairwise}",
		"collective: {kind: all-reduce, bytes: %s, algorithm: auto, protocol: auto}")
	return fmt.Sprintf(pattern, d.of("1B", "4096B", "4097B", "100KB", "400KB", "1MB", "3MB"))
}

// queues draws the thresholds of the data's queue.
func (d *drawn) queues() {
	d.lossless = !d.chance(0.2)
	d.set("switch.queues.3.lossless=%v", d.lossless)
	xoff := d.between(20, 600)
	if d.chance(0.4) {
		d.set("switch.queues.3.xoff=0B")
	} else {
		d.set("switch.queues.3.xoff=%dKB", xoff)
	}
	d.set("switch.queues.3.xon=%dKB", d.between(0, xoff-1))
	if d.chance(0.5) {
		d.set("switch.queues.3.xon_offset=%dKB", d.between(1, 50))
	}
	d.set("switch.queues.3.alpha=%s", d.of("0.01", "0.125", "1", "8"))
	d.set("switch.pfc_quanta=%s", d.of("500", "5000", "65535"))
	if d.chance(0.2) {
		d.set("switch.queues.3.wred_max=0B")
		d.set("switch.queues.3.wred_min=0B")
		return
	}
	least := d.between(1, 200)
	d.set("switch.queues.3.wred_min=%dKB", least)
	d.set("switch.queues.3.wred_max=%dKB", d.between(least+1, 1000))
	d.set("switch.queues.3.probability=%d", d.between(1, 100))
	if d.chance(0.4) {
		d.set("switch.queues.3.wred_weight=%d", d.between(1, 15))
	}
	if d.chance(0.1) {
		d.set("switch.queues.3.ecn=false")
		d.lossless = false
	}
}

// transport draws the queue pairs and how switches choose among paths.
func (d *drawn) transport() {
	lb := d.of(slices.DeleteFunc(route.Names(), func(name string) bool { // policies for tori, MRC and dragonflies
		p := route.Lookup(name)
		return route.Is[route.EVReader](p) ||
			route.Is[route.Riser](p) && !(route.Is[route.Steerer](p) && d.regions)
	})...)
	d.set("lb=%s", lb)
	d.fixed = route.Lookup(lb).Fixed()
	if d.selective = d.chance(0.65); d.selective {
		d.set("transport.recovery=selective")
	}
	d.set("transport.write=%s", d.of("first-middle-last", "only"))
	d.set("transport.mtu=%s", d.of("256", "1024", "2048", "4096"))
	d.set("transport.ack_every=%s", d.of("1", "2", "16", "64", "1000", "65536"))
	d.timeout = d.between(7, 14)
	d.set("transport.timeout=%d", d.timeout)
	d.window = []int{64, 256, 4096, 65536}[d.Intn(4)]
	d.set("transport.window=%d", d.window)
	if d.selective {
		d.nak = min(d.window-1, []int{0, 3, 32, 256, 4000}[d.Intn(5)])
		d.set("transport.nak_after=%d", d.nak)
	}
	d.set("transport.qps=%d", d.between(1, 4))
	if d.chance(0.15) {
		d.set("transport.cnp_dscp=24")
		d.cnps = true
	}
}

// congestion draws the congestion control.
func (d *drawn) congestion() {
	if d.chance(0.3) {
		d.set("cc.algorithm=%s", d.of("none", "swift", "swift"))
		return
	}
	d.set("cc.dcqcn.profile=%s", d.of("nic", "nic", "paper"))
	if d.chance(0.3) {
		d.set("cc.dcqcn.rate_timer=%s", d.of("1us", "55us", "300us", "5ms"))
	}
	if d.chance(0.2) {
		d.set("cc.dcqcn.cut_interval=%s", d.of("0s", "1us", "50us"))
	}
	if d.chance(0.2) {
		d.set("cc.dcqcn.byte_counter=%s", d.of("0B", "1KB", "150KB", "10MB"))
	}
	if d.chance(0.2) {
		d.set("cc.dcqcn.clamp_target=%v", d.chance(0.5))
	}
}

// server draws NICs.
func (d *drawn) server() {
	d.set("server.bond=%s", d.of("hash", "affinity", "spray"))
	if d.chance(0.3) {
		d.set("server.pcie=%s", d.of("20Gbps", "64Gbps", "126Gbps", "512Gbps"))
		d.set("server.rx_xoff=%s", d.of("64KiB", "512KiB"))
		d.set("server.rx_xon=%s", d.of("0B", "32KiB"))
	}
}

// breakLinks adds failures of links between switches, whose names are known by then.
func (d *drawn) breakLinks(links []string) {
	d.breaks = min(d.breaks, len(links))
	if d.breaks == 0 {
		return
	}
	d.text += "failures:\n"
	for range d.breaks {
		i := d.Intn(len(links))
		away := d.Intn(6)
		d.longestOut += []int{0, 1, 10, 100, 1000, 50_000}[away]
		d.text += fmt.Sprintf("  - {link: '%s', at: %s, converge: %s", links[i],
			d.of("0s", "1us", "5us", "20us", "100us", "300us"),
			[]string{"0s", "1us", "10us", "100us", "1ms", "50ms"}[away])
		if d.chance(0.6) {
			d.text += ", until: " + d.of("301us", "350us", "500us", "1ms", "20ms")
		}
		d.text += "}\n"
		links = slices.Delete(slices.Clone(links), i, i+1)
	}
}
