package sim

import (
	"slices"

	"railyard/cc"
	"railyard/internal/exec"
	"railyard/internal/host"
	"railyard/internal/queue"
	"railyard/internal/route"
	"railyard/internal/topo"
	"railyard/internal/workload"
	"railyard/rc"
	"railyard/roce"
	"railyard/transport"
	"railyard/transport/protocols"
	"railyard/unit"

	"pgregory.net/rapid"
)

// drawWorld draws a small network and its events, with many cases of each kind. Buffers are small, cables lose bits
// and fail, and times are round, so that there are many ties.
func drawWorld(t *rapid.T) *world {
	pick := func(label string, from ...int) int { return rapid.SampledFrom(from).Draw(t, label) }
	flip := func(label string) bool { return rapid.Bool().Draw(t, label) }
	cable := func(label string) topo.Cable {
		c := topo.Cable{Rate: unit.Rate(pick(label+" Gbit/s", 100, 100, 200)) * unit.Gbps,
			Delay: unit.Time(pick(label+" ns", 300, 500, 1000)) * unit.Nanosecond}
		if pick(label+" loses bits", 0, 0, 1) == 1 {
			c.BER = 1e-7
		}
		return c
	}
	p := topo.Params{HostCable: cable("host cable"), Fabric: cable("fabric cable")}
	kinds := []string{"fat-tree", "rail", "dual-rail", "pod", "dragonfly", "torus"}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	switch p.Server = (topo.Server{GPUs: 2, NICs: 2, Ports: 1}); kind {
	case "fat-tree":
		p.K, p.Tiers, p.Server = 4, pick("tiers", 2, 3), topo.Server{GPUs: 1, NICs: 1, Ports: 1}
	case "dragonfly":
		p.K, p.Server = 1, topo.Server{GPUs: 1, NICs: 1, Ports: 1}
	case "torus":
		p.K, p.Uplinks, p.Segments, p.Hosts = 2, 1, 1, 1
	case "dual-rail", "pod":
		p.Server.Ports = 2
		fallthrough
	default:
		p.Hosts, p.Segments, p.Spines, p.Uplinks = 4, 1, 2, 1
	}
	g, err := topo.Build(kind, p)
	if err != nil {
		t.Fatal(kind, err)
	}
	setup := drawSetup(t, g)
	told := setup.Host.Services[0].Telemetry != roce.NoTelemetry // which chassis with cells do not write
	if p.Server.Ports == 1 && (kind == "fat-tree" || kind == "rail") && flip("scheduled") && !told {
		setup.Scheduled = drawScheduled(t)
		setup.LB, setup.LBValues, setup.CutThrough = &route.Cells, nil, false
	}
	w := &world{setup: setup, every: 20 * unit.Microsecond, end: 250 * unit.Microsecond}
	gpus := g.TotalGPUs()
	victim := rapid.IntRange(0, gpus-1).Draw(t, "victim")
	if flip("a workload") {
		w.drawJobs(t)
	}
	for range rapid.IntRange(4, 24).Draw(t, "messages") {
		if w.jobs != nil {
			break
		}
		o := post{at: unit.Time(pick("posted at, us", 0, 0, 0, 5, 30)) * unit.Microsecond, dst: victim}
		o.tag = pick("tag", 0, 0, 1)
		if pick("elsewhere", 0, 0, 1) == 1 {
			o.dst = rapid.IntRange(0, gpus-1).Draw(t, "to")
		}
		if o.src = rapid.IntRange(0, gpus-1).Draw(t, "from"); g.HostOf(o.src) == g.HostOf(o.dst) {
			continue
		}
		o.bytes = unit.Bytes(pick("bytes", 1, 4096, 50_000, 400_000, 400_000))
		w.posts = append(w.posts, o)
	}
	if flip("a cable breaks") {
		at := unit.Time(rapid.IntRange(1, 60).Draw(t, "breaks at, us")) * unit.Microsecond
		link := rapid.IntRange(0, len(g.Links)-1).Draw(t, "cable")
		w.breaks = []breakage{{link, at, at + 10*unit.Microsecond, at + 50*unit.Microsecond,
			at + 60*unit.Microsecond}}
	}
	return w
}

