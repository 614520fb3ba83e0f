package planner

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"railyard/internal/field"
	"railyard/internal/topo"
	"railyard/unit"
)

// SwitchModel is a switch by its ports, "128x400G".
type SwitchModel struct{ Ports, Rate int } // Gbit/s

func (s SwitchModel) String() string { return fmt.Sprintf("%dx%dG", s.Ports, s.Rate) }

// ParseSwitch reads "128x400G".
func ParseSwitch(s string) (SwitchModel, error) {
	ports, rate, ok := strings.Cut(strings.ToLower(s), "x")
	n, err1 := strconv.Atoi(ports)
	r, err2 := strconv.Atoi(strings.TrimSuffix(rate, "g"))
	if !ok || err1 != nil || err2 != nil || n < 2 || n > 4096 || r < 10 || r > 6400 {
		return SwitchModel{},
			field.New("",
				"%q is no switch: write ports x rate, as in 128x400G (2 to 4096 ports of 10 to 6400 Gbit/s)",
				s)
	}
	return SwitchModel{n, r}, nil
}

// ParseRatio reads "7:1".
func ParseRatio(s string) (float64, error) {
	a, b, ok := strings.Cut(s, ":")
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if !ok || err1 != nil || err2 != nil || !(x > 0) || !(y > 0) || x/y < 1 || x/y > 64 {
		return 0, field.New("", "%q is no oversubscription: write 1:1 to 64:1", s)
	}
	return x / y, nil
}

// FabricInput is what a fabric must carry and be made of.
type FabricInput struct {
	GPUs      int
	PerServer int // GPUs, and NICs
	NICRate   int // Gbit/s, of all its ports together
	NICPorts  int // 0: one
	Leaf, Top SwitchModel
	Ratio     float64 // towards the top tier
	Prices    *Prices
}

// Part is a count of equal cables.
type Part struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	Count  int     `json:"count"`
	Metres float64 `json:"metres"`
	Kind   string  `json:"cable"`
}

// Tier is a count of equal switches.
type Tier struct {
	Role    string `json:"role"`
	Model   string `json:"switch"`
	Count   int    `json:"count"`
	Down    int    `json:"down_ports"` // used, per switch
	Up      int    `json:"up_ports"`
	Failure int    `json:"gpus_cut_off"` // GPUs whose NIC loses its network when one fails
}

// Design is one fabric that fits, or why it does not.
type Design struct {
	Name      string  `json:"name"`
	Kind      string  `json:"kind"` // of scenario
	Title     string  `json:"title"`
	Reason    string  `json:"refused,omitempty"`
	GPUs      int     `json:"gpus"` // ports for so many
	Tiers     []Tier  `json:"tiers,omitempty"`
	Cables    []Part  `json:"cables,omitempty"`
	Hops      int     `json:"switch_hops"`
	Bisection float64 `json:"bisection_share"` // of the GPUs' own bandwidth; 1 is full
	Watts     float64 `json:"watts"`
	Cost      float64 `json:"cost"`
	Note      string  `json:"note,omitempty"`
	Scenario  string  `json:"-"`
}

// Fits reports whether the design can be formed.
func (d *Design) Fits() bool { return d.Reason == "" }

// Switches adds up the tiers.
func (d *Design) Switches() (n int) {
	for _, t := range d.Tiers {
		n += t.Count
	}
	return n
}

// CableCount adds up the cables.
func (d *Design) CableCount() (n int) {
	for _, c := range d.Cables {
		n += c.Count
	}
	return n
}

// Cable lengths by what they join: within a rack row, across the hall, between
// halls.
const (
	hostMetres  = 3
	spineMetres = 30
	superMetres = 100
)

// Fabrics designs every kind of fabric for an input. Designs that cannot be
// formed are returned with the reason.
func Fabrics(in FabricInput) ([]Design, error) {
	switch {
	case in.GPUs < 2 || in.GPUs > 1<<20:
		return nil, field.New("gpus", "must lie between 2 and %d, found %d", 1<<20, in.GPUs)
	case in.PerServer < 1 || in.PerServer > 64:
		return nil, field.New("server", "a server has 1 to 64 GPUs, found %d", in.PerServer)
	case in.NICRate < 10 || in.NICRate > in.Leaf.Rate || in.NICRate > in.Top.Rate:
		return nil, field.New("nic", "NICs of %d Gbit/s do not fit ports of %v and %v", in.NICRate, in.Leaf,
			in.Top)
	}
	if n := in.NICPorts; n < 0 || n > 8 || n > 0 && in.NICRate%n != 0 {
		return nil, field.New("nic-ports", "1 to 8 ports share out a NIC's %d Gbit/s evenly, found %d",
			in.NICRate, n)
	}
	var out []Design
	for _, f := range []func(FabricInput) Design{singleSwitch, railOnly, railSpine, railPods, railPlanes,
		portPlanes, pairPod, fatTree, dragonfly, torus} {
		d := f(in)
		if d.Reason == "" {
			d.price(in)
		}
		out = append(out, d)
	}
	return out, nil
}

