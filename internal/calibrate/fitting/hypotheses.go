package fitting

import (
	"fmt"
	"slices"
	"strings"

	"railyard/internal/calibrate"
	"railyard/internal/coll"
	"railyard/internal/scenario"
	"railyard/internal/topo"
	"railyard/unit"
)

// Hypothesis is a difference between a cluster and its scenario that explains measured times. It has the command
// that confirms it and the remedy.
type Hypothesis struct {
	Name     string `json:"name"`
	Scenario string `json:"scenario"`         // the change: flags, or a block of the scenario
	Confirm  string `json:"confirm"`          // command on the cluster
	Remedy   string `json:"remedy,omitempty"` // empty: no size is slower than simulated

	set    []string
	change func(*scenario.File)
	setup  func(*calibrate.Setup)
	grows  func(us float64) []string // --set of a latency in µs that the measurements determine
	most   float64                   // µs
	adds   bool                      // the latency adds to every time

	queues  bool       // whether only packets show its effect
	assumed int        // number of assumptions that the hypothesis adds
	healthy *faultless // times with the assumption alone
}

// pcie are links between GPU and NIC. Each has the payload rate at 256 B per packet with 28 B of framing, header
// and CRC, after the 128b/130b code (PCI Express Base Specification 5.0, sections 2.2 and 4.2.2).
var pcie = []struct {
	lanes, gt int
	name      string
}{
	{16, 32, "Gen5 x16"},
	{16, 16, "Gen4 x16, Gen5 x8, or Gen5 x16 that carries every byte twice without GPUDirect RDMA"},
	{16, 8, "Gen3 x16, Gen4 x8, Gen5 x4, or Gen4 x16 without GPUDirect RDMA"},
	{8, 8, "Gen3 x8, Gen4 x4, or Gen3 x16 without GPUDirect RDMA"},
}

func payload(lanes, gt int) unit.Rate {
	return whole(unit.Rate(lanes*gt) * unit.Gbps * 128 / 130 * 256 / (256 + 28))
}

// whole rounds a rate to Gbit/s.
func whole(r unit.Rate) unit.Rate { return (r + unit.Gbps/2) / unit.Gbps * unit.Gbps }

// Commands that confirm several hypotheses.
const (
	debugNet  = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET: lines NET/IB or NET/Socket and GDRDMA"
	debugTune = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING; env | grep NCCL_; cat /etc/nccl.conf"
)

// choice reports whether a hypothesis is a choice of NCCL, alone or with a latency.
func (h *Hypothesis) choice() bool { return strings.HasPrefix(h.Confirm, debugTune) }

// benchmark returns the program of nccl-tests that measures a kind of collective.
func benchmark(k coll.Kind) string {
	if k == coll.ToAll {
		return "alltoall_perf"
	}
	return strings.ReplaceAll(k.String(), "-", "_") + "_perf"
}

