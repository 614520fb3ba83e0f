package planner

import (
	"fmt"

	"railyard/unit"
)

// planes is several separate networks of two tiers, each with rail switches and spines.
type planes struct {
	FabricInput
	count, rails int // planes, and rails of each
	port         int // Gbit/s of a NIC's port
	cable        int // Gbit/s of a link between switches, which uses a whole port of the slower one

	clos // a Clos of one plane: groups are segments, down counts servers
}

// build sizes one plane; ports are split for slower NICs, and counted as ports. Links between switches use whole
// ports of the slower one, or split ones like links to NICs: to more spines, each with more leaves.
func (x *planes) build(d *Design) bool {
	in := &x.FabricInput
	down, up := split(in.Leaf.Ports, in.Ratio)
	if up < 1 || down < 1 {
		*d = refuse(*d, "%v has too few ports for %s", in.Leaf, ShowRatio(in.Ratio))
		return false
	}
	each := in.Leaf.parts(x.port) // ports of NICs on a whole port
	least, top := 1, 0
	for _, x.cable = range []int{min(in.Leaf.Rate, in.Top.Rate), x.port} {
		size := func(segments int) (hosts, need, room int) {
			hosts = ceilInt(in.Hosts(), segments)
			room = in.Leaf.beside(x.port, hosts, x.cable)
			return hosts, upwards(hosts*x.port, in.Ratio*float64(x.cable)), room
		}
		least, top = ceilInt(in.Hosts(), down*each), in.Top.broken(x.cable)
		x.clos = in.cheapest(least, x.rails, x.cable, size, top, x.count)
		if x.groups > 0 {
			return true
		}
		if x.cable%x.port != 0 {
			break
		}
	}
	*d = refuse(*d, "needs %s ports per spine, one for each leaf of a plane; %v has %s: at most %s GPUs",
		unit.ShowCount(least*x.rails), in.Top, unit.ShowCount(top), unit.ShowCount(top/x.rails*down*each*in.PerServer))
	return false
}

// fill writes the design down.
func (x *planes) fill(d *Design) {
	in := &x.FabricInput
	perPlane := x.groups * x.rails
	leaves := x.count * perPlane
	sent := float64(x.up() * x.cable)
	most := in.Leaf.beside(x.cable, x.up(), x.port)
	d.GPUs = x.groups * min(most, int(sent*in.Ratio/float64(x.port)+1e-9)) * in.PerServer
	d.Tiers = []Tier{{"rail", in.Leaf.String(), leaves, x.down, x.up(), 0, 0, 0},
		{"spine", in.Top.String(), x.count * x.tops, perPlane * x.each, 0, 0, 0, 0}}
	m := x.lengths()
	d.Cables = []Part{{From: "host", To: "rail", Count: leaves * x.down, Metres: m.host, Rate: x.port, hosts: x.down,
		columns: x.count * x.rails},
		{From: "rail", To: "spine", Count: leaves * x.up(), Metres: m.near, Rate: x.cable, each: x.each}}
	d.Hops, d.Ratio = 3, float64(x.down*x.port)/sent
	d.because = fmt.Sprintf("%s of %dG under a leaf have %s of %dG up", unit.Plural(x.down, "port"), x.port,
		unit.Plural(x.up(), "link"), x.cable)
	d.Bisection = crossing(x.groups*x.down, level{x.groups, sent / float64(x.port)}, level{x.down, 1})
}

// lengths returns the lengths of the cables.
func (x *planes) lengths() lengths {
	return lengths{host: x.Prices.Racks.middle(x.down), near: x.Prices.Racks.middle(x.Hosts())}
}

// railPlanes has a network of two tiers for each NIC of a server: a multi-plane fat tree (DeepSeek-AI,
// "Insights into DeepSeek-V3", ISCA 2025, section 5.1).
func railPlanes(in FabricInput, d Design) Design {
	x := planes{FabricInput: in, count: in.PerServer, rails: 1, port: in.NICRate}
	if !x.byRail(&d) {
		return d
	}
	d.Tiers[0].Failure = x.down
	d.Note = "no links between rails: traffic between them uses NVLink first"
	of := fmt.Sprintf("rail: %d", in.PerServer)
	d.Scenario = x.scenario(1, of, "rail: nic", of, "rail")
	return d
}

// byRail counts a design whose rails are apart, and refuses those that need no spines within one.
func (x *planes) byRail(d *Design) bool {
	switch {
	case !x.build(d):
		return false
	case x.PerServer < 2:
		*d = refuse(*d, "servers have one NIC: there is one rail")
		return false
	case x.groups < 2:
		*d = refuse(*d, "not needed: %s of %s need no spines within a rail", unit.Plural(x.Hosts(), "host"),
			unit.Plural(x.PerServer, "NIC"))
		return false
	}
	x.fill(d)
	return true
}