// servers is how many servers hold the GPUs.
func (in FabricInput) servers() int { return (in.GPUs + in.PerServer - 1) / in.PerServer }

// ports is how many NIC-rate ports a switch has.
func (in FabricInput) ports(s SwitchModel) int { return s.Ports * (s.Rate / in.NICRate) }

// price adds up cost and power of switches and cables.
func (d *Design) price(in FabricInput) {
	for i := range d.Tiers {
		m := in.Leaf
		if d.Tiers[i].Model == in.Top.String() {
			m = in.Top
		}
		price, watts := in.Prices.switchPart(m)
		d.Cost += price * float64(d.Tiers[i].Count)
		d.Watts += watts * float64(d.Tiers[i].Count)
	}
	for i := range d.Cables {
		c := in.Prices.cablePart(d.Cables[i].Metres)
		d.Cables[i].Kind = c.Name
		d.Cost += c.Price * float64(d.Cables[i].Count)
		d.Watts += c.Watts * float64(d.Cables[i].Count)
	}
}

func refuse(d Design, format string, args ...any) Design {
	d.Reason = fmt.Sprintf(format, args...)
	return d
}

// singleSwitch is one switch for all NICs, rails as VLANs (seed figure 13-4; a
// modular chassis, seed figure 13).
func singleSwitch(in FabricInput) Design {
	d := Design{Name: "single-switch", Kind: "single-rail", Title: "one switch, rails as VLANs"}
	s := in.Top
	nics := in.servers() * in.PerServer
	if in.ports(in.Leaf) >= nics {
		s = in.Leaf
	}
	if in.ports(s) < nics {
		return refuse(d, "%v has %s of %dG, %d are needed", s, unit.Plural(in.ports(s), "port"), in.NICRate,
			nics)
	}
	d.GPUs = in.ports(s) / in.PerServer * in.PerServer
	d.Tiers = []Tier{{"rail", s.String(), 1, nics, 0, nics}}
	d.Cables = []Part{{From: "server", To: "rail", Count: nics, Metres: hostMetres}}
	d.Hops, d.Bisection = 1, 1/float64(in.PerServer)
	d.Note = "NICs reach their own rail only; NVLink joins the rails inside a server"
	d.Scenario = in.scenario(d.Kind, fmt.Sprintf("hosts: %d", in.servers()), 1)
	return d
}

// railOnly has a switch per rail and nothing above (seed figure 8).
func railOnly(in FabricInput) Design {
	d := Design{Name: "rail-only", Kind: "rail-only", Title: "a switch per rail, no spine"}
	most := in.ports(in.Leaf)
	if in.servers() > most {
		return refuse(d, "a rail switch %v has ports for %s, %d are needed; at most %s", in.Leaf,
			unit.Plural(most, "server"), in.servers(), unit.Plural(most*in.PerServer, "GPU"))
	}
	d.GPUs = most * in.PerServer
	d.Tiers = []Tier{{"rail", in.Leaf.String(), in.PerServer, in.servers(), 0, in.servers()}}
	d.Cables = []Part{{From: "server", To: "rail", Count: in.servers() * in.PerServer, Metres: hostMetres}}
	d.Hops, d.Bisection = 1, 1/float64(in.PerServer)
	d.Note = "traffic between rails goes over NVLink first"
	d.Scenario = in.scenario(d.Kind, fmt.Sprintf("hosts: %d", in.servers()), 1)
	return d
}

// split divides a switch's ports into down and up by an oversubscription.
func split(ports int, ratio float64) (down, up int) {
	up = int(float64(ports) / (1 + ratio))
	return min(ports-up, int(float64(up)*ratio+1e-9)), up
}

