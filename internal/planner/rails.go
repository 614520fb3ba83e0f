package planner

import (
	"fmt"
	"math"

	"railyard/internal/topo"
	"railyard/unit"
)

// singleSwitch is one switch for all NICs, rails as VLANs (source figure 13-4; a
// modular chassis, source figure 13).
func singleSwitch(in FabricInput, d Design) Design {
	s := in.Top
	nics := in.Hosts() * in.PerServer
	if in.ports(in.Leaf) >= nics {
		s = in.Leaf
	}
	if in.ports(s) < nics {
		return refuse(d, "needs %s ports of %dG; %v has %s", unit.ShowCount(nics), in.NICRate, s,
			unit.ShowCount(in.ports(s)))
	}
	d.GPUs = in.ports(s) / in.PerServer * in.PerServer
	m := in.Prices.Racks.middle(in.Hosts())
	d.Tiers = []Tier{{"rail", s.String(), 1, nics, 0, nics, 0, 0}}
	d.Cables = []Part{{From: "host", To: "rail", Count: nics, Metres: m, hosts: in.Hosts(), columns: 1}}
	d.Hops, d.Bisection = 1, crossing(in.Hosts(), level{in.Hosts(), 1})
	d.Note = "NICs reach their own rail only; NVLink connects the rails inside a host"
	d.Scenario = in.scenario(d.Kind, fmt.Sprintf("hosts: %d", in.Hosts()), lengths{host: m, near: m}, 1)
	return d
}

// railOnly has a switch per rail and nothing above (source figure 8).
func railOnly(in FabricInput, d Design) Design {
	most := in.ports(in.Leaf)
	if in.Hosts() > most {
		return refuse(d, "needs %s ports per rail switch, one for each host; %v has %s: at most %s GPUs",
			unit.ShowCount(in.Hosts()), in.Leaf, unit.ShowCount(most), unit.ShowCount(most*in.PerServer))
	}
	d.GPUs = most * in.PerServer
	m := in.Prices.Racks.middle(in.Hosts())
	d.Tiers = []Tier{{"rail", in.Leaf.String(), in.PerServer, in.Hosts(), 0, in.Hosts(), 0, 0}}
	d.Cables = []Part{{From: "host", To: "rail", Count: in.Hosts() * in.PerServer, Metres: m,
		hosts: in.Hosts(), columns: in.PerServer}}
	d.Hops, d.Bisection = 1, crossing(in.Hosts(), level{in.Hosts(), 1})
	d.Note = "traffic between rails uses NVLink first"
	d.Scenario = in.scenario(d.Kind, fmt.Sprintf("hosts: %d", in.Hosts()), lengths{host: m, near: m}, 1)
	return d
}

// railSpine has a switch per rail and segment, and spines (source figures 9 and 10), with the cheapest number of
// segments, spines and cables.
func railSpine(in FabricInput, d Design) Design {
	ports, tops := in.ports(in.Leaf), in.ports(in.Top)
	down, up := split(ports, in.Ratio)
	if up < 1 || down < 1 {
		return refuse(d, "%v has too few ports for %s", in.Leaf, ShowRatio(in.Ratio))
	}
	least := ceilInt(in.Hosts(), down)
	if least*in.PerServer > tops {
		return refuse(d, "needs %s ports per spine, one for each rail switch; %v has %s: at most %s GPUs",
			unit.ShowCount(least*in.PerServer), in.Top, unit.ShowCount(tops),
			unit.ShowCount(tops/in.PerServer*down*in.PerServer))
	}
	x := in.cheapest(least, in.PerServer, in.NICRate, func(segments int) (int, int, int) {
		hosts := ceilInt(in.Hosts(), segments)
		return hosts, upwards(hosts, in.Ratio), in.Leaf.beside(in.NICRate, hosts, in.NICRate)
	}, tops, 1)
	leaves := x.groups * in.PerServer
	most := in.Leaf.beside(in.NICRate, x.up(), in.NICRate)
	d.GPUs = x.groups * min(most, int(float64(x.up())*in.Ratio+1e-9)) * in.PerServer
	d.Tiers = []Tier{{"rail", in.Leaf.String(), leaves, x.down, x.up(), x.down, 0, 0},
		{"spine", in.Top.String(), x.tops, leaves * x.each, 0, 0, 0, 0}}
	m := lengths{in.Prices.Racks.middle(x.down), in.Prices.Racks.middle(in.Hosts()), 0}
	d.Cables = []Part{{From: "host", To: "rail", Count: leaves * x.down, Metres: m.host, hosts: x.down,
		columns: in.PerServer},
		{From: "rail", To: "spine", Count: leaves * x.up(), Metres: m.near, each: x.each}}
	d.Hops, d.Ratio = 3, float64(x.down)/float64(x.up())
	d.because = fmt.Sprintf("%s under a rail switch have %s up", unit.Plural(x.down, "host"),
		unit.Plural(x.up(), "link"))
	d.Bisection = crossing(x.groups*x.down, level{x.groups, float64(x.up())}, level{x.down, 1})
	d.Scenario = in.scenario(d.Kind, fmt.Sprintf("hosts: %d\n  segments: %d\n  spines: %d\n  uplinks: %d",
		x.down, x.groups, x.tops, x.each), m, 1)
	return d
}