// drawJobs draws a workload. An end of an operation is announced to all parts after the NICs' latency.
func (w *world) drawJobs(t *rapid.T) {
	g := w.setup.Graph
	w.setup.Host.Latency = 300 * unit.Nanosecond
	w.machine.NVLink = exec.NVLink{Rate: 900 * unit.Gbps, Latency: 500 * unit.Nanosecond,
		PXN: rapid.Bool().Draw(t, "PXN")}
	for gpu, nic := range g.NICOf {
		w.machine.Server = append(w.machine.Server, g.HostOf(gpu))
		w.machine.Rail = append(w.machine.Rail, g.NICs[nic].Rail)
	}
	rank := rapid.IntRange(0, g.TotalGPUs()-1)
	b := workload.NewBuilder(g.TotalGPUs())
	for i := range rapid.IntRange(4, 40).Draw(t, "operations") {
		var after []int32
		for range rapid.IntRange(0, min(i, 2)).Draw(t, "waits for") {
			after = append(after, int32(rapid.IntRange(0, i-1).Draw(t, "operation")))
		}
		slices.Sort(after)
		after = slices.Compact(after)
		from, to := rank.Draw(t, "from"), rank.Draw(t, "to")
		if from == to {
			us := unit.Time(rapid.IntRange(1, 20).Draw(t, "us"))
			b.Compute(from, us*unit.Microsecond, workload.Forward, after...)
			continue
		}
		bytes := rapid.SampledFrom([]unit.Bytes{1, 4096, 100_000}).Draw(t, "bytes")
		b.Transfer(from, to, bytes, after...)
	}
	d, err := b.Seal()
	if err == nil {
		w.jobs, err = workload.NewMix(g.TotalGPUs(), workload.Job{DAG: d})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// drawSetup draws switches and NICs.
func drawSetup(t *rapid.T, g *topo.Graph) *Setup {
	spec := queue.Default()
	q := &spec.Queues[3]
	q.WRED = queue.WRED{Min: 10 * unit.KB, Max: 35 * unit.KB, Probability: 0.2, ECN: true}
	q.XOff, q.XOn = 40*unit.KB, 9*unit.KB
	if q.Lossless = rapid.SampledFrom([]bool{true, true, false}).Draw(t, "PFC"); !q.Lossless {
		q.Limit = 80 * unit.KB
	}
	if rapid.Bool().Draw(t, "watchdog") {
		spec.Watchdog = queue.Watchdog{On: true, Poll: 7 * unit.Microsecond, Detect: 14 * unit.Microsecond,
			Restore: 21 * unit.Microsecond}
	}
	lb := route.Lookup(rapid.SampledFrom(route.Names()).Draw(t, "lb"))
	if route.Is[route.Oracle](lb) { // a part does not know the queues of other parts' switches
		lb = &route.UGAL
	}
	algorithm := cc.Lookup(rapid.SampledFrom(cc.Names()).Draw(t, "congestion control"))
	values := algorithm.Profile("").Values(100 * unit.Gbps)
	if _, tags := values["csig"]; tags {
		values["csig"] = rapid.SampledFrom([]int{0, 0, 4, 8}).Draw(t, "bytes of a tag; 0: INT, or none")
	}
	if _, ok := values["ifa"]; ok {
		values["ifa"] = rapid.Bool().Draw(t, "IFA")
	}
	kind := roce.Telemetry(algorithm.Reports(values))
	if (kind == roce.TelemetryINT || kind == roce.TelemetryIFA) && lb.Reorders(lb.Defaults) {
		lb = &route.ECMP // as in scenarios
	}
	s := &Setup{Graph: g, Spec: func(int) *queue.Spec { return &spec }, LB: lb, LBValues: lb.Defaults, QPs: 1,
		Seed: uint64(rapid.IntRange(1, 1000).Draw(t, "seed"))}
	s.CutThrough = rapid.Bool().Draw(t, "cut-through")
	s.Pipeline = unit.Time(rapid.SampledFrom([]int{0, 400}).Draw(t, "pipeline, ns")) * unit.Nanosecond
	service := host.Service{DSCP: 24, Class: 3, CC: algorithm.New(values), Marks: algorithm.Marks,
		FarEnd:  algorithm.FarEnd,
		CNPDSCP: 48, CNPClass: 7}
	service.Telemetry, service.Tags = kind, algorithm.Tags
	if gap := algorithm.CNPGap; gap != nil {
		service.CNPs, service.CNPGap = true, gap(values)
	}
	if credit := algorithm.Credit; credit != nil {
		service.Credit = credit(values)
	}
	s.Host = host.Config{Services: []host.Service{service}, SourcePorts: lb.Ports(lb.Defaults),
		RC: rc.Config{MTU: 4096, AckEvery: 4, Timeout: rc.LocalAckTimeout(4), Retries: 3, AlwaysReady: true}}
	if every := algorithm.Interval; every != nil {
		s.Host.Interval = every(values)
	}
	s.Host.Latency = unit.Time(rapid.SampledFrom([]int{0, 300}).Draw(t, "NIC latency, ns")) * unit.Nanosecond
	bonds := []host.Bond{host.BondHash, host.BondAffinity, host.BondSpray}
	s.Host.Bond = rapid.SampledFrom(bonds).Draw(t, "bond")
	drawProtocolOf(t, s)
	if rapid.Bool().Draw(t, "selective") {
		s.Host.RC.Recovery, s.Host.RC.WriteOnly = rc.Selective, true
	}
	if rapid.Bool().Draw(t, "slow PCIe") {
		s.Host.PCIe, s.Host.RxXOff, s.Host.RxXOn = 60*unit.Gbps, 100*unit.KB, 50*unit.KB
	}
	return s
}

// drawScheduled draws cells and credits, with small buffers at egress ports.
func drawScheduled(t *rapid.T) *queue.Scheduled {
	size := func(label string, of ...unit.Bytes) unit.Bytes { return rapid.SampledFrom(of).Draw(t, label) }
	return &queue.Scheduled{Cell: size("cell", 128, 256), Header: 16, Message: 16, Speedup: 1.02,
		Credit: size("credit", 1024, 4096), Egress: size("egress", 8192, 50_000),
		Timeout: 30 * unit.Microsecond}
}

// drawProtocolOf has a protocol carry the connections, in some worlds.
func drawProtocolOf(t *rapid.T, s *Setup) {
	name := rapid.SampledFrom(append([]string{"", ""}, protocols.All.Names()...)).Draw(t, "protocol")
	of := protocols.All.Lookup(name)
	if of == nil {
		return
	}
	common := transport.Common{MTU: 4096, Planes: len(s.Graph.NICs[0].Links)}
	if of.CC != "" {
		common.CC = cc.Lookup(of.CC).Use("", 100*unit.Gbps)
	}
	s.Host.Services[0] = host.Service{DSCP: 24, Class: 3, CNPDSCP: 48, CNPClass: 7,
		AcksFirst: rapid.Bool().Draw(t, "ACKs first"), Protocol: of.New(of.Defaults, common)}
	s.Host.SourcePorts, s.Host.Choose, s.Host.Bond = 1, nil, host.BondHash
}