// portPlanes has a network of rail switches and spines for each port of the NICs, which divide the NIC's rate. With
// two it is dual-plane (Qian et al., "Alibaba HPN", SIGCOMM 2024, section 4). If a switch has a port for each NIC,
// one switch suffices for each port of the NICs.
func portPlanes(in FabricInput, d Design) Design {
	n := in.NICPorts
	if n < 2 {
		return refuse(d, "needs NICs with two ports or more (--nic-ports)")
	}
	x := planes{FabricInput: in, count: n, rails: in.PerServer, port: in.NICRate / n}
	for _, s := range []SwitchModel{in.Leaf, in.Top} {
		if nics := in.Hosts() * in.PerServer; s.broken(x.port) >= nics {
			return x.single(d, s, nics)
		}
	}
	if !x.build(&d) {
		return d
	}
	x.fill(&d)
	d.Note = fmt.Sprintf("%s of %dG a NIC, each in a plane of its own: one switch isolates no GPU",
		unit.Plural(n, "port"), x.port)
	d.Scenario = x.scenario(n, fmt.Sprintf("rail: %d, plane: %d", in.PerServer, n), "rail: nic, plane: port",
		fmt.Sprintf("plane: %d", n), "plane")
	return d
}

// railPortPlanes has a network of two tiers for each port of each NIC: planes by rail and by port.
func railPortPlanes(in FabricInput, d Design) Design {
	n := in.NICPorts
	if n < 2 {
		return refuse(d, "needs NICs with two ports or more (--nic-ports)")
	}
	x := planes{FabricInput: in, count: in.PerServer * n, rails: 1, port: in.NICRate / n}
	if !x.byRail(&d) {
		return d
	}
	d.Note = fmt.Sprintf("%s of %dG a NIC, a plane for each rail and port: one switch isolates no GPU. No links between rails: their traffic uses NVLink first",
		unit.Plural(n, "port"), x.port)
	of := fmt.Sprintf("rail: %d, plane: %d", in.PerServer, n)
	d.Scenario = x.scenario(n, of, "rail: nic, plane: port", of, "[rail, plane]")
	return d
}

// single has one switch for each port of the NICs, without spines; it connects that port of all NICs.
func (x *planes) single(d Design, s SwitchModel, nics int) Design {
	in, m := &x.FabricInput, x.Prices.Racks.middle(x.Hosts())
	d.Title = "one switch for each port of the NICs"
	d.GPUs = s.broken(x.port) / in.PerServer * in.PerServer
	d.Tiers = []Tier{{"rail", s.String(), x.count, nics, 0, 0, 0, 0}}
	d.Cables = []Part{{From: "host", To: "rail", Count: x.count * nics, Metres: m, Rate: x.port, hosts: in.Hosts(),
		columns: x.count}}
	d.Hops, d.Bisection = 1, crossing(in.Hosts(), level{in.Hosts(), 1})
	d.Note = fmt.Sprintf("%s of %dG a NIC, each in a switch of its own: one switch isolates no GPU",
		unit.Plural(x.count, "port"), x.port)
	d.Scenario = fmt.Sprintf(`# Written by railyard plan fabric: %d GPUs, switches %v.
name: planes-%d
fabric:
  types:
    host: {gpus: %d, nics: %d, nic_ports: %d, nic_rate: %dGbps}
    leaf: {%s, role: rail}
  nodes:
    host: {type: host, count: %d}
    leaf: {type: leaf, per: {plane: %d}}
  cables:
    - {from: host, to: leaf, match: {plane: port}, length: %dm}
switch: {buffer: %dMB}
workload:
  traffic:
    permutation: {bytes: 1MB, groups: rail}
`, in.GPUs, s, in.GPUs, in.PerServer, in.PerServer, x.count, x.port, s.yaml(x.port), in.Hosts(), x.count, m,
		in.buffer(0))
	return d
}

// scenario writes a design by types, nodes and cables. leaves are the positions of a leaf within its segment, spines
// those of a spine, and same names the latter.
func (x *planes) scenario(ports int, leaves, match, spines, same string) string {
	in, m := &x.FabricInput, x.lengths()
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
    spine: {type: spine, per: {%s}, count: %d}
  cables:
    - {from: host, to: leaf, same: segment, match: {%s}, length: %dm}
    - {from: leaf, to: spine, same: %s, count: %d, length: %dm}
  fabric_link: {rate: %dGbps}
switch: {buffer: %dMB}
workload:
  traffic:
    permutation: {bytes: 1MB, groups: rail}
`, in.GPUs, in.Leaf, in.Top, in.GPUs, in.PerServer, in.PerServer, ports, x.port,
		in.Leaf.yaml(min(x.port, x.cable)), in.Top.yaml(x.cable), x.groups, x.down, x.groups,
		leaves, spines, x.tops, match, m.host, same, x.each, m.near, x.cable,
		in.buffer(0))
}