// railPods has pods of rail switches and aggregation, connected by super-spines with the oversubscription between pods
// (source figures 11 and 12).
func railPods(in FabricInput, d Design) Design {
	down, up := split(in.ports(in.Leaf), 1)
	aggDown, aggUp := split(in.ports(in.Top), in.Ratio)
	if down < 1 || up < 1 || aggUp < 1 || aggDown < in.PerServer {
		return refuse(d, "%v and %v have too few ports for three tiers at %s", in.Leaf, in.Top,
			ShowRatio(in.Ratio))
	}
	most := aggDown / in.PerServer // segments: a leaf of every rail at every aggregation switch
	if in.GPUs <= most*down*in.PerServer {
		return refuse(d, "not needed: %s GPUs fit one pod of %s (two tiers)", unit.ShowCount(in.GPUs),
			unit.ShowCount(most*down*in.PerServer))
	}
	pods, segments := evenPods(in.GPUs, most, down*in.PerServer)
	hosts := ceilInt(in.Hosts(), pods*segments)
	perPod, aggs := segments*hosts*in.PerServer, hosts
	aggUp = upwards(segments*in.PerServer, in.Ratio)
	supers, superUp, planes, ok := plane(aggs, aggUp, pods, in.ports(in.Top))
	if !ok {
		return refuse(d, "%s pods need more ports than super-spines %v have", unit.ShowCount(pods), in.Top)
	}
	d.GPUs = pods * perPod
	d.Tiers = []Tier{{"rail", in.Leaf.String(), pods * segments * in.PerServer, hosts, aggs, hosts, 0, 0},
		{"spine", in.Top.String(), pods * aggs, segments * in.PerServer, aggUp, 0, 0, 0},
		{"super-spine", in.Top.String(), supers, pods * aggs / planes * superUp, 0, 0, 0, 0}}
	r := in.Prices.Racks
	m := lengths{r.middle(hosts), r.middle(segments * hosts), r.middle(in.Hosts())}
	d.Cables = []Part{{From: "host", To: "rail", Count: d.GPUs, Metres: m.host, hosts: hosts, columns: in.PerServer},
		{From: "rail", To: "spine", Count: pods * segments * in.PerServer * aggs, Metres: m.near},
		{From: "spine", To: "super-spine", Count: pods * aggs * aggUp, Metres: m.far, each: superUp}}
	d.Hops, d.Ratio = 5, float64(segments*in.PerServer)/float64(aggUp)
	d.because = fmt.Sprintf("%s down from an aggregation switch have %d up",
		unit.Plural(segments*in.PerServer, "link"), aggUp)
	d.Bisection = crossing(pods*segments*hosts, level{pods, float64(aggs*aggUp) / float64(in.PerServer)},
		level{segments, float64(aggs)}, level{hosts, 1})
	d.Note = fmt.Sprintf("%s of %s, %.3g:1 between pods", unit.Plural(pods, "pod"),
		unit.Plural(perPod, "GPU"), d.Ratio)
	if d.GPUs <= topo.MaxGPUs {
		d.Scenario = in.scenario(d.Kind,
			fmt.Sprintf("pods: %d\n  hosts: %d\n  segments: %d\n  spines: %d\n  uplinks: 1\n  super_spines: %d\n  super_uplinks: %d\n  planes: %d",
				pods, hosts, segments, aggs, supers, superUp, planes), m, 1)
	}
	return d
}

// evenPods finds the number of pods, of at most the given segments each, that leaves the fewest ports empty.
func evenPods(gpus, most, perSegment int) (pods, segments int) {
	least := ceilInt(gpus, most*perSegment)
	waste := math.MaxInt
	for n := least; n <= 2*least+8; n++ {
		each := ceilInt(gpus, n*perSegment)
		if w := n*each*perSegment - gpus; w < waste {
			pods, segments, waste = n, each, w
		}
	}
	return pods, segments
}

