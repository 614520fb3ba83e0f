package planner

import (
	"fmt"

	"railyard/unit"
)

// planes is networks of two tiers side by side that nothing joins, each with rail switches and spines.
type planes struct {
	FabricInput
	count, rails int // planes, and rails of each
	port         int // Gbit/s of a NIC's port
	cable        int // and of a cable between switches, which is a whole port of the slower one

	segments, hosts, down    int // per plane; servers of a segment, and how many it has ports for
	leaves, up, spines, each int // per plane, cables of a leaf, cables to each spine
}

// build sizes one plane; ports are broken out for NICs that are slower, and counted as ports.
func (x *planes) build(d *Design) bool {
	in := &x.FabricInput
	down, up := split(in.Leaf.Ports, in.Ratio)
	if up < 1 || down < 1 {
		*d = refuse(*d, "%v has too few ports for %g:1", in.Leaf, in.Ratio)
		return false
	}
	x.down = down * (in.Leaf.Rate / x.port)
	x.segments = ceilInt(in.servers(), x.down)
	x.hosts, x.leaves = ceilInt(in.servers(), x.segments), x.segments*x.rails
	x.cable = min(in.Leaf.Rate, in.Top.Rate)
	if x.leaves > in.Top.Ports*(in.Top.Rate/x.cable) && x.cable%x.port == 0 {
		x.cable = x.port // broken out, as those of NICs are: to more spines, each with more leaves
	}
	x.up = up * (in.Leaf.Rate / x.cable)
	top := in.Top.Ports * (in.Top.Rate / x.cable)
	if x.leaves > top {
		*d = refuse(*d, "%d leaves of a plane are more than the %d ports of a spine %v; at most %d GPUs",
			x.leaves, top, in.Top, top/x.rails*x.down*in.PerServer)
		return false
	}
	x.spines, x.each = spread(x.up, x.leaves, top)
	return true
}

// fill writes the design down.
func (x *planes) fill(d *Design) {
	in := &x.FabricInput
	leaves := x.count * x.leaves
	d.GPUs = x.segments * x.down * in.PerServer
	d.Tiers = []Tier{{"rail", in.Leaf.String(), leaves, x.hosts, x.up, 0},
		{"spine", in.Top.String(), x.count * x.spines, x.leaves * x.each, 0, 0}}
	d.Cables = []Part{{From: "server", To: "rail", Count: leaves * x.hosts, Metres: hostMetres},
		{From: "rail", To: "spine", Count: leaves * x.up, Metres: spineMetres}}
	d.Hops, d.Bisection = 3, min(1, float64(x.up*x.cable)/float64(x.hosts*x.port))
}

// railPlanes has a network of two tiers for each NIC of a server: a multi-plane fat tree (DeepSeek-AI,
// "Insights into DeepSeek-V3", ISCA 2025, section 5.1).
func railPlanes(in FabricInput) Design {
	d := Design{Name: "rail-planes", Kind: "planes",
		Title: "leaves and spines for each rail by itself, two tiers"}
	x := planes{FabricInput: in, count: in.PerServer, rails: 1, port: in.NICRate}
	if !x.build(&d) {
		return d
	}
	if in.PerServer < 2 || x.segments < 2 {
		return refuse(d, "%s of %s need no spines within a rail", unit.Plural(in.servers(), "server"),
			unit.Plural(in.PerServer, "NIC"))
	}
	x.fill(&d)
	d.Tiers[0].Failure = x.hosts
	d.Note = "rails meet nowhere: traffic between them goes over NVLink first"
	d.Scenario = x.scenario(1, fmt.Sprintf("rail: %d", in.PerServer), "rail: nic", "rail")
	return d
}

// portPlanes has a network of rail switches and spines for each port of the NICs, which share out the
// NIC's rate: dual-plane with two (Qian et al., "Alibaba HPN", SIGCOMM 2024, section 4).
func portPlanes(in FabricInput) Design {
	d := Design{Name: "port-planes", Kind: "planes",
		Title: "rail switches and spines for each port of the NICs, two tiers"}
	n := in.NICPorts
	if n < 2 {
		return refuse(d, "NICs have one port (--nic-ports)")
	}
	x := planes{FabricInput: in, count: n, rails: in.PerServer, port: in.NICRate / n}
	if !x.build(&d) {
		return d
	}
	x.fill(&d)
	d.Note = fmt.Sprintf("%s of %dG a NIC, each in a plane of its own: no GPU is cut off by one switch",
		unit.Plural(n, "port"), x.port)
	d.Scenario = x.scenario(n, fmt.Sprintf("rail: %d, plane: %d", in.PerServer, n), "rail: nic, plane: port",
		"plane")
	return d
}

// scenario writes a design by types, nodes and cables. leaves are the places of a leaf within its segment,
// plane is the one that spines have, too.
func (x *planes) scenario(ports int, leaves, match, plane string) string {
	in := &x.FabricInput
	ofSwitch := func(s SwitchModel, least int) string {
		return fmt.Sprintf("ports: %dx%dGbps, split: %d", s.Ports, s.Rate, max(1, s.Rate/least))
	}
	return fmt.Sprintf(`# Written by railyard plan fabric: %d GPUs, switches %v and %v.
name: planes-%d
fabric:
  types:
    host: {gpus: %d, nics: %d, nic_ports: %d, nic_rate: %dGbps}
    leaf: {%s, role: rail}
    spine: {%s, role: spine}
  nodes:
    host: {type: host, per: {segment: %d}, count: %d}
    leaf: {type: leaf, per: {segment: %d, %s}}
    spine: {type: spine, per: {%s: %d}, count: %d}
  cables:
    - {from: host, to: leaf, same: segment, match: {%s}, length: %dm}
    - {from: leaf, to: spine, same: %s, count: %d, length: %dm}
  fabric_link: {rate: %dGbps}
switch: {buffer: %dMB}
workload:
  traffic:
    permutation: {bytes: 1MB, groups: rail}
`, in.GPUs, in.Leaf, in.Top, in.GPUs, in.PerServer, in.PerServer, ports, x.port,
		ofSwitch(in.Leaf, min(x.port, x.cable)), ofSwitch(in.Top, x.cable), x.segments, x.hosts, x.segments,
		leaves, plane, x.count, x.spines, match, hostMetres, plane, x.each, spineMetres, x.cable,
		max(64, in.ports(in.Top)/2))
}