// hypotheses returns the hypotheses with an effect on a plan's network, latencies first. algorithm is the algorithm
// of all-reduces; kinds are the measured collectives, without which NCCL has no part in what was measured.
func hypotheses(p *scenario.Plan, algorithm string, fixed bool, kinds []coll.Kind) (all []Hypothesis) {
	g, nccl := p.Graph, len(kinds) > 0
	add := func(h Hypothesis) { all = append(all, h) }
	set := func(h Hypothesis, values ...string) {
		h.set, h.Scenario = values, "--set "+strings.Join(values, " --set ")
		add(h)
	}
	latency := func(h Hypothesis, key string, most float64) {
		h.most = most
		h.grows = func(us float64) []string { return []string{fmt.Sprintf("%s=%.2fus", key, us)} }
		add(h)
	}
	if nccl {
		latency(Hypothesis{Name: "each collective starts later", Confirm: benchmark(kinds[0]) + " -G 1 (CUDA graph); cpupower frequency-info",
			Remedy: "CUDA graphs; CPU governor performance; ranks bound to the NUMA node of their GPU", adds: true}, "calibration.launch", 2000)
		latency(Hypothesis{Name: "each transfer between hosts starts later", Confirm: "ib_write_lat between two hosts; cpupower idle-info; cat /proc/cmdline",
			Remedy: "disable deep C-states; iommu=pt; leave cores for NCCL's proxy threads"}, "calibration.network_step", 500)
	} else {
		latency(Hypothesis{Name: "each message takes longer in hosts and NICs", Confirm: "cpupower idle-info; cat /proc/cmdline; numactl -s; lspci -vv",
			Remedy: "CPU governor performance; disable deep C-states; iommu=pt; run on the NUMA node of the NIC"}, "calibration.message", 500)
	}
	line, nics, down := unit.Rate(0), map[string]bool{}, ""
	for i, n := range g.NICs {
		rate := unit.Rate(0)
		for _, l := range n.Links {
			rate += g.Links[l].Rate
		}
		line = max(line, rate)
		if nics[fmt.Sprintf("nic-%d", n.Index+1)] = true; i == 0 {
			down = g.NICName(i)
		}
	}
	limit := line
	if p.NICs.PCIe > 0 {
		limit = min(limit, p.NICs.PCIe)
	}
	for _, l := range pcie {
		if r := payload(l.lanes, l.gt); r < limit {
			set(Hypothesis{Name: fmt.Sprintf("PCIe of the NICs carries %s: %s", r.Show(), l.name),
				Confirm: "sudo lspci -vv | grep LnkSta; nvidia-smi topo -m; " + debugNet,
				Remedy:  "reseat the NIC or set its slot's width and generation; load nvidia_peermem; disable ACS"},
				fmt.Sprintf("server.pcie=%v", r))
		}
	}
	for _, share := range []float64{0.5, 0.25} {
		event(add, down, Hypothesis{Name: fmt.Sprintf("one NIC's link at %g of its rate", share),
			Confirm: "ibstat | grep Rate; ethtool DEVICE | grep Speed, on every host", Remedy: "replace cable or transceiver; equal speed and FEC at both ends"},
			fmt.Sprintf("rate_share: %g", share), func(e *scenario.Event) { e.Share = new(share) })
	}
	for _, n := range []unit.Rate{2, 4} {
		h := Hypothesis{Name: fmt.Sprintf("every NIC's link at %g of its rate, %s", 1/float64(n), (p.NICs.Rate / n).Show()),
			Confirm: "ibstat | grep Rate; ethtool DEVICE | grep Speed; show interfaces status on the switches",
			Remedy:  "equal speed at NICs and switch ports; cables and transceivers of that speed"}
		if p.Shape.Kind != "" && p.Shape.Kind != "graph" {
			set(h, fmt.Sprintf("fabric.host_link.rate=%v", p.NICs.Rate/n))
			continue
		}
		h.Scenario = fmt.Sprintf("events: {nic: NIC, rate_share: %g} of every NIC", 1/float64(n))
		h.change = func(f *scenario.File) {
			f.Events = slices.Clone(f.Events)
			for i := range g.NICs {
				e := scenario.Event{NIC: g.NICName(i)}
				e.Share = new(1 / float64(n))
				f.Events = append(f.Events, e)
			}
		}
		add(h)
	}
	event(add, down, Hypothesis{Name: "one NIC's link loses packets by bit errors",
		Confirm: "ethtool -S DEVICE | grep -E 'symbol|fec|discard'; railyard diagnose FOLDER", Remedy: "clean or replace cable or transceiver", queues: true},
		"bit_error_rate: 1e-9", func(e *scenario.Event) { e.BER = new(1e-9) })
	n := len(nics)
	for _, k := range slices.Compact([]int{n - 1, n / 2, 1}) {
		ring := algorithm == coll.ByRing // NCCL then runs fewer blocks
		if k < 1 || k == n || k == n-1 && n > 2 && !ring {
			continue
		}
		var names []string
		for i := range k {
			names = append(names, fmt.Sprintf("nic-%d", i+1))
		}
		h := Hypothesis{Name: fmt.Sprintf("%d of %d NICs of a server carry the traffic", k, n), Scenario: "server: {nics_used: [" + strings.Join(names, ", ") + "]}",
			Confirm: debugNet + "; echo $NCCL_IB_HCA $NCCL_MAX_NCHANNELS",
			Remedy:  "list all NICs in NCCL_IB_HCA; in VMs set NCCL_TOPO_FILE; ibdev2netdev shows ports that are down",
			change:  func(f *scenario.File) { f.Server.Used = names }}
		if ring {
			h.setup = func(s *calibrate.Setup) { s.Channels = k }
		}
		add(h)
	}
	if p.Default().Carried == nil && nccl {
		set(Hypothesis{Name: "NCCL uses TCP sockets instead of RDMA", Confirm: debugNet + "; ibv_devinfo; ulimit -l",
			Remedy: "make RDMA devices visible (NCCL_IB_DISABLE=0, container devices, memlock unlimited)"}, "transport=tcp")
	}
	if p.Default().Carried == nil {
		if p.LB.Name != "ecmp" {
			set(Hypothesis{Name: "switches hash flows (ECMP) instead of " + p.LB.Name, Confirm: "railyard config lint FOLDER; railyard diagnose FOLDER: uneven uplinks",
				Remedy: "configure " + p.LB.Name + " on all switches"}, "lb=ecmp")
		}
		if p.QPs > 1 && nccl {
			set(Hypothesis{Name: "one queue pair per connection, so more ECMP hash collisions", Confirm: "echo $NCCL_IB_QPS_PER_CONNECTION $NCCL_IB_SPLIT_DATA_ON_QPS",
				Remedy: fmt.Sprintf("NCCL_IB_QPS_PER_CONNECTION=%d", p.QPs)}, "transport.qps=1")
		}
		if p.RC.MTU > 1024 {
			set(Hypothesis{Name: "RDMA path MTU 1024, as of an interface MTU of 1500", Confirm: "ibv_devinfo | grep active_mtu; ip link show DEVICE",
				Remedy: "interface MTU 9000 on hosts and switches"}, "transport.mtu=1024")
		}
		set(Hypothesis{Name: "PFC is off in the switches, so incasts drop packets", Confirm: "railyard config lint FOLDER; railyard diagnose FOLDER: drops",
			Remedy: "PFC for the class of RDMA on every port of hosts and switches", queues: true}, "switch.pfc=false")
	}
	if up := uplinks(p); len(up) > 0 {
		add(Hypothesis{Name: "half of the capacity between switches is missing", Scenario: "events: {link: PORT, rate_share: 0.5} of every link between switches",
			Confirm: "show interfaces status on the switches; railyard topo; railyard diagnose FOLDER", Remedy: "bring up the missing links",
			change: func(f *scenario.File) { f.Events = append(slices.Clone(f.Events), up...) }})
	}
	if g.PerDomain() > 1 && p.KindOf(0).NVLink > payload(16, 32) {
		set(Hypothesis{Name: "half of the NVLinks are down", Confirm: "nvidia-smi nvlink -s", Remedy: "reset the GPUs or replace the baseboard"},
			fmt.Sprintf("server.nvlink=%v", whole(p.KindOf(0).NVLink/2)))
		for _, r := range []unit.Rate{payload(16, 32), payload(16, 16), payload(16, 8)} {
			set(Hypothesis{Name: "GPUs of a server exchange over PCIe or host memory at " + r.Show() + ", not NVLink",
				Confirm: "nvidia-smi topo -m: NV#; NCCL_DEBUG=INFO: via P2P or via SHM", Remedy: "start Fabric Manager; unset NCCL_P2P_DISABLE; allow CUDA IPC in containers"},
				fmt.Sprintf("server.nvlink=%v", r))
		}
	}
	if !nccl {
		return all
	}
	if slices.Contains(kinds, coll.ToAll) && g.PerDomain() > 1 && n > 1 {
		h := Hypothesis{Name: "NCCL sends by the NIC on the receiver's rail, over NVLink (PXN, its default)",
			Confirm: debugNet + "; echo $NCCL_P2P_PXN_LEVEL $NCCL_PXN_DISABLE", Remedy: "set server.pxn in the scenario"}
		if p.PXN {
			h.Name = "NCCL sends by each GPU's own NIC, without PXN"
			h.Remedy = "unset NCCL_P2P_PXN_LEVEL and NCCL_PXN_DISABLE"
		}
		set(h, fmt.Sprintf("server.pxn=%v", !p.PXN))
	}
	if !fixed && slices.Contains(kinds, coll.AllReduce) {
		for _, a := range []string{coll.ByRing, coll.ByTree, coll.ByNVLS, coll.ByNVLSTree} {
			if a != algorithm && (a != coll.ByNVLS || g.Domains() == 1) && (a != coll.ByNVLSTree || g.Domains() > 1) {
				add(Hypothesis{Name: "NCCL runs all-reduces as " + a, Scenario: "workload: traffic.collective.algorithm=" + a, Confirm: debugTune,
					Remedy: "unset NCCL_ALGO, or set the faster algorithm", setup: func(s *calibrate.Setup) { s.Algorithm = a }})
			}
		}
	}
	for _, x := range []string{coll.LL, coll.LL128, coll.Simple} {
		add(Hypothesis{Name: "NCCL runs every size by protocol " + x, Scenario: "workload: traffic.collective.protocol=" + x, Confirm: debugTune,
			Remedy: "unset NCCL_PROTO", setup: func(s *calibrate.Setup) { s.Protocol = x }})
	}
	return all
}