// railSpine has a switch per rail and segment, and spines (seed figures 9 and 10).
func railSpine(in FabricInput) Design {
	d := Design{Name: "rail-spine", Kind: "rail", Title: "rail switches and spines, two tiers"}
	ports := in.ports(in.Leaf)
	down, up := split(ports, in.Ratio)
	if up < 1 || down < 1 {
		return refuse(d, "%v has too few ports for %g:1", in.Leaf, in.Ratio)
	}
	segments := ceilInt(in.servers(), down)
	leaves := segments * in.PerServer
	spinePorts := in.ports(in.Top)
	if leaves > spinePorts {
		return refuse(d, "%d rail switches are more than the %d ports of a spine %v; at most %d GPUs", leaves,
			spinePorts, in.Top, spinePorts/in.PerServer*down*in.PerServer)
	}
	spines, uplinks := spread(up, leaves, spinePorts)
	d.GPUs = segments * down * in.PerServer
	hosts := ceilInt(in.servers(), segments)
	d.Tiers = []Tier{{"rail", in.Leaf.String(), leaves, hosts, spines * uplinks, hosts},
		{"spine", in.Top.String(), spines, leaves * uplinks, 0, 0}}
	d.Cables = []Part{{From: "server", To: "rail", Count: segments * hosts * in.PerServer,
		Metres: hostMetres}, {From: "rail", To: "spine", Count: leaves * spines * uplinks,
		Metres: spineMetres}}
	d.Hops, d.Bisection = 3, min(1, float64(spines*uplinks)/float64(hosts))
	d.Scenario = in.scenario(d.Kind, fmt.Sprintf("hosts: %d\n  segments: %d\n  spines: %d\n  uplinks: %d",
		hosts, segments, spines, uplinks), 1)
	return d
}

// spread finds the number of spines, at most up, that divides a leaf's uplinks
// evenly, and how many cables each leaf has to each.
func spread(up, leaves, spinePorts int) (spines, uplinks int) {
	for uplinks = max(1, spinePorts/leaves); uplinks >= 1; uplinks-- {
		if up%uplinks == 0 {
			return up / uplinks, uplinks
		}
	}
	return up, 1
}

// railPods has pods of rail switches and aggregation, joined by super-spines with
// the oversubscription between pods (seed figures 11 and 12).
func railPods(in FabricInput) Design {
	d := Design{Name: "rail-pods", Kind: "rail", Title: "pods of rail and aggregation switches, super-spines"}
	down, up := split(in.ports(in.Leaf), 1)
	aggDown, aggUp := split(in.ports(in.Top), in.Ratio)
	if down < 1 || up < 1 || aggUp < 1 || aggDown < in.PerServer {
		return refuse(d, "%v and %v have too few ports for three tiers at %g:1", in.Leaf, in.Top, in.Ratio)
	}
	most := aggDown / in.PerServer // segments: a leaf of every rail at every aggregation switch
	if in.GPUs <= most*down*in.PerServer {
		return refuse(d, "%d GPUs fit one pod of %d: two tiers do", in.GPUs, most*down*in.PerServer)
	}
	pods, segments := evenPods(in.GPUs, most, down*in.PerServer)
	perPod := segments * down * in.PerServer
	aggUp = min(aggUp, int(math.Ceil(float64(segments*in.PerServer)/in.Ratio)))
	hosts, aggs := down, up
	supers, superUp, planes, ok := plane(aggs, aggUp, pods, in.ports(in.Top))
	if !ok {
		return refuse(d, "%d pods are more than the ports of the super-spines %v allow", pods, in.Top)
	}
	d.GPUs = pods * perPod
	d.Tiers = []Tier{{"rail", in.Leaf.String(), pods * segments * in.PerServer, hosts, aggs, hosts},
		{"spine", in.Top.String(), pods * aggs, segments * in.PerServer, aggUp, 0},
		{"super-spine", in.Top.String(), supers, pods * aggs / planes * superUp, 0, 0}}
	d.Cables = []Part{{From: "server", To: "rail", Count: d.GPUs, Metres: hostMetres},
		{From: "rail", To: "spine", Count: pods * segments * in.PerServer * aggs, Metres: spineMetres},
		{From: "spine", To: "super-spine", Count: pods * aggs * aggUp, Metres: superMetres}}
	d.Hops, d.Bisection = 5, min(1, float64(aggUp)/float64(segments*in.PerServer))
	d.Note = fmt.Sprintf("%s of %s, %.3g:1 between pods", unit.Plural(pods, "pod"),
		unit.Plural(perPod, "GPU"),
		float64(segments*in.PerServer)/float64(aggUp))
	if d.GPUs <= topo.MaxGPUs {
		d.Scenario = in.scenario(d.Kind,
			fmt.Sprintf("pods: %d\n  hosts: %d\n  segments: %d\n  spines: %d\n  uplinks: 1\n  "+
				"super_spines: %d\n  super_uplinks: %d\n  planes: %d",
				pods, hosts, segments, aggs, supers, superUp, planes), 1)
	}
	return d
}