// plane arranges super-spines: aggs per pod with up links each, pods of them, super-spines of the given ports.
// Aggregation switch i of every pod is in plane i mod planes and connects to every super-spine of it.
func plane(aggs, up, pods, ports int) (supers, superUp, planes int, ok bool) {
	for superUp = 1; superUp <= up; superUp++ { // few cables to many, for fewer failures in common
		if up%superUp != 0 {
			continue
		}
		// aggregation switches per pod that a plane's super-spines have ports for
		inPlane := ports / (pods * superUp)
		if inPlane < 1 {
			continue
		}
		for planes = ceilInt(aggs, inPlane); planes <= aggs; planes++ {
			if aggs%planes == 0 {
				return planes * (up / superUp), superUp, planes, true
			}
		}
	}
	return 0, 0, 0, false
}

// pairPod is the source document's pod (figure 13-8): segments below a pair of switches, with NICs of two ports
// that share a NIC's rate (figure 13-7). Several pods are connected by four super-spines (figure 13-9).
func pairPod(in FabricInput, d Design) Design {
	if in.NICPorts != 2 {
		return refuse(d, "needs NICs with two ports (--nic-ports 2)")
	}
	in.NICRate /= 2 // the rate of a port, as of the links and switch ports
	const hosts, segments, spines, supers = 4, 2, 2, 4
	perPod := hosts * segments * in.PerServer
	pods := ceilInt(in.GPUs, perPod)
	up := hosts * in.PerServer / spines // 1:1 from leaf to spine
	if hosts*in.PerServer+up*spines > in.ports(in.Leaf) || 2*segments*up > in.ports(in.Top) {
		return refuse(d, "a segment of %s needs %s per leaf and %d per spine",
			unit.Plural(hosts, "host"),
			unit.Plural(hosts*in.PerServer+up*spines, "port"), 2*segments*up)
	}
	d.GPUs = pods * perPod
	d.Tiers = []Tier{{"rail", in.Leaf.String(), pods * 2 * segments, hosts * in.PerServer, up * spines, 0, 0, 0},
		{"spine", in.Top.String(), pods * spines, 2 * segments * up, 0, 0, 0, 0}}
	r := in.Prices.Racks
	between := lengths{host: r.middle(hosts), near: r.middle(segments * hosts)}
	d.Cables = []Part{{From: "host", To: "rail", Count: 2 * d.GPUs, Metres: between.host, hosts: hosts, columns: 2,
		Rate: in.NICRate},
		{From: "rail", To: "spine", Count: pods * 2 * segments * spines * up, Metres: between.near,
			each: up, Rate: in.NICRate}}
	d.Hops, d.Ratio, d.because = 3, 1, "one pod has no tier above its spines, to which it has 1:1"
	spread := []level{{segments, hosts}, {hosts, 1}}
	fabric := fmt.Sprintf("hosts: %d\n  segments: %d\n  spines: %d\n  uplinks: %d", hosts, segments, spines, up)
	d.Note = "every NIC has two ports on two switches: one switch isolates no GPU"
	if pods > 1 {
		each := ceilInt(upwards(2*segments*up, in.Ratio), supers)
		if 2*segments*up+each*supers > in.ports(in.Top) || pods*spines*each > in.ports(in.Top) {
			return refuse(d, "%s pods need %s ports per spine and %s per super-spine; %v has %s of %dG",
				unit.ShowCount(pods), unit.ShowCount(2*segments*up+each*supers), unit.ShowCount(pods*spines*each),
				in.Top, unit.ShowCount(in.ports(in.Top)), in.NICRate)
		}
		d.Tiers[1].Up = each * supers
		d.Tiers = append(d.Tiers, Tier{"super-spine", in.Top.String(), supers, pods * spines * each, 0, 0, 0, 0})
		between.far = r.middle(in.Hosts())
		d.Cables = append(d.Cables, Part{From: "spine", To: "super-spine",
			Count: pods * spines * supers * each, Metres: between.far, each: each,
			Rate: in.NICRate})
		d.Hops, d.Ratio = 5, float64(2*segments*up)/float64(each*supers)
		d.because = fmt.Sprintf("%s down from a spine have %d up, as many to each of %s",
			unit.Plural(2*segments*up, "link"), each*supers, unit.Plural(supers, "super-spine"))
		spread = append([]level{{pods, float64(spines*supers*each) / float64(2*in.PerServer)}}, spread...)
		fabric = fmt.Sprintf("pods: %d\n  %s\n  super_spines: %d\n  super_uplinks: %d", pods, fabric, supers, each)
	}
	d.Bisection = crossing(pods*segments*hosts, spread...)
	d.Scenario = in.scenario(d.Kind, fabric, between, 2)
	return d
}