// assumptions returns assumptions that make times shorter: rings, and collectives without the protocols of NCCL.
// They are for measurements that are faster than simulated or that no hypothesis explains.
func assumptions(algorithm string, fixed bool) (all []Hypothesis) {
	if !fixed && algorithm != coll.ByRing {
		all = append(all, Hypothesis{Name: "NCCL runs all-reduces as ring",
			Scenario: "workload: traffic.collective.algorithm=ring", Confirm: debugTune,
			Remedy: "unset NCCL_ALGO, or set the faster algorithm",
			setup:  func(s *calibrate.Setup) { s.Algorithm = coll.ByRing }})
	}
	return append(all, Hypothesis{Name: "transfers are bare, as run simulates without collective.protocol",
		Scenario: "workload: traffic.collective.protocol=none", Confirm: "the origin of the times: NCCL has a protocol",
		Remedy: "protocol: auto in the scenario that the times were simulated with",
		setup:  func(s *calibrate.Setup) { s.Protocol = "none" }})
}

// assuming returns an assumption alone, and with each hypothesis that does not concern NCCL's choices.
func assuming(all []Hypothesis, a Hypothesis) (with []Hypothesis) {
	a.assumed, a.healthy = 1, &faultless{}
	with = append(with, a)
	for _, h := range all {
		if h.grows != nil || h.choice() {
			continue
		}
		join, setup := "; ", h.setup
		h.assumed, h.healthy = 1, a.healthy
		h.Name += ", and " + a.Name
		h.Scenario += join + a.Scenario
		h.Confirm += join + a.Confirm
		h.Remedy += join + a.Remedy
		h.setup = func(s *calibrate.Setup) {
			a.setup(s)
			if setup != nil {
				setup(s)
			}
		}
		with = append(with, h)
	}
	return with
}

// event adds a hypothesis about one NIC from the start of the run.
func event(add func(Hypothesis), nic string, h Hypothesis, what string, change func(*scenario.Event)) {
	h.Scenario = fmt.Sprintf("events: [{nic: %s, %s}]", nic, what)
	h.change = func(f *scenario.File) {
		e := scenario.Event{NIC: nic}
		change(&e)
		f.Events = append(slices.Clone(f.Events), e)
	}
	add(h)
}

// uplinks halves the rate of every link between switches.
func uplinks(p *scenario.Plan) (all []scenario.Event) {
	g := p.Graph
	for i := range g.Links {
		if l := &g.Links[i]; g.Nodes[l.A].Role != topo.Host && g.Nodes[l.B].Role != topo.Host {
			e := scenario.Event{Link: g.End(i, l.A)}
			e.Share = new(0.5)
			all = append(all, e)
		}
	}
	return all
}