// evenPods finds how many pods, of at most so many segments each, leave the
// fewest ports empty.
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

// plane arranges super-spines: aggs per pod with up cables each, pods of them,
// super-spines of so many ports. Aggregation switch i of every pod is in plane i
// mod planes and reaches every super-spine of it.
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

// pairPod is the seed's pod (figure 13-8): segments behind a pair of switches, NICs
// of two ports (figure 13-7); several pods by four super-spines (figure 13-9).
func pairPod(in FabricInput) Design {
	d := Design{Name: "pod-pairs", Kind: "pod",
		Title: "switch pairs with bundled NIC ports, spines, super-spines"}
	const hosts, segments, spines, supers = 4, 2, 2, 4
	perPod := hosts * segments * in.PerServer
	pods := ceilInt(in.GPUs, perPod)
	up := hosts * in.PerServer / spines // 1:1 from leaf to spine
	if hosts*in.PerServer+up*spines > in.ports(in.Leaf) || 2*segments*up > in.ports(in.Top) {
		return refuse(d, "a segment of %s needs %s of its leaves and %d of its spines",
			unit.Plural(hosts, "server"),
			unit.Plural(hosts*in.PerServer+up*spines, "port"), 2*segments*up)
	}
	d.GPUs = pods * perPod
	d.Tiers = []Tier{{"rail", in.Leaf.String(), pods * 2 * segments, hosts * in.PerServer, up * spines, 0},
		{"spine", in.Top.String(), pods * spines, 2 * segments * up, 0, 0}}
	d.Cables = []Part{{From: "server", To: "rail", Count: 2 * d.GPUs, Metres: hostMetres},
		{From: "rail", To: "spine", Count: pods * 2 * segments * spines * up, Metres: spineMetres}}
	d.Hops, d.Bisection = 3, 1
	fabric := fmt.Sprintf("hosts: %d\n  segments: %d\n  spines: %d\n  uplinks: %d", hosts, segments, spines,
		up)
	d.Note = "every NIC has two ports on two switches: no GPU is cut off by one switch"
	if pods > 1 {
		each := max(1, int(float64(2*segments*up)/in.Ratio/supers))
		if 2*segments*up+each*supers > in.ports(in.Top) || pods*spines*each > in.ports(in.Top) {
			return refuse(d, "%s need %s of each spine and %d of each super-spine %v",
				unit.Plural(pods, "pod"),
				unit.Plural(2*segments*up+each*supers, "port"), pods*spines*each, in.Top)
		}
		d.Tiers[1].Up = each * supers
		d.Tiers = append(d.Tiers, Tier{"super-spine", in.Top.String(), supers, pods * spines * each, 0, 0})
		d.Cables = append(d.Cables, Part{From: "spine", To: "super-spine",
			Count: pods * spines * supers * each, Metres: superMetres})
		d.Hops, d.Bisection = 5, min(1, float64(each*supers)/float64(2*segments*up))
		fabric = fmt.Sprintf("pods: %d\n  %s\n  super_spines: %d\n  super_uplinks: %d", pods, fabric, supers,
			each)
	}
	d.Scenario = in.scenario(d.Kind, fabric, 2)
	return d
}

func ceilInt(a, b int) int { return (a + b - 1) / b }

// scenario writes a design as a scenario that run accepts: the fabric and a
// permutation over it.
func (in FabricInput) scenario(kind, fabric string, nicPorts int) string {
	return fmt.Sprintf(`# Written by railyard plan fabric: %d GPUs, switches %v and %v.
name: %s-%d
fabric:
  kind: %s
  %s
  host_link: {rate: %dGbps, cable: %dm}
  fabric_link: {rate: %dGbps, cable: %dm}
server: {gpus: %d, nics: %d, nic_ports: %d}
switch: {buffer: %dMB}
workload:
  traffic:
    permutation: {bytes: 1MB, groups: rail}
`, in.GPUs, in.Leaf, in.Top, kind, in.GPUs, kind, fabric, in.NICRate, hostMetres, in.NICRate, spineMetres,
		in.PerServer, in.PerServer, nicPorts,
		max(64, in.ports(in.Top)/2))
}
